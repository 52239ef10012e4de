package transfer_test

import (
	"fmt"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign/transfer"
	"github.com/amber-memory/amber/internal/test/must"
)

// rewritten are the ids of three imports that wrote "one", "two" and "three" into a note.
func rewritten(b *bench) []string {
	b.t.Helper()
	return b.written("one", "two", "three")
}

// written are the ids of imports that wrote one text each into a note.
func (b *bench) written(texts ...string) (ids []string) {
	b.t.Helper()
	for _, text := range texts {
		ids = append(ids, b.imported(toyLine{Note: "x", Text: text}).ID)
	}
	return ids
}

// Undo gives a note back the text that the import before had written.
func TestUndoGivesANoteItsFormerText(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ids := rewritten(b)
	u := b.undo(ids[2])
	must.Equal(t, "restored, deleted and kept", fmt.Sprint(u.Restored, u.Deleted, len(u.Kept)), "1 0 0")
	must.Equal(t, "note", b.note("x"), "two")
	must.Equal(t, "the file of the import before is known", b.imported(toyLine{Note: "x", Text: "two"}).Notes, counts(1, 0, 0, 1))
	must.Equal(t, "a newer file changes it", b.imported(toyLine{Note: "x", Text: "four"}).Notes, counts(1, 0, 1, 0))
}

// A note that came back to an earlier text has the one between again, and then the earlier one, until none is left.
func TestUndoOfANoteThatCameBackToAnEarlierText(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ids := b.written("one", "two", "one")
	for i, want := range []string{"two", "one"} {
		u := b.undo(ids[2-i])
		must.Equal(t, "restored, deleted, gone and kept", fmt.Sprint(u.Restored, u.Deleted, u.Gone, u.Kept), "1 0 0 []")
		must.Equal(t, "note", b.note("x"), want)
	}
	must.Equal(t, "deleted", b.undo(ids[0]).Deleted, 1)
}

// An undo leaves a note that was edited since, and names it.
func TestUndoLeavesANoteThatWasEdited(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ids := rewritten(b)
	must.Get(b.store.Notes.WriteNote(t.Context(), amber.NoteWrite{Name: "x", Content: "mine"}))(t)
	u := b.undo(ids[2])
	must.Equal(t, "kept", fmt.Sprint(u.Restored, u.Deleted, u.Kept), "0 0 [{note x was changed since}]")
	must.Equal(t, "note", b.note("x"), "mine")
}

// In whatever order imports are undone, nothing of their note is left.
func TestNotesAreUndoneInAnyOrder(t *testing.T) {
	t.Parallel()
	for _, texts := range [][]string{{"one", "two", "three"}, {"one", "two", "one"}} {
		for _, order := range [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
			b := newBench(t)
			ids := b.written(texts...)
			for _, i := range order {
				must.Equal(t, fmt.Sprint("kept of ", texts, " in order ", order), len(b.undo(ids[i]).Kept), 0)
			}
			_, err := b.store.Notes.ReadNote(t.Context(), "x")
			must.Kind(t, fmt.Sprint("read the note after ", texts, order), err, amber.KindNotFound)
			must.Equal(t, "imported again", b.imported(toyLine{Note: "x", Text: "one"}).Notes, counts(1, 1, 0, 0))
		}
	}
}

// An undo that is stopped goes on.
func TestAnUndoOfANoteThatStopsGoesOn(t *testing.T) {
	t.Parallel()
	for n := 1; n <= 2; n++ {
		for _, after := range []bool{false, true} {
			b := newBench(t)
			ids := rewritten(b)
			_, err := transfer.Undo(t.Context(), b.fused(&fuse{left: n, after: after}), ids[2], transfer.UndoOptions{Clock: b.o.Clock, NewID: b.o.NewID})
			if err == nil {
				t.Errorf("write %d did not stop the undo", n)
			}
			u := b.undo(ids[2])
			must.Equal(t, fmt.Sprint("kept after write ", n, after), len(u.Kept), 0)
			must.Equal(t, "note", b.note("x"), "two")
		}
	}
}
