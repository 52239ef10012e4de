package client

import (
	"context"
	"net/http"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/names"
)

// notes are the notes of an agent.
type notes struct{ *Agent }

// WriteNote implements [amber.Notes].
func (n notes) WriteNote(ctx context.Context, name, content string) (amber.Note, error) {
	name, err := amber.CheckNoteName(name)
	if err == nil {
		err = amber.CheckNoteContent(content)
	}
	if err != nil {
		return amber.Note{}, err
	}
	body := fields{"content": content}
	got, err := call[amber.Note](ctx, n.c, request{method: http.MethodPut, path: n.path("notes", name), body: body, once: true})
	return got, about(names.Canonical(got.Name), names.Canonical(name), err)
}

// ReadNote implements [amber.Notes].
func (n notes) ReadNote(ctx context.Context, name string) (amber.Note, error) {
	name, err := amber.CheckNoteName(name)
	if err != nil {
		return amber.Note{}, err
	}
	got, err := get[amber.Note](ctx, n.Agent, nil, "notes", name)
	return got, about(names.Canonical(got.Name), names.Canonical(name), err)
}

// ListNotes implements [amber.Notes].
func (n notes) ListNotes(ctx context.Context) ([]amber.Note, error) {
	return list[amber.Note](ctx, n.Agent, nil, "notes")
}

// DeleteNote implements [amber.Notes].
func (n notes) DeleteNote(ctx context.Context, name string) error {
	name, err := amber.CheckNoteName(name)
	if err != nil {
		return err
	}
	return n.remove(ctx, nil, "notes", name)
}

// NoteAt implements [amber.NoteLog].
func (n notes) NoteAt(ctx context.Context, name, commit string) (amber.Note, error) {
	name, err := amber.CheckNoteName(name)
	if err != nil {
		return amber.Note{}, err
	}
	got, err := get[amber.Note](ctx, n.Agent, nil, "notes", name, "log", commit)
	return got, about(names.Canonical(got.Name), names.Canonical(name), err)
}

// LogNote implements [amber.NoteLog].
func (n notes) LogNote(ctx context.Context, name string, limit int) ([]amber.NoteCommit, error) {
	name, err := amber.CheckNoteName(name)
	if err != nil {
		return nil, err
	}
	return list[amber.NoteCommit](ctx, n.Agent, newValues().count("limit", limit).Values, "notes", name, "log")
}
