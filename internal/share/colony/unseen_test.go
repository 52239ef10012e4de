package colony_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/colony"
	"github.com/amber-memory/amber/internal/share/colony/colonytest"
	"github.com/amber-memory/amber/internal/test/must"
)

// seenBy opens the vault for a home that remembers.
func (b *bench) seenBy(w colony.Witness) *colony.Vault {
	b.t.Helper()
	return b.open(func(o *colony.Options) { o.Witness = w })
}

// TestWhoIsNotAskedGoesOnOnlyWithWhatItHasSeen has a home that is new, and one
// that lies behind, beside the home whose memory is in the vault.
func TestWhoIsNotAskedGoesOnOnlyWithWhatItHasSeen(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	mine, behind, fresh := &memo{}, &memo{}, &memo{}
	auto := colony.BackupOptions{Keep: 1, OnlySeen: true}
	b.backup(b.seenBy(mine), doc("one"), auto)
	must.Get(b.seenBy(behind).Restore(t.Context(), ""))(t)
	newest := b.backup(b.seenBy(mine), doc("precious"), auto).ID
	was := b.fake.Files()
	for name, w := range map[string]*memo{"fresh": fresh, "behind": behind} {
		before := w.seen
		r, err := b.seenBy(w).Backup(t.Context(), doc("scratch"), auto)
		must.Kind(t, "", err, amber.KindConflict)
		if len(r.Uploaded) > 0 || w.seen != before || !strings.Contains(err.Error(), string(newest)) {
			t.Errorf("%s: %+v, %v, remembers %+v", name, r, err, w.seen)
		}
		if hint := amber.HintOf(err); !strings.HasPrefix(hint, "amber vault restore to use that snapshot, ") || !strings.Contains(hint, "vault.label") {
			t.Errorf("%s: the hint is %q", name, hint)
		}
		must.Equal(t, name+": files", b.fake.Files(), was)
	}
	// A home with the same documents replaces nothing, and a home that restored has seen it.
	must.Equal(t, "unchanged", b.backup(b.seenBy(fresh), doc("precious"), auto).Unchanged, true)
	must.Equal(t, "what was seen", fresh.seen.ID, newest)
	b.restore(b.seenBy(behind), doc("precious"))
	b.backup(b.seenBy(behind), doc("goes on"), auto)
	must.Fail(b.seenBy(mine).Backup(t.Context(), doc("two homes, one label"), auto))(t, "", amber.KindConflict)
}

// TestWhatWasNeverSeenIsPutAside: a backup that a person asks for is made, with a warning;
// the same backup does not prune it.
func TestWhatWasNeverSeenIsPutAside(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.backup(b.seenBy(&memo{}), doc("old"), colony.BackupOptions{})
	precious := b.backup(b.seenBy(&memo{}), doc("precious"), colony.BackupOptions{}).ID
	home := &memo{}
	r := b.backup(b.seenBy(home), doc("scratch"), colony.BackupOptions{Keep: 1})
	must.Says(t, "warnings", strings.Join(r.Warnings, "\n"), string(precious)+", was never seen from here")
	must.Equal(t, "kept", r.Pruned.Kept, []colony.SnapshotID{r.ID, precious})
	must.Equal(t, "deleted", len(r.Pruned.Deleted), 1)
	r = b.backup(b.seenBy(home), doc("more"), colony.BackupOptions{Keep: 1, OnlySeen: true})
	must.Equal(t, "warnings", len(r.Warnings), 0)
	must.Equal(t, "kept", len(r.Pruned.Kept), 1)
}

// mortal is a witness whose process may die.
type mortal struct {
	memo
	dead bool
}

func (m *mortal) Update(ctx context.Context, change func(colony.Sighting) colony.Sighting) error {
	if m.dead {
		return errors.New("dead")
	}
	return m.memo.Update(ctx, change)
}

// TestWhatWasWrittenBeforeDeathIsKnown kills a backup at every request, whether
// the vault still does it or not: the next one goes on without a question, also
// when the documents have changed meanwhile.
func TestWhatWasWrittenBeforeDeathIsKnown(t *testing.T) {
	t.Parallel()
	auto := colony.BackupOptions{Keep: 2, OnlySeen: true}
	over := false
	for n := 1; !over; n++ {
		for _, done := range []bool{false, true} {
			b := newBench(t)
			home := &mortal{}
			b.backup(b.seenBy(home), doc("one"), auto)
			first := len(b.fake.Requests())
			b.fake.Before = func(r colonytest.Request) colonytest.Fault {
				if r.N-first < n {
					return colonytest.Fault{}
				}
				f := colonytest.Fault{Err: amber.Errorf(amber.KindUnreachable, r.Op, r.Name, "killed"), Done: done && !home.dead}
				home.dead = true
				return f
			}
			_, _ = b.seenBy(home).Backup(t.Context(), doc("two"), auto)
			over = !home.dead
			home.dead, b.fake.Before = false, nil
			b.backup(b.seenBy(home), doc("three"), auto)
			b.restore(b.seenBy(home), doc("three"))
			must.Equal(t, fmt.Sprint("killed at ", n), home.seen.Writing, "")
		}
	}
}
