package transfer_test

import (
	"fmt"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign/transfer"
	"github.com/amber-memory/amber/internal/test/must"
)

// everyStop calls do for every point where an import of "two" into a note may stop, with a store as begin leaves it.
func everyStop(t *testing.T, begin func(*bench), do func(b *bench, at string)) {
	t.Helper()
	for n := 1; ; n++ {
		for _, after := range []bool{false, true} {
			b := newBench(t)
			begin(b)
			b.put(toyLine{Note: "x", Text: "two"})
			if !b.attempt(&fuse{left: n, after: after}) {
				if n < 4 {
					t.Errorf("an import of a note makes %d writes, want more", n-1)
				}
				return
			}
			do(b, fmt.Sprint("stopped at write ", n, ", after it: ", after, ": "))
		}
	}
}

// An import of a note that stops anywhere leaves a note that its files may change, as if it had not been stopped.
func TestFilesMayChangeANoteAfterAnImportThatStopped(t *testing.T) {
	t.Parallel()
	fresh := func(*bench) {}
	changed := func(b *bench) { b.written("one") }
	undone := func(b *bench) { b.undo(b.written("one")[0]) }
	for _, c := range []struct {
		name  string
		begin func(*bench)
		texts []string
	}{
		{"new", fresh, []string{"three"}},
		{"changed, the same again", changed, []string{"two", "three"}},
		{"changed", changed, []string{"three"}},
		{"changed and back", changed, []string{"one"}},
		{"undone", undone, []string{"three"}},
	} {
		everyStop(t, c.begin, func(b *bench, at string) {
			at = c.name + ", " + at
			for _, text := range c.texts {
				r := b.imported(toyLine{Note: "x", Text: text})
				must.Equal(t, at+"conflicts and skips", fmt.Sprint(r.Conflicts, r.Skipped), "0 0")
				must.Equal(t, at+"note", b.note("x"), text)
			}
			b.undoAll(-1, false)
		})
	}
}

// Undo gives a note the text back that an import wrote which was stopped and made again.
func TestUndoKnowsTheTextOfAnImportThatStopped(t *testing.T) {
	t.Parallel()
	for _, again := range []bool{false, true} {
		everyStop(t, func(b *bench) { b.written("one") }, func(b *bench, at string) {
			if again {
				b.written("two")
			}
			before := b.note("x")
			u := b.undo(b.written("three")[0])
			must.Equal(t, at+"restored and kept", fmt.Sprint(u.Restored, u.Kept), "1 []")
			must.Equal(t, at+"note", b.note("x"), before)
			made := must.Get(transfer.List(t.Context(), b.store))(t)
			for i := len(made) - 1; i > 0; i-- {
				must.Equal(t, at+"kept", len(b.undo(made[i].ID).Kept), 0)
			}
			must.Equal(t, at+"note of the first import", b.note("x"), "one")
		})
	}
}

// An import that stopped after one that is undone takes its text back in its turn.
func TestUndoOfAnImportBeforeOneThatStopped(t *testing.T) {
	t.Parallel()
	var first string
	everyStop(t, func(b *bench) { first = b.written("one")[0] }, func(b *bench, at string) {
		must.Equal(t, at+"kept", len(b.undo(first).Kept), 0)
		b.undoAll(-1, false)
	})
}

// A text of one's own that was written over a stopped import stays.
func TestANoteEditedAfterAnImportThatStoppedStays(t *testing.T) {
	t.Parallel()
	everyStop(t, func(b *bench) { b.written("one") }, func(b *bench, at string) {
		must.Get(b.store.Notes.WriteNote(t.Context(), amber.NoteWrite{Name: "x", Content: "mine"}))(t)
		must.Equal(t, at+"conflicts", b.imported(toyLine{Note: "x", Text: "three"}).Conflicts, 1)
		must.Equal(t, at+"note", b.note("x"), "mine")
	})
}

// Files of others have no say in what an import with --as-own has written before it stopped.
func TestOthersHaveNoSayInANoteOfAnOwnImportThatStopped(t *testing.T) {
	t.Parallel()
	everyStop(t, func(b *bench) { b.written("one"); b.o.AsOwn = true }, func(b *bench, at string) {
		b.o.AsOwn = false
		before := b.note("x")
		r := b.imported(toyLine{Note: "x", Text: "evil"})
		if before == "two" {
			must.Equal(t, at+"conflicts", r.Conflicts, 1)
			must.Equal(t, at+"note", b.note("x"), "two")
		}
	})
}
