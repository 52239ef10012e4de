package inmem_test

import (
	"testing"

	"github.com/amber-memory/amber"
)

func TestRelations(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	a, b := w.fact(t, "a"), w.fact(t, "b")
	head := w.head(t)
	first := ok[amber.Relation](t)(w.Relate(ctx, amber.Relation{From: a, To: b, Type: "related", Strength: 0.1}))
	w.tick()
	second := ok[amber.Relation](t)(w.Relate(ctx, amber.Relation{From: a, To: b, Type: "related", Strength: 0.9}))
	want := first
	want.Strength, want.Origin = 0.9, second.Origin
	wantEqual(t, "replaced relation", second, want)
	wantEqual(t, "counter", second.Origin.Counter, uint64(2))
	for _, id := range []amber.MemoryID{a, b} {
		wantEqual(t, "relations", ok[[]amber.Relation](t)(w.Related(ctx, id)), []amber.Relation{second})
	}
	if err := w.Unrelate(ctx, first.ID); err != nil {
		t.Fatal(err)
	}
	wantKind(t, w.Unrelate(ctx, first.ID), amber.KindNotFound)
	wantEqual(t, "relations after unrelating", ok[[]amber.Relation](t)(w.Related(ctx, a)), []amber.Relation{})
	revived := ok[amber.Relation](t)(w.Relate(ctx, amber.Relation{From: a, To: b, Type: "related"}))
	if revived.ID != first.ID || revived.Origin.Counter != 4 || !revived.DeletedAt.IsZero() {
		t.Errorf("relation made again: %+v, want %s with counter 4", revived, first.ID)
	}
	line := "update memory " + string(a)
	wantEqual(t, "entries", w.entries(t, w, head), []string{line, line, line, line})

	deleteIt(t, w, b)
	_, err := w.Relate(ctx, amber.Relation{From: a, To: b, Type: "other"})
	wantKind(t, err, amber.KindNotFound)
	wantEqual(t, "relations to a deleted memory", ok[[]amber.Relation](t)(w.Related(ctx, a)), []amber.Relation{revived})
}

func TestConcepts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	id := w.fact(t, "a")
	if err := w.SetConcepts(ctx, id, []string{"z", " a ", "z"}); err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "concepts", ok[[]string](t)(w.Concepts(ctx, id)), []string{"a", "z"})
	deleteIt(t, w, id)
	_, err := w.Concepts(ctx, id)
	wantKind(t, err, amber.KindNotFound)
	wantKind(t, w.SetConcepts(ctx, id, nil), amber.KindNotFound)
}

func TestNotes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	first := ok[amber.Note](t)(w.WriteNote(ctx, "plan/today.md", "# Plan"))
	w.tick()
	wantEqual(t, "note written again", ok[amber.Note](t)(w.WriteNote(ctx, "plan/today", "# Plan")), first)
	second := ok[amber.Note](t)(w.WriteNote(ctx, "plan/today", "# Other"))
	if second.Commit == first.Commit || len(second.Commit) != 40 {
		t.Errorf("commit %q after %q, want another hash", second.Commit, first.Commit)
	}
	ok[amber.Note](t)(w.WriteNote(ctx, "a", "x"))
	names := []string{}
	for _, n := range ok[[]amber.Note](t)(w.ListNotes(ctx)) {
		names = append(names, n.Name+n.Content)
	}
	wantEqual(t, "names", names, []string{"a", "plan/today"})
	if err := w.DeleteNote(ctx, "plan/today"); err != nil {
		t.Fatal(err)
	}
	wantKind(t, w.DeleteNote(ctx, "plan/today"), amber.KindNotFound)
	_, err := w.ReadNote(ctx, "plan/today")
	wantKind(t, err, amber.KindNotFound)
	ops := []string{}
	for _, c := range ok[[]amber.NoteCommit](t)(w.LogNote(ctx, "plan/today", 2)) {
		ops = append(ops, c.Op+" "+c.At.String())
	}
	wantEqual(t, "log", ops, []string{"delete " + w.now().String(), "write " + w.now().String()})
	_, err = w.LogNote(ctx, "never", 2)
	wantKind(t, err, amber.KindNotFound)
	_, err = w.WriteNote(ctx, "../x", "x")
	wantKind(t, err, amber.KindInvalid)
}
