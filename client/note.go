package client

import (
	"cmp"
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/names"
	"github.com/amber-memory/amber/op"
)

// notes are the notes of an agent.
type notes struct{ *Agent }

// WriteNote implements [amber.Notes].
func (n notes) WriteNote(ctx context.Context, w amber.NoteWrite) (amber.Note, error) {
	name, err := noteName(w.Name)
	if err == nil {
		err = amber.CheckNoteContent(w.Content)
	}
	if err != nil {
		return amber.Note{}, err
	}
	w.NoteBy = w.NoteBy.Stored()
	return sameNote(name)(op.NoteWrite.Call(ctx, n, op.NoteWriteIn{NoteMatch: op.NoteMatch{NoteName: name}, Body: w}))
}

// noteName checks the name of a note. The error is of kind invalid.
func noteName(s string) (op.NoteName, error) {
	name, err := amber.CheckNoteName(s)
	return op.NoteName{Name: name}, err
}

// sameNote checks that an answer is about a note, whose name a server may spell in another form of Unicode.
func sameNote(name op.NoteName) func(amber.Note, error) (amber.Note, error) {
	return func(n amber.Note, err error) (amber.Note, error) {
		if err == nil && !names.Same(n.Name, name.Name) {
			err = another(name.Name)
		}
		return n, err
	}
}

// ReplaceNote is WriteNote for a text that was made of base: where the note is another one
// by now, nothing is written. Errors: conflict; those of WriteNote.
func (a *Agent) ReplaceNote(ctx context.Context, base amber.Note, content string) (amber.Note, error) {
	if err := amber.CheckNoteContent(content); err != nil {
		return amber.Note{}, err
	}
	match := stillNote(base)
	return sameNote(match.NoteName)(op.NoteWrite.Call(ctx, a, op.NoteWriteIn{NoteMatch: match, Body: amber.NoteWrite{Content: content}}))
}

// RemoveNote is DeleteNote for a note that is still base. Errors: conflict; those of DeleteNote.
func (a *Agent) RemoveNote(ctx context.Context, base amber.Note) error {
	return done(op.NoteDelete.Call(ctx, a, op.NoteDeleteIn{NoteMatch: stillNote(base)}))
}

// stillNote names a note that has the entity tag of base.
func stillNote(base amber.Note) op.NoteMatch {
	return op.NoteMatch{NoteName: op.NoteName{Name: base.Name}, IfMatch: `"` + cmp.Or(base.Commit, amber.ContentDigest(base.Content)) + `"`}
}

// ReadNote implements [amber.Notes].
func (n notes) ReadNote(ctx context.Context, name string) (amber.Note, error) {
	in, err := noteName(name)
	if err != nil {
		return amber.Note{}, err
	}
	return sameNote(in)(op.NoteGet.Call(ctx, n, in))
}

// ListNotes implements [amber.Notes].
func (n notes) ListNotes(ctx context.Context) ([]amber.Note, error) {
	return list(op.NoteList.Call(ctx, n, op.None{}))
}

// DeleteNote implements [amber.Notes].
func (n notes) DeleteNote(ctx context.Context, name string, by amber.NoteBy) error {
	in, err := noteName(name)
	if err != nil {
		return err
	}
	by = by.Stored()
	return done(op.NoteDelete.Call(ctx, n, op.NoteDeleteIn{
		NoteMatch: op.NoteMatch{NoteName: in}, Trust: by.Trust, Host: by.Author.Host, Agent: by.Author.Agent, Session: by.Author.Session, Token: by.Author.Token,
	}))
}

// NoteAt implements [amber.NoteLog].
func (n notes) NoteAt(ctx context.Context, name, commit string) (amber.Note, error) {
	in, err := noteName(name)
	if err != nil {
		return amber.Note{}, err
	}
	return sameNote(in)(op.NoteAt.Call(ctx, n, op.NoteAtIn{NoteName: in, Commit: commit}))
}

// LogNote implements [amber.NoteLog].
func (n notes) LogNote(ctx context.Context, name string, limit int) ([]amber.NoteCommit, error) {
	in, err := noteName(name)
	if err != nil {
		return nil, err
	}
	return list(op.NoteLog.Call(ctx, n, op.NoteLogIn{NoteName: in, Limit: &limit}))
}
