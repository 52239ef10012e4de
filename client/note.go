package client

import (
	"cmp"
	"context"
	"net/http"
	"net/url"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/names"
)

// notes are the notes of an agent.
type notes struct{ *Agent }

// WriteNote implements [amber.Notes].
func (n notes) WriteNote(ctx context.Context, w amber.NoteWrite) (amber.Note, error) {
	name, err := amber.CheckNoteName(w.Name)
	if err == nil {
		err = amber.CheckNoteContent(w.Content)
	}
	if err != nil {
		return amber.Note{}, err
	}
	w.NoteBy = w.NoteBy.Stored()
	got, err := call[amber.Note](ctx, n.c, request{method: http.MethodPut, path: n.path("notes", name), body: w, once: true})
	return got, about(names.Canonical(got.Name), names.Canonical(name), err)
}

// noteQuery says who removes a note.
func noteQuery(by amber.NoteBy) url.Values {
	by = by.Stored()
	return newValues().text("trust", string(by.Trust)).text("author_host", by.Author.Host).text("author_agent", by.Author.Agent).
		text("author_session", string(by.Author.Session)).text("author_token", by.Author.Token).Values
}

// ReplaceNote is WriteNote for a text that was made of base: where the note is another one
// by now, nothing is written. Errors: conflict; those of WriteNote.
func (a *Agent) ReplaceNote(ctx context.Context, base amber.Note, content string) (amber.Note, error) {
	if err := amber.CheckNoteContent(content); err != nil {
		return amber.Note{}, err
	}
	got, err := call[amber.Note](ctx, a.c, request{method: http.MethodPut, path: a.path("notes", base.Name), body: amber.NoteWrite{Content: content}, once: true, tag: noteTag(base)})
	return got, about(names.Canonical(got.Name), names.Canonical(base.Name), err)
}

// RemoveNote is DeleteNote for a note that is still base. Errors: conflict; those of DeleteNote.
func (a *Agent) RemoveNote(ctx context.Context, base amber.Note) error {
	_, err := call[none](ctx, a.c, request{method: http.MethodDelete, path: a.path("notes", base.Name), once: true, tag: noteTag(base)})
	return err
}

// noteTag is the entity tag of a note.
func noteTag(n amber.Note) string { return cmp.Or(n.Commit, amber.ContentDigest(n.Content)) }

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
func (n notes) DeleteNote(ctx context.Context, name string, by amber.NoteBy) error {
	name, err := amber.CheckNoteName(name)
	if err != nil {
		return err
	}
	return n.remove(ctx, noteQuery(by), "notes", name)
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
