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

// linksOf are the links of an import to records of a scope.
func (b *bench) linksOf(id string, scope amber.ChangeScope) (n int) {
	b.t.Helper()
	for _, l := range must.Get(b.store.Sync.Links(b.t.Context(), amber.LinkQuery{Tool: "toy", Chunk: id}))(b.t) {
		if l.Ref.Scope == scope {
			n++
		}
	}
	return n
}

// A relation that the store did not take has no link: an undo has nothing to do with it.
func TestARelationThatWasRefusedHasNoLink(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	mine := must.Get(b.store.LongTerm.Write(t.Context(), amber.WriteRequest{Content: "here"}))(t)
	r := b.imported(toyLine{Key: "a", Text: "here", Amber: string(mine.ID)}, toyLine{Key: "b", Text: "there"}, toyLine{Key: "c", Text: "too"},
		toyLine{From: "a", To: "b"}, toyLine{From: "b", To: "c"})
	must.Equal(t, "new and skipped", fmt.Sprint(r.Relations.New, r.Skipped), "1 1")
	must.Equal(t, "links of relations", b.linksOf(r.ID, amber.SyncRelation), 1)
	u := b.undo(r.ID)
	must.Equal(t, "deleted and gone", fmt.Sprint(u.Deleted, u.Gone, len(u.Kept)), "3 0 0")
}

// picky refuses one note.
type picky struct {
	amber.Notes
	name string
}

func (p picky) WriteNote(ctx context.Context, w amber.NoteWrite) (amber.Note, error) {
	if w.Name == p.name {
		return amber.Note{}, amber.Errorf(amber.KindRefused, "write note", w.Name, "the name is taken")
	}
	return p.Notes.WriteNote(ctx, w)
}

// A note that the store refuses is skipped, and what comes after it is imported. It comes once the store takes it.
func TestANoteThatIsRefusedStopsNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.put(toyLine{Note: "one", Text: "1"}, toyLine{Note: "two", Text: "2"}, toyLine{Note: "three", Text: "3"}, toyLine{Key: "a", Text: "last"})
	whole := b.store
	b.store.Notes = picky{whole.Notes, "two"}
	var first wire.ForeignImport
	for range 2 {
		r := b.run(b.o)
		must.Equal(t, "skips", r.Skips, []wire.ImportSkip{{Place: "toy.jsonl: line 2", Reason: "the name is taken"}})
		if first.ID == "" {
			first = r
		}
	}
	must.Equal(t, "new", fmt.Sprint(first.Notes, first.Memories.New), fmt.Sprint(counts(3, 2, 0, 0), 1))
	u := b.undo(first.ID)
	must.Equal(t, "deleted and gone", fmt.Sprint(u.Deleted, u.Gone, len(u.Kept)), "3 0 0")

	b.store = whole
	must.Equal(t, "taken", b.run(b.o).Notes, counts(3, 3, 0, 0))
	must.Equal(t, "note", b.note("two"), "2")

	// A change that is refused leaves the note to the import that wrote it.
	b.store.Notes = picky{whole.Notes, "two"}
	b.put(toyLine{Note: "two", Text: "changed"})
	must.Equal(t, "a change", fmt.Sprint(b.run(b.o).Notes, b.note("two")), fmt.Sprint(counts(1, 0, 0, 0), "2"))
	b.store = whole
	must.Equal(t, "a change that is taken", fmt.Sprint(b.run(b.o).Notes, b.note("two")), fmt.Sprint(counts(1, 0, 1, 0), "changed"))
}

// An error of the notes that is no refusal ends the import.
func TestNotesThatFailEndAnImport(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.put(toyLine{Note: "one", Text: "1"})
	tree := must.Get(foreign.Open(b.dir))(t)
	defer tree.Close()
	b.store.Notes = amber.NewStore(amber.Parts{}).Notes
	_, err := transfer.Import(t.Context(), b.store, toy, tree, b.o)
	must.Kind(t, "import", err, amber.KindUnsupported)
}
