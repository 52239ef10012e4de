package sqlite

import (
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
)

// The cursor of an index moves one step at a time, and one that was overtaken learns of it.
func TestIndexCursor(t *testing.T) {
	t.Parallel()
	s, _ := freshStore(t, amber.QueueOptions{})
	save(t, s, amber.WriteRequest{Content: "The lorry is in the garage."})
	head := must.Get(s.Head(t.Context()))(t)
	must.Equal(t, "cursor at first", must.Get(s.IndexCursor(t.Context(), "a"))(t), amber.IndexCursor{})
	first := amber.IndexCursor{Position: head, Fence: 1, Notes: []byte("{}")}
	must.Do(t, s.MoveIndexCursor(t.Context(), "a", first))
	must.Equal(t, "cursor", must.Get(s.IndexCursor(t.Context(), "a"))(t), first)
	must.Equal(t, "cursor of another place", must.Get(s.IndexCursor(t.Context(), "b"))(t), amber.IndexCursor{})
	must.Equal(t, "head after a move", must.Get(s.Head(t.Context()))(t), head)
	must.Kind(t, "the same step again", s.MoveIndexCursor(t.Context(), "a", first), amber.KindConflict, "fence 1")
	must.Kind(t, "a step too far", s.MoveIndexCursor(t.Context(), "a", amber.IndexCursor{Fence: 3}), amber.KindConflict)
	must.Kind(t, "no place", s.MoveIndexCursor(t.Context(), "", amber.IndexCursor{Fence: 1}), amber.KindInvalid)
	must.Kind(t, "no position", s.MoveIndexCursor(t.Context(), "a", amber.IndexCursor{Fence: 2, Position: "x"}), amber.KindInvalid)
	must.Kind(t, "too many notes", s.MoveIndexCursor(t.Context(), "a", amber.IndexCursor{Fence: 2, Notes: make([]byte, amber.MaxIndexNotes+1)}), amber.KindInvalid)
	must.Do(t, s.MoveIndexCursor(t.Context(), "a", amber.IndexCursor{Fence: 2}))
	must.Equal(t, "cursor without a position", must.Get(s.IndexCursor(t.Context(), "a"))(t), amber.IndexCursor{Fence: 2})
}
