// Package codex reads the rollouts and memories of the Codex CLI, and writes notes that it takes as memories.
//
//	~/.codex/sessions/2026/01/02/rollout-…-<thread>.jsonl   a conversation
//	~/.codex/archived_sessions/rollout-…-<thread>.jsonl.zst the same, put away
//	~/.codex/memories/                                      summaries of rollouts, notes
//	~/.codex/AGENTS.md                                      standing orders of a person
package codex

import (
	"context"
	"path"
	"path/filepath"
	"strings"

	"github.com/amber-memory/amber/internal/share/foreign"
)

// Format is the format.
var Format = foreign.Format{
	Name: "codex", Title: "Codex CLI", Detect: detect, Read: read, Homes: homes, Write: write, Folder: true,
}

func homes(env func(string) string, home string) []string {
	if dir := env("CODEX_HOME"); dir != "" {
		return []string{dir}
	}
	return []string{filepath.Join(home, ".codex")}
}

// maxText bounds a file of Markdown.
const maxText = 4 << 20

// reader reads one tree.
type reader struct {
	tree *foreign.Tree
	o    foreign.Options
	to   foreign.Sink
	// threads are the files that count, one per thread.
	threads map[string]rollout
}

func read(ctx context.Context, t *foreign.Tree, o foreign.Options, to foreign.Sink) error {
	r := &reader{tree: t, o: o, to: to, threads: map[string]rollout{}}
	if err := r.readMemories(ctx); err != nil {
		return err
	}
	if err := r.readOrders(); err != nil {
		return err
	}
	for _, one := range r.newest() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := r.readRollout(ctx, one); err != nil {
			return err
		}
	}
	return nil
}

// readOrders reads the AGENTS.md of the program's home; those of projects are not its own.
func (r *reader) readOrders() error {
	for _, f := range r.tree.Files() {
		base := path.Base(f.Name)
		if base != "AGENTS.md" && base != "AGENTS.override.md" || !r.isHome(path.Dir(f.Name)) {
			continue
		}
		if err := f.GiveNote("instructions/codex/"+strings.TrimSuffix(base, ".md"), maxText, r.to); err != nil {
			return err
		}
	}
	return nil
}

// isHome reports whether a folder is the program's home.
func (r *reader) isHome(dir string) bool {
	if dir != "." {
		return path.Base(dir) == ".codex"
	}
	if _, single := r.tree.Single(); single {
		return false
	}
	if filepath.Base(r.tree.Path()) == ".codex" {
		return true
	}
	for _, marker := range []string{"sessions", "archived_sessions", "memories"} {
		if len(r.tree.Under(marker)) > 0 {
			return true
		}
	}
	return false
}

// text returns a file of Markdown.
func (r *reader) text(f foreign.File) (string, bool) {
	b, err := f.Bytes(maxText)
	if err != nil {
		r.to.Skip(foreign.Place{File: f.Name}, "%v", err)
		return "", false
	}
	return string(b), true
}
