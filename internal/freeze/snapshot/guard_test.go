package snapshot_test

import (
	"context"
	"errors"
	"testing"

	"github.com/amber-memory/amber/internal/freeze/snapshot"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// A program that may not act any more writes no snapshot, deletes none and collects nothing,
// however far it got. A program that may act does all of this.
func TestGuardedOperationsHaveNoEffectOnceTheyMayNot(t *testing.T) {
	t.Parallel()
	w, _ := frozen(t, "one")
	w.remember("two")
	second := w.snapshot()
	lost := errors.New("another server has the work")
	asked := 0
	may := true
	outer := snapshot.Guarded(t.Context(), func(context.Context) error {
		asked++
		if may {
			return nil
		}
		return lost
	})
	ctx := snapshot.Guarded(outer, func(context.Context) error { return nil }) // one more does not undo it
	take := func() error {
		_, err := w.engine.Snapshot(ctx, wire.SnapshotRequest{Tenant: "default", Agent: "default"})
		return err
	}
	prune := func() error {
		_, err := w.engine.PruneSnapshots(ctx, wire.PruneRequest{Tenant: "default", Agent: "default", KeepLast: 1})
		return err
	}
	collect := func() error {
		_, err := w.engine.CollectGarbage(ctx, wire.GCRequest{Tenant: "default"})
		return err
	}
	may = false
	for name, do := range map[string]func() error{"take": take, "prune": prune, "collect": collect} {
		asked = 0
		must.Hold(t, errors.Is(do(), lost), "%s was done by somebody who may not", name)
		must.Equal(t, name+": asked", asked, 1)
	}
	must.Equal(t, "snapshots", len(w.list()), 2)
	may = true
	must.Do(t, prune())
	left := w.list()
	must.Equal(t, "snapshots after somebody pruned who may", len(left), 1)
	must.Equal(t, "the one that is left", left[0].ID, second.ID)
	must.Do(t, collect())
	must.Do(t, take())
	must.Equal(t, "snapshots", len(w.list()), 2)
}
