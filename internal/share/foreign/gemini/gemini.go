// Package gemini reads the chats and memories of the Gemini CLI.
//
//	~/.gemini/GEMINI.md                                   facts below "## Gemini Added Memories"
//	~/.gemini/projects.json                               which folder has which short id
//	~/.gemini/tmp/<short id>/memory/MEMORY.md             private memory of a project
//	~/.gemini/tmp/<short id>/chats/session-….jsonl        a conversation, as a log of changes
//	~/.gemini/tmp/<short id>/chats/<parent id>/<id>.jsonl that of a subagent
package gemini

import (
	"context"
	"path/filepath"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// Format is the format.
var Format = foreign.Format{Name: "gemini", Title: "Gemini CLI", Detect: detect, Read: read, Homes: homes}

func homes(_ func(string) string, home string) []string {
	return []string{filepath.Join(home, ".gemini")}
}

// reader reads one tree.
type reader struct {
	tree    *foreign.Tree
	o       foreign.Options
	to      foreign.Sink
	folders map[string]string // of projects, by short id or digest
	facts   map[string]bool   // that were given out
	// sessions are those that were given out, and their files.
	sessions map[amber.SessionID]string
}

func read(ctx context.Context, t *foreign.Tree, o foreign.Options, to foreign.Sink) error {
	r := &reader{tree: t, o: o, to: to, folders: map[string]string{}, facts: map[string]bool{}, sessions: map[amber.SessionID]string{}}
	r.readProjects()
	if err := r.readDocuments(ctx); err != nil {
		return err
	}
	chats := r.chats()
	for _, c := range chats {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := r.readChat(ctx, c); err != nil {
			return err
		}
	}
	return nil
}
