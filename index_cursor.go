package amber

import "context"

// IndexCursor says how far an index outside of the store is fed with its memories.
type IndexCursor struct {
	// Position is that of the change log up to which everything was given to the index; ""
	// before the first.
	Position Position `json:"position,omitempty"`
	// Fence counts up with every move; 0 before the first.
	Fence int64 `json:"fence"`
	// Notes is what the one that feeds the index wants to know the next time, at most
	// [MaxIndexNotes] bytes.
	Notes []byte `json:"notes,omitempty"`
}

// MaxIndexNotes is the most that a cursor can note.
const MaxIndexNotes = 1 << 20

// IndexCursors keeps the cursors of indexes outside of the store, by their places.
type IndexCursors interface {
	// IndexCursor returns the cursor of a place; a place that was never fed has a zero cursor.
	IndexCursor(ctx context.Context, place string) (IndexCursor, error)
	// MoveIndexCursor stores a cursor whose fence is one more than the one that is stored, and returns once
	// that is durable. Errors: conflict when the fence is another, since another process has fed the index
	// meanwhile; invalid.
	MoveIndexCursor(ctx context.Context, place string, c IndexCursor) error
}
