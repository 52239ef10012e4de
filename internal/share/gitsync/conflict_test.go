package gitsync_test

import (
	"cmp"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/gitsync"
	"github.com/amber-memory/amber/internal/test/must"
)

// pair returns two clones that share one memory.
func pair(t *testing.T) (a, b *clone, id amber.MemoryID) {
	t.Helper()
	a, b = newClone(t), newClone(t)
	id = a.save("as it was")
	exchange(a, b)
	return a, b, id
}

func wantConflicts(t *testing.T, c *clone, want int64) {
	t.Helper()
	must.Equal(t, "conflicts", c.status().ConflictCount, want)
}

// exchange lets both export, merge and import.
func exchange(a, b *clone) {
	a.export(gitsync.ExportOptions{})
	b.export(gitsync.ExportOptions{})
	a.gives(b)
	b.gives(a)
	a.imports()
	b.imports()
}

func TestConcurrentEditsAreShownWithBothTexts(t *testing.T) {
	t.Parallel()
	a, b, id := pair(t)
	a.edit(id, "as a has it")
	b.edit(id, "as b has it")
	exchange(a, b)
	var kept string
	for _, c := range []*clone{a, b} {
		st := c.status()
		if len(st.Conflicts) != 1 || st.ConflictCount != 1 || len(st.Conflicts[0].Others) != 1 {
			t.Fatalf("conflicts: %+v", st.Conflicts)
		}
		got := st.Conflicts[0]
		texts := map[string]bool{got.Kept.Content: true, got.Others[0].Content: true}
		if got.ID != id || !texts["as a has it"] || !texts["as b has it"] {
			t.Errorf("the conflict is %+v", got)
		}
		kept = cmp.Or(kept, got.Kept.Content)
		wantTexts(t, c, kept)
		must.Equal(t, "versions", len(must.Get(amber.All(t.Context(), c.History, id))(t)), 3)
	}
	b.edit(id, "as both want it")
	exchange(a, b)
	for _, c := range []*clone{a, b} {
		wantTexts(t, c, "as both want it")
		wantConflicts(t, c, 0)
	}
}

func TestEditsThatFollowEachOtherAreNoConflict(t *testing.T) {
	t.Parallel()
	a, b, id := pair(t)
	for range 3 {
		a.edit(id, "a: "+a.texts()[0])
		a.edit(id, "again: "+a.texts()[0])
		exchange(a, b)
		b.edit(id, "b: "+b.texts()[0])
		exchange(a, b)
	}
	wantConflicts(t, a, 0)
	wantTexts(t, a, b.texts()...)
}

func TestDeletionBeatsWhatItSaw(t *testing.T) {
	t.Parallel()
	a, b, id := pair(t)
	must.Do(t, a.Delete(t.Context(), id))
	exchange(a, b)
	wantTexts(t, a)
	wantTexts(t, b)
	fresh := newClone(t)
	a.gives(fresh)
	fresh.imports()
	wantTexts(t, fresh)
	for _, c := range []*clone{a, b, fresh} {
		wantConflicts(t, c, 0)
	}
}

func TestDeletionAndEditAtOnceAreAConflict(t *testing.T) {
	t.Parallel()
	a, b, id := pair(t)
	must.Do(t, a.Delete(t.Context(), id))
	b.edit(id, "kept alive")
	exchange(a, b)
	wantConflicts(t, a, 1)
	wantTexts(t, a, b.texts()...)
}

func TestDeletionAndEditAtOnceCanBeSettled(t *testing.T) {
	t.Parallel()
	for name, settle := range map[string]struct {
		how  func(c *clone, id amber.MemoryID)
		want []string
	}{
		"by deleting": {func(c *clone, id amber.MemoryID) {
			must.NoError(t, c.Delete(t.Context(), id))
		}, nil},
		"by editing": {func(c *clone, id amber.MemoryID) { c.edit(id, "as everybody wants it") }, []string{"as everybody wants it"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, b, id := pair(t)
			b.edit(id, "kept alive")
			a.edit(id, "to be deleted")
			a.edit(id, "and deleted")
			must.Do(t, a.Delete(t.Context(), id))
			exchange(a, b)
			wantTexts(t, b)
			settle.how(b, id)
			exchange(a, b)
			for _, c := range []*clone{a, b} {
				wantTexts(t, c, settle.want...)
				wantConflicts(t, c, 0)
			}
		})
	}
}

func TestErasureIsTerminalInAnyOrder(t *testing.T) {
	t.Parallel()
	a, b, id := pair(t)
	b.edit(id, "edited, and not seen by who erases")
	b.edit(id, "edited twice")
	b.export(gitsync.ExportOptions{})
	must.Get(a.Erase(t.Context(), id))(t)
	a.export(gitsync.ExportOptions{})
	eraseFirst, textFirst := newClone(t), newClone(t)
	a.gives(eraseFirst)
	eraseFirst.imports()
	b.gives(eraseFirst)
	eraseFirst.imports()
	b.gives(textFirst)
	textFirst.imports()
	a.gives(textFirst)
	textFirst.imports()
	exchange(a, b)
	for _, c := range []*clone{a, b, eraseFirst, textFirst} {
		wantTexts(t, c)
		must.Fail(amber.All(t.Context(), c.History, id))(t, "history of what was erased", amber.KindNotFound)
	}
}

func TestOneTopicOfTwoBeginners(t *testing.T) {
	t.Parallel()
	a, b := newClone(t), newClone(t)
	one := a.write(amber.WriteRequest{Content: "deploy on Tuesday", Topic: "deploy"})
	two := b.write(amber.WriteRequest{Content: "deploy on Friday", Topic: "Deploy"})
	must.Equal(t, "id", one, two)
	exchange(a, b)
	wantTexts(t, a, b.texts()...)
	must.Equal(t, "memories", len(a.texts()), 1)
	wantConflicts(t, b, 1)
}

func TestImportTwiceDoesNothing(t *testing.T) {
	t.Parallel()
	a, b, _ := pair(t)
	a.many(3, "more")
	exchange(a, b)
	before := must.Get(b.Head(t.Context()))(t)
	r := b.imports()
	after, err := b.Head(t.Context())
	if err != nil || r.Chunks != 0 || r.Observations != 0 || before != after {
		t.Errorf("a second import: %+v, the log went from %s to %s, %v", r, before, after, err)
	}
	b.exportsNothing()
}
