package documents

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/colony"
	"github.com/amber-memory/amber/wire"
)

// noteSuffix ends the name of the document of a note, as that of its file.
const noteSuffix = ".md"

// loader is implemented by notes that can be read in one walk.
type loader interface {
	LoadNotes(ctx context.Context, fn func(amber.Note, error) error) error
}

// ReadNotes reads every note. A damaged note is in Skipped; any other error ends
// it.
func ReadNotes(ctx context.Context, notes amber.Notes) (Set, error) {
	s := Set{Documents: colony.Documents{}}
	if all, ok := notes.(loader); ok {
		return s, all.LoadNotes(ctx, s.addNote)
	}
	list, err := notes.ListNotes(ctx)
	if err != nil {
		return s, err
	}
	for _, n := range list {
		note, err := notes.ReadNote(ctx, n.Name)
		note.Name = n.Name
		if err := s.addNote(note, err); err != nil {
			return s, err
		}
	}
	return s, nil
}

func (s *Set) addNote(n amber.Note, err error) error {
	name := n.Name + noteSuffix
	switch amber.KindOf(err) {
	case "":
		s.Documents[name] = n.Content
	case amber.KindNotFound: // deleted since it was listed
	case amber.KindDamaged:
		s.skip(PartNotes, name, wire.SkipUnreadable, err.Error())
	default:
		return err
	}
	return nil
}
