package sqlcore

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/gitobj"
)

// NoteChanges bring the copy of the notes, which makes them found, from one commit to another.
type NoteChanges struct {
	From, To string // commits; From is the one that the copy is of, "" for none
	Whole    bool   // Written are all notes: others go
	Written  []amber.Note
	Removed  []string
}

// NotesHead returns the commit that the copy of the notes is of; "" for none.
func (s *Contracts) NotesHead(ctx context.Context) (string, error) {
	return view(ctx, s.memory, "read copy of notes", "", func(t *Tx) (string, error) {
		return t.NotesHead()
	})
}

// NoteBlobs returns the ids that git gives the texts of the notes in the copy, by name.
func (s *Contracts) NoteBlobs(ctx context.Context) (map[string]string, error) {
	return view(ctx, s.memory, "read copy of notes", "", func(t *Tx) (map[string]string, error) { return t.NoteBlobs() })
}

// PutNotes brings the copy of the notes to another commit, and with it the index. The words
// of a note that is gone are in no byte of the file afterwards; those of a section
// that was rewritten go with merging. Errors: conflict when the copy is of another commit
// than the changes begin with.
func (s *Contracts) PutNotes(ctx context.Context, c NoteChanges) error {
	erased := false
	// No caller may write anything after the scrub, so this work shares its transaction with none.
	err := s.memory.UpdateAlone(ctx, "copy notes", "", func(t *Tx) error {
		head, err := t.NotesHead()
		if err != nil {
			return err
		}
		if head != c.From {
			return amber.Errorf(amber.KindConflict, "copy notes", "", "the copy is of commit %.40q, want %.40q", head, c.From)
		}
		if err := t.PutNotesHead(c.To); err != nil {
			return err
		}
		erased, err = t.putNotes(c)
		return err
	})
	if err == nil && erased {
		_, err = s.memory.Forget(ctx) // what readers hold up is forgotten later
	}
	return err
}

// putNotes stores what was written and removes what is gone, to the byte.
func (t *Tx) putNotes(c NoteChanges) (erased bool, err error) {
	gone := c.Removed
	if c.Whole {
		had, err := t.NoteBlobs()
		if err != nil {
			return false, err
		}
		for _, n := range c.Written {
			delete(had, n.Name)
		}
		for name := range had {
			gone = append(gone, name)
		}
	}
	for _, name := range gone {
		if err := t.DeleteNote(name); err != nil {
			return false, err
		}
	}
	for _, n := range c.Written {
		if err := t.PutNote(n, gitobj.BlobID([]byte(n.Content))); err != nil {
			return false, err
		}
	}
	if len(gone) == 0 {
		return false, nil
	}
	return true, t.Scrub()
}
