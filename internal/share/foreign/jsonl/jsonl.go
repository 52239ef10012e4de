// Package jsonl reads and writes Amber's own lines: everything that a store holds of memories, conversations and notes,
// one record a line. The bytes are in docs/format/jsonl.md.
package jsonl

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// Format is that of Amber itself.
var Format = foreign.Format{Name: "amber", Title: "Amber JSONL", Detect: detect, Read: read, Write: write}

// version is that of the lines.
const version = 1

// header is the first line of an export.
type header struct {
	Export  string        `json:"amber"` // "export"
	Version int           `json:"version"`
	At      amber.Time    `json:"at,omitzero"`
	Agent   amber.AgentID `json:"agent,omitempty"`
	Project string        `json:"project,omitempty"`
}

// line is any other line. Exactly one field is set.
type line struct {
	Memory   *amber.SyncMemory `json:"memory,omitempty"`   // a version; those of one memory follow each other, oldest first
	Relation *amber.Relation   `json:"relation,omitempty"` // after the memories
	Session  *session          `json:"session,omitempty"`  // its turns follow
	Turn     *amber.Turn       `json:"turn,omitempty"`
	Note     *note             `json:"note,omitempty"`
}

type session struct {
	amber.Session
	Turns int64 `json:"turns"` // that follow
}

type note struct {
	Name      string     `json:"name"`
	Content   string     `json:"content"`
	UpdatedAt amber.Time `json:"updated_at"`
}

// detect knows an export by its first line, and a listing of memories by the fields of its first one.
func detect(t *foreign.Tree) foreign.Match {
	f, ok := t.Single()
	if !ok {
		return foreign.No
	}
	head, _, _ := bytes.Cut(f.Head(64<<10), []byte("\n"))
	var h header
	return foreign.SureIf(json.Unmarshal(head, &h) == nil && h.Export == "export" || isListed(head))
}

// isListed reports whether a line, or the beginning of a long one, is a memory as amber list --jsonl prints it.
func isListed(b []byte) bool {
	rest, ok := bytes.CutPrefix(bytes.TrimSpace(b), []byte(`{"id":"`))
	if !ok || len(rest) < 36 {
		return false
	}
	_, err := amber.ParseMemoryID(string(rest[:36]))
	return err == nil && bytes.HasPrefix(rest[36:], []byte(`","kind":"`))
}

func read(ctx context.Context, t *foreign.Tree, _ foreign.Options, to foreign.Sink) error {
	for _, f := range t.Files() {
		in := &reader{file: f, to: to}
		if err := f.EachLine(ctx, to.Skip, in.line); err != nil {
			return err
		}
		if err := in.flush(); err != nil {
			return err
		}
	}
	return nil
}

// reader reads one file.
type reader struct {
	file     foreign.File
	to       foreign.Sink
	versions []amber.SyncMemory // of one memory
	first    int64              // the line of the first of them
	speaking bool               // turns of the last session are wanted
	spoken   amber.SessionID    // the last session
}

func (in *reader) line(n int64, b []byte) error {
	var l line
	if isListed(b) {
		l.Memory = &amber.SyncMemory{}
		if err := json.Unmarshal(b, l.Memory); err != nil {
			in.to.Skip(in.file.Line(n), "line is not a memory: %s", err)
			return nil
		}
		return in.memory(n, *l.Memory)
	}
	if err := json.Unmarshal(b, &l); err != nil {
		in.to.Skip(in.file.Line(n), "line is not a record: %s", err)
		return nil
	}
	if l.Memory != nil {
		return in.memory(n, *l.Memory)
	}
	if err := in.flush(); err != nil {
		return err
	}
	switch {
	case l.Relation != nil:
		return in.to.RelationRecord(in.file.Line(n), *l.Relation)
	case l.Session != nil:
		return in.session(n, *l.Session)
	case l.Turn != nil && in.speaking:
		t := l.Turn
		if t.SessionID != in.spoken {
			in.to.Skip(in.file.Line(n), "turn is of session %.60q, want that of the session before it, %.60q", t.SessionID, in.spoken)
			return nil
		}
		return in.to.Turn(foreign.Turn{Place: in.file.Line(n), Key: foreign.Key{string(t.SessionID), string(t.ID)}, Role: t.Role, Content: t.Content, At: t.CreatedAt})
	case l.Note != nil:
		return in.to.Note(foreign.Note{Place: in.file.Line(n), Name: l.Note.Name, Content: l.Note.Content, UpdatedAt: l.Note.UpdatedAt})
	case l.Turn == nil:
		return in.other(n, b)
	}
	return nil
}

// other is for the first line, and for lines that no rule knows.
func (in *reader) other(n int64, b []byte) error {
	var h header
	switch err := json.Unmarshal(b, &h); {
	case err != nil || h.Export != "export":
		in.to.Skip(in.file.Line(n), "line is neither a memory, relation, session, turn nor note")
	case h.Version > version:
		in.to.Skip(in.file.Line(n), "export has version %d, want at most %d: a newer Amber wrote it", h.Version, version)
	}
	return nil
}

// memory collects the versions of one memory.
func (in *reader) memory(n int64, m amber.SyncMemory) error {
	if len(in.versions) > 0 && in.versions[0].ID != m.ID {
		if err := in.flush(); err != nil {
			return err
		}
	}
	if len(in.versions) == 0 {
		in.first = n
	}
	if m.Topic != "" || len(in.versions) < maxVersions {
		in.versions = append(in.versions, m)
	}
	return nil
}

// maxVersions bounds the versions of a memory that are held.
const maxVersions = 10_000

func (in *reader) flush() error {
	v := in.versions
	in.versions = nil
	if len(v) == 0 {
		return nil
	}
	return in.to.Record(in.file.Line(in.first), v)
}

func (in *reader) session(n int64, s session) (err error) {
	in.speaking, in.spoken = false, s.ID
	if s.ID == "" {
		in.to.Skip(in.file.Line(n), "session has no id")
		return nil
	}
	in.speaking, err = in.to.Session(foreign.Session{
		Place: in.file.Line(n), ID: s.ID, Name: s.Name, Binding: s.Binding, Project: s.Project, Directory: s.Directory, Summary: s.Summary, Parent: s.Parent,
		StartedAt: s.StartedAt, EndedAt: s.EndedAt, Turns: s.Turns,
	})
	return err
}
