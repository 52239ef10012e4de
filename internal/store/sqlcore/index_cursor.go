package sqlcore

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/sqlrows"
)

var _ amber.IndexCursors = (*Contracts)(nil)

const (
	selectIndexCursor = `SELECT position, fence, notes FROM index_cursors WHERE place = ?`
	selectIndexPlaces = `SELECT place FROM index_cursors ORDER BY place`
	upsertIndexCursor = `INSERT OR REPLACE INTO index_cursors (place, position, fence, notes) VALUES (?, ?, ?, ?)`
)

// maxIndexPlace bounds the name of a place.
const maxIndexPlace = 1024

// IndexCursor implements [amber.IndexCursors].
func (s *Contracts) IndexCursor(ctx context.Context, place string) (amber.IndexCursor, error) {
	return view(ctx, s.memory, "read cursor of index", place, func(t *Tx) (amber.IndexCursor, error) { return t.indexCursor(place) })
}

func (t *Tx) indexCursor(place string) (amber.IndexCursor, error) {
	c, err := sqlrows.ScanIndexCursor(t.Row(selectIndexCursor, place))
	if sqlrows.Absent(err) {
		return amber.IndexCursor{}, nil
	}
	return c, err
}

// IndexPlaces returns the places that were ever fed.
func (s *Contracts) IndexPlaces(ctx context.Context) ([]string, error) {
	return view(ctx, s.memory, "read places of indexes", "", func(t *Tx) ([]string, error) { return sqlrows.All(t.Tx, sqlrows.ScanText, selectIndexPlaces) })
}

// MoveIndexCursor implements [amber.IndexCursors]. It writes nothing to the change log, which
// it is about.
func (s *Contracts) MoveIndexCursor(ctx context.Context, place string, c amber.IndexCursor) error {
	const op = "move cursor of index"
	if place == "" || len(place) > maxIndexPlace {
		return amber.Errorf(amber.KindInvalid, op, "", "the place has %d bytes, not 1 to %d", len(place), maxIndexPlace)
	}
	if len(c.Notes) > amber.MaxIndexNotes {
		return amber.Errorf(amber.KindInvalid, op, place, "the notes have %d bytes, at most %d fit", len(c.Notes), amber.MaxIndexNotes)
	}
	if _, _, err := c.Position.Parse(); c.Position != "" && err != nil {
		return err
	}
	return s.memory.UpdateAlone(ctx, op, place, func(t *Tx) error {
		had, err := t.indexCursor(place)
		if err != nil {
			return err
		}
		if c.Fence != had.Fence+1 {
			return amber.Errorf(amber.KindConflict, op, place, "the cursor was moved meanwhile: it has fence %d, and %d was to follow %d", had.Fence, c.Fence, c.Fence-1)
		}
		notes := c.Notes
		if notes == nil {
			notes = []byte{}
		}
		return t.Do(upsertIndexCursor, place, string(c.Position), c.Fence, notes)
	})
}
