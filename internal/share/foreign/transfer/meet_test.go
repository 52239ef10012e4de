package transfer_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
	"github.com/amber-memory/amber/internal/share/foreign/transfer"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// meeting imports while another import of the same files is made before the write that number n reaches. Met is false where
// there are fewer writes.
func (b *bench) meeting(n int) (one, other wire.ForeignImport, met bool) {
	b.t.Helper()
	tree := must.Get(foreign.Open(b.dir))(b.t)
	defer tree.Close()
	f := &fuse{left: n, meet: func() { met, other = true, b.run(b.o) }}
	one = must.Get(transfer.Import(b.t.Context(), b.fused(f), toy, tree, b.o))(b.t)
	return one, other, met
}

// Two imports of the same files at one time each count what they have stored, and together they count every row once.
// Undone, they leave nothing.
func TestTwoImportsAtOnceCountEachRowOnce(t *testing.T) {
	t.Parallel()
	for n := 1; ; n++ {
		b := newBench(t)
		b.put(sample...)
		one, other, met := b.meeting(n)
		if !met {
			if n < 5 {
				t.Errorf("an import makes %d writes, want more", n)
			}
			return
		}
		at := fmt.Sprint("met before write ", n, ": ")
		must.Equal(t, at+"new", one.New+other.New, int64(len(sample)))
		must.Equal(t, at+"known", one.Known+other.Known, int64(len(sample)))
		must.Equal(t, at+"changed, conflicts and skips", fmt.Sprint(one.Changed+other.Changed, one.Conflicts+other.Conflicts, one.Skipped+other.Skipped), "0 0 0")
		must.Equal(t, at+"turns", len(must.Get(amber.LastTurns(t.Context(), b.store.Turns, "s1", 10))(t)), 2)
		must.Equal(t, at+"known afterwards", b.run(b.o).Known, int64(len(sample)))
		b.undoAll(-1, false)
		must.Equal(t, at+"new after undo", b.run(b.o).New, int64(len(sample)))
	}
}

// The same holds for rows that have changed.
func TestTwoImportsAtOnceCountEachChangeOnce(t *testing.T) {
	t.Parallel()
	changed := append([]toyLine{}, sample...)
	changed[0].Text, changed[3].Title, changed[6].Text = "Round half up", "Renamed", "# Other rules\n"
	for n := 1; ; n++ {
		b := newBench(t)
		b.imported(sample...)
		b.put(changed...)
		one, other, met := b.meeting(n)
		if !met {
			return
		}
		at := fmt.Sprint("met before write ", n, ": ")
		must.Equal(t, at+"changed", one.Changed+other.Changed, 3)
		must.Equal(t, at+"new, conflicts and skips", fmt.Sprint(one.New+other.New, one.Conflicts+other.Conflicts, one.Skipped+other.Skipped), "0 0 0")
	}
}

// meetingNotes meets once, right after a note was looked for.
type meetingNotes struct {
	amber.Notes
	meet func()
}

func (n *meetingNotes) ReadNote(ctx context.Context, name string) (amber.Note, error) {
	note, err := n.Notes.ReadNote(ctx, name)
	if meet := n.meet; meet != nil {
		n.meet = nil
		meet()
	}
	return note, err
}

// A note that another import makes after it was looked for does not count as deleted here.
func TestANoteThatAnotherImportMakesMeanwhileIsKnown(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.imported(sample[1]) // so that links are looked for
	b.put(toyLine{Note: "x", Text: "one"})
	tree := must.Get(foreign.Open(b.dir))(t)
	defer tree.Close()
	store := b.store
	store.Notes = &meetingNotes{store.Notes, func() { b.run(b.o) }}
	r := must.Get(transfer.Import(t.Context(), store, toy, tree, b.o))(t)
	must.Equal(t, "notes", r.Notes, counts(1, 0, 0, 1))
	must.Equal(t, "skipped", r.Skipped, 0)
}
