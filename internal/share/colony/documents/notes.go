package documents

import (
	"context"
	"fmt"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/names"
	"github.com/amber-memory/amber/internal/guard/redact"
	"github.com/amber-memory/amber/internal/share/colony"
)

// NotesTarget restores documents as notes, each a commit.
type NotesTarget struct {
	Notes amber.Notes      // nil: an agent that does not exist, for a plan alone
	Rules *redact.Redactor // by which secrets were taken out
}

var _ Target = NotesTarget{}

// Refuses implements [Target].
func (NotesTarget) Refuses(docs colony.Documents) map[string]string {
	refused, of := map[string]string{}, map[string]string{}
	for _, name := range docs.Names() {
		note, err := amber.CheckNoteName(name)
		note = names.Canonical(note)
		if err == nil {
			err = amber.CheckNoteContent(docs[name])
		}
		if other, twice := of[note]; err == nil && twice {
			err = fmt.Errorf("%q is the same note", short(other))
		}
		if err != nil {
			refused[name] = "cannot be a note: " + reason(err)
			continue
		}
		of[note] = name
	}
	return refused
}

// Look implements [Target].
func (t NotesTarget) Look(ctx context.Context, name, text string) (Found, error) {
	if t.Notes == nil {
		return Found{}, nil
	}
	note, err := t.Notes.ReadNote(ctx, name)
	if amber.KindOf(err) == amber.KindNotFound {
		return Found{}, nil
	}
	if err != nil {
		return Found{}, err
	}
	return Found{Exists: true, Same: saysSame(t.Rules, name, note.Content, text), Digest: amber.ContentDigest(note.Content)}, nil
}

// Write implements [Target]. It looks once more before it writes; a change that
// comes even later is not lost, because every text of a note is a commit.
func (t NotesTarget) Write(ctx context.Context, name, text string, before Found) error {
	now, err := t.Look(ctx, name, text)
	switch {
	case err != nil:
		return err
	case now.Exists != before.Exists || now.Digest != before.Digest:
		return &amber.Error{Op: "write document", Kind: amber.KindConflict, ID: name, Err: errChanged}
	}
	_, err = t.Notes.WriteNote(ctx, amber.NoteWrite{Name: name, Content: text})
	return err
}

// Close implements [Target].
func (NotesTarget) Close() error { return nil }
