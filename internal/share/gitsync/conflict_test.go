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
			wantConflicts(t, b, 1)
			settle.how(b, id)
			exchange(a, b)
			for _, c := range []*clone{a, b} {
				wantTexts(t, c, settle.want...)
				wantConflicts(t, c, 0)
			}
		})
	}
}
