package colony_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/colony"
	"github.com/amber-memory/amber/internal/share/colony/colonytest"
	"github.com/amber-memory/amber/internal/test/must"
)

// Prune removes what the original client removes of a vault, and nothing of another label.
func TestPruneRemovesWhatTheOriginalDoes(t *testing.T) {
	t.Parallel()
	var want struct {
		List  []colony.SnapshotID `json:"list"`
		Prune struct {
			Label string   `json:"label"`
			Keep  int      `json:"keep"`
			After []string `json:"after"`
		} `json:"prune"`
	}
	readJSON(t, "testdata/vaults/three_plus_one.json", &want)
	b := newBench(t)
	b.fake.Fill(vaultFiles(t, "testdata/vaults/three_plus_one"))
	v := b.open(func(o *colony.Options) { o.Label = want.Prune.Label })
	plan, err := v.Prune(t.Context(), want.Prune.Keep, true)
	if err != nil || count(b.fake.Requests(), "delete") > 0 || !plan.Planned {
		t.Fatalf("plan is %+v, %v", plan, err)
	}
	r := must.Get(v.Prune(t.Context(), want.Prune.Keep, false))(t)
	must.Equal(t, "deleted", len(r.Deleted), 2)
	must.Equal(t, "files", names(b.fake, ""), want.Prune.After)
	plan.Planned = false
	must.Equal(t, "plan", plan, r)
	var order []string
	for _, q := range b.fake.Requests() {
		if q.Op == "delete" {
			order = append(order, q.Name)
		}
	}
	for i := 0; i+1 < len(order); i += 2 {
		if !strings.Contains(order[i], ".manifest.") || strings.Contains(order[i+1], ".manifest.") {
			t.Errorf("removed in the order %q", order)
		}
	}
}

// Prune does not count a damaged snapshot, nor one that the pointer has not come to name.
func TestPruneKeepsWhatCanBeRestored(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s := &scene{bench: b, v: b.open(nil)}
	var ids []colony.SnapshotID
	for _, text := range []string{"one", "two", "three", "four"} {
		ids = append(ids, s.save(text).ID)
	}
	b.fake.Remove(colony.PartName("x", ids[2], 0))
	s.interrupt("put", 3, func() { _, _ = backUp("five", 0)(s) })
	r, err := s.v.Prune(t.Context(), 2, false)
	if err != nil || !slices.Equal(r.Deleted, ids[:1]) || len(r.Kept) != 4 || r.Kept[3] != ids[1] {
		t.Errorf("report is %+v, %v", r, err)
	}
	// A snapshot whose pointer is bad is newest by its id.
	b.fake.Remove("cmem.x.latest.json")
	r, err = s.v.Prune(t.Context(), 1, false)
	if err != nil || len(r.Kept) != 1 || len(r.Warnings) != 1 || len(r.Deleted) != 3 {
		t.Errorf("report is %+v, %v", r, err)
	}
	b.restore(s.v, doc("five"))
	must.Fail(s.v.Prune(t.Context(), 0, false))(t, "", amber.KindInvalid)
}

// With a pointer that cannot be mended nothing is removed.
func TestPruneNeedsAPointer(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	v := b.open(nil)
	two(b, v)
	b.fake.Remove("cmem.x.latest.json")
	before := b.fake.Files()
	b.fake.Before = func(r colonytest.Request) colonytest.Fault {
		if r.Op == "put" {
			return colonytest.Fault{Err: amber.Errorf(amber.KindRefused, "put", r.Name, "no")}
		}
		return colonytest.Fault{}
	}
	must.Fail(v.Prune(t.Context(), 1, false))(t, "", amber.KindRefused)
	must.Equal(t, "files", b.fake.Files(), before)
}

// A vault that is full of what belongs to no snapshot can be emptied.
func TestPruneOfNothingButLitter(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s := &scene{bench: b, v: b.open(nil)}
	s.v.SetPartChars(200)
	s.interrupt("put", 3, func() { _, _ = backUp(long, 0)(s) })
	must.Equal(t, "orphans", len(must.Get(s.v.Prune(t.Context(), 1, false))(t).Orphans), 0)
	must.Equal(t, "files", len(b.fake.Files()), 2)
	b.pass(colony.DefaultGrace)
	must.Equal(t, "orphans", len(must.Get(s.v.Prune(t.Context(), 1, false))(t).Orphans), 2)
	must.Equal(t, "files", len(b.fake.Files()), 0)
	b.fake.Fill(map[string]string{"cmem.x.latest.json": "{}"})
	must.Fail(s.v.Prune(t.Context(), 1, false))(t, "", amber.KindDamaged)
}

