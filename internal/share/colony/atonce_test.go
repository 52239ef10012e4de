package colony_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/amber-memory/amber/internal/share/colony"
	"github.com/amber-memory/amber/internal/share/colony/colonytest"
	"github.com/amber-memory/amber/internal/test/must"
)

// interleaved runs one operation on a vault of three snapshots and another one
// before its first request, then anew before the second, and so on. check sees
// each vault afterwards.
func interleaved(t *testing.T, op func(b *bench, ids []colony.SnapshotID), inside func(b *bench, ids []colony.SnapshotID), check func(b *bench, at string, ids []colony.SnapshotID)) {
	t.Helper()
	for n := 1; ; n++ {
		b := newBench(t)
		v := b.open(func(o *colony.Options) { o.Label = "x" })
		v.SetPartChars(40)
		var ids []colony.SnapshotID
		for _, text := range []string{"one", "two", "three"} {
			ids = append(ids, b.backup(v, doc(text), colony.BackupOptions{}).ID)
		}
		asked, met, last := 0, false, ""
		b.fake.Before = func(r colonytest.Request) colonytest.Fault {
			if asked++; asked == n {
				b.fake.Before, met = nil, true
				last = fmt.Sprint(r.Op, " ", r.Name, ", number ", n)
				inside(b, ids)
			}
			return colonytest.Fault{}
		}
		op(b, ids)
		b.fake.Before = nil
		if !met {
			if n < 5 {
				t.Errorf("only %d requests", n-1)
			}
			return
		}
		check(b, last, ids)
	}
}

// TestPruneAndDeleteAtOnce: what either says that it keeps is there, and the
// pointer names it.
func TestPruneAndDeleteAtOnce(t *testing.T) {
	t.Parallel()
	var pruned, deleted colony.PruneReport
	prune := func(b *bench, _ []colony.SnapshotID) {
		pruned, _ = b.open(nil).Prune(b.t.Context(), 1, false) // it may end with a conflict
	}
	remove := func(b *bench, ids []colony.SnapshotID) {
		var err error
		if deleted, err = b.open(nil).Delete(b.t.Context(), ids[2], false); err != nil {
			b.t.Error(err)
		}
	}
	check := func(b *bench, at string, ids []colony.SnapshotID) {
		there, named := complete(b.fake.Files(), "x")
		if slices.Contains(there, ids[2]) {
			b.t.Errorf("%s: what was deleted is there", at)
		}
		if len(there) == 0 {
			// Then it was as if one came after the other, and the user was told.
			must.Equal(b.t, at+": kept", len(deleted.Kept), 0)
			must.Equal(b.t, at+": named", named, "")
			return
		}
		if !slices.Contains(there, named) {
			b.t.Errorf("%s: there are %v, and the pointer names %q", at, there, named)
		}
		for _, id := range pruned.Kept {
			if id != ids[2] && !slices.Contains(there, id) {
				b.t.Errorf("%s: prune says that it keeps %s, which is not there", at, id)
			}
		}
	}
	interleaved(t, prune, remove, check)
	interleaved(t, remove, prune, check)
}

// TestTwoDeletesAtOnce: the pointer names what is left.
func TestTwoDeletesAtOnce(t *testing.T) {
	t.Parallel()
	remove := func(which int) func(*bench, []colony.SnapshotID) {
		return func(b *bench, ids []colony.SnapshotID) {
			must.NoError(b.t, must.Err(b.open(nil).Delete(b.t.Context(), ids[which], false)))
		}
	}
	check := func(b *bench, at string, ids []colony.SnapshotID) {
		there, named := complete(b.fake.Files(), "x")
		if len(there) != 1 || there[0] != ids[0] || named != ids[0] {
			b.t.Errorf("%s: there are %v, and the pointer names %q", at, there, named)
		}
		if all := names(b.fake, "cmem.x."+string(ids[1])); len(all) > 0 {
			b.t.Errorf("%s: %q are left", at, all)
		}
	}
	interleaved(t, remove(2), remove(1), check)
	interleaved(t, remove(1), remove(2), check)
}

// TestPruneMendsThePointerOfOthers: a client that puts the pointer whatever is
// there makes it name a snapshot that is being removed.
func TestPruneMendsThePointerOfOthers(t *testing.T) {
	t.Parallel()
	for which := range 2 {
		prune := func(b *bench, _ []colony.SnapshotID) {
			_, _ = b.open(nil).Prune(b.t.Context(), 1, false) // it may end with a conflict
		}
		put := func(b *bench, ids []colony.SnapshotID) {
			p := colony.Latest("x", ids[which], b.now())
			b.fake.Fill(map[string]string{p.Name: p.Content})
		}
		interleaved(t, prune, put, func(b *bench, at string, ids []colony.SnapshotID) {
			there, named := complete(b.fake.Files(), "x")
			must.Equal(b.t, at+": named", slices.Contains(there, named), true)
			must.Equal(b.t, at+": ids", slices.Contains(there, ids[2]), true)
		})
	}
}