func TestDelete(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	witness := &memo{}
	v := b.open(func(o *colony.Options) { o.Witness = witness })
	older, newer := two(b, v)
	before := b.fake.Files()
	r, err := v.Delete(t.Context(), newer, true)
	if err != nil || !r.Planned || !slices.Equal(r.Deleted, []colony.SnapshotID{newer}) || len(b.fake.Files()) != len(before) {
		t.Errorf("plan is %+v, %v", r, err)
	}
	r = must.Get(v.Delete(t.Context(), newer, false))(t)
	must.Equal(t, "deleted", r.Deleted, []colony.SnapshotID{newer})
	must.Equal(t, "kept", r.Kept, []colony.SnapshotID{older})
	must.Equal(t, "fallback", b.restore(v, doc("one")).Fallback, "")
	must.Equal(t, "id", witness.seen.ID, older)
	must.Fail(v.Delete(t.Context(), newer, false))(t, "", amber.KindNotFound)
	must.Fail(v.Delete(t.Context(), "x", false))(t, "", amber.KindInvalid)
	must.NoError(t, must.Err(v.Delete(t.Context(), older, false)))
	must.Equal(t, "files", len(b.fake.Files()), 0)
	must.Fail(v.Restore(t.Context(), ""))(t, "", amber.KindNotFound)
}

// An older one goes without a change to the pointer.
func TestDeleteAnOlderOne(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	v := b.open(nil)
	older, _ := two(b, v)
	begin := len(b.fake.Requests())
	must.NoError(t, must.Err(v.Delete(t.Context(), older, false)))
	must.Equal(t, "puts", count(b.fake.Requests()[begin:], "put"), 0)
	b.restore(v, doc("two"))
}

// Delete removes a pointer that no client can read together with the last snapshot.
func TestDeleteTheLastOne(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	v := b.open(nil)
	id := b.backup(v, doc("one"), colony.BackupOptions{}).ID
	b.fake.Fill(map[string]string{"cmem.x.latest.json": "?"})
	must.NoError(t, must.Err(v.Delete(t.Context(), id, false)))
	must.Equal(t, "files", len(b.fake.Files()), 0)
}

// overlisting is a vault that does not look at the prefix.
type overlisting struct{ *colonytest.Fake }

func (o overlisting) List(ctx context.Context, _ string) ([]colony.FileInfo, error) {
	return o.Fake.List(ctx, "")
}

// Files that a listing names beyond the label belong to others: the vault ignores them.
func TestListingOfOthers(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	other := b.open(func(o *colony.Options) { o.Label = "y" })
	b.backup(other, doc("one"), colony.BackupOptions{})
	b.backup(other, doc("two"), colony.BackupOptions{})
	b.fake.Fill(map[string]string{"notes.md": "mine"})
	v := b.openOn(overlisting{b.fake}, nil)
	must.Fail(v.Restore(t.Context(), ""))(t, "", amber.KindNotFound)
	b.backup(v, doc("three"), colony.BackupOptions{Keep: 1})
	r := b.backup(v, doc("four"), colony.BackupOptions{Keep: 1})
	must.Equal(t, "listed", len(must.Get(v.List(t.Context()))(t)), 1)
	must.Equal(t, "pruned", len(r.Pruned.Deleted), 1)
	must.Equal(t, "listed", len(must.Get(other.List(t.Context()))(t)), 2)
	must.Equal(t, "what is not a snapshot", b.fake.Files()["notes.md"], "mine")
}

// A snapshot that another client removes during the listing is not in the list.
func TestListWhileOthersPrune(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	v := b.open(nil)
	older, newer := two(b, v)
	before(b.fake, "get", colony.ManifestName("x", older), func() { b.fake.Remove(names(b.fake, "cmem.x."+string(older))...) })
	all, err := v.List(t.Context())
	if err != nil || len(all) != 1 || all[0].ID != newer {
		t.Errorf("list is %+v, %v", all, err)
	}
}
