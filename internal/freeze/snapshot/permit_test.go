package snapshot_test

import (
	"context"
	"errors"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/permit"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// A program that may not act any more writes no snapshot, deletes none and collects nothing,
// however far it got. A program that may act does all of this.
func TestOperationsUnderAPermitHaveNoEffectOnceTheyMayNot(t *testing.T) {
	t.Parallel()
	w, _ := frozen(t, "one")
	w.remember("two")
	second := w.snapshot()
	ref := wire.SnapshotRef{Tenant: "default", Agent: "default", ID: second.ID}
	lost := errors.New("another server has the work")
	asked := 0
	may := true
	outer, end := permit.New(func(context.Context) error {
		asked++
		if may {
			return nil
		}
		return lost
	})
	ctx, engine := t.Context(), w.engine.Under(outer).Under(mayAct()) // one more does not undo it
	take := func() error {
		_, err := engine.Snapshot(ctx, wire.SnapshotRequest{Tenant: "default", Agent: "default"})
		return err
	}
	prune := func() error {
		_, err := engine.PruneSnapshots(ctx, wire.PruneRequest{Tenant: "default", Agent: "default", KeepLast: 1})
		return err
	}
	pin := func() error { return engine.PinSnapshot(ctx, ref, true) }
	remove := func() error { return engine.DeleteSnapshot(ctx, ref) }
	restore := func() error {
		_, err := engine.Restore(ctx, wire.RestoreRequest{SnapshotRef: ref})
		return err
	}
	leave := func() error {
		_, err := engine.DeleteAgent(ctx, "default", "default", true)
		return err
	}
	collect := func() error {
		_, err := engine.CollectGarbage(ctx, wire.GCRequest{Tenant: "default"})
		return err
	}
	may = false
	for name, do := range map[string]func() error{"take": take, "prune": prune, "collect": collect, "pin": pin, "delete": remove, "restore": restore, "delete the agent": leave} {
		asked = 0
		must.Hold(t, errors.Is(do(), lost), "%s was done without the right to", name)
		must.Equal(t, name+": asked", asked, 1)
	}
	for _, m := range w.list() {
		must.Hold(t, !m.Pinned, "snapshot %s is pinned", m.ID)
	}
	must.Equal(t, "snapshots", len(w.list()), 2)
	may = true
	must.Do(t, prune())
	left := w.list()
	must.Equal(t, "snapshots after a prune that was allowed", len(left), 1)
	must.Equal(t, "the one that is left", left[0].ID, second.ID)
	must.Do(t, collect())
	must.Do(t, take())
	must.Equal(t, "snapshots", len(w.list()), 2)
	end()
	must.Kind(t, "after the work", take(), amber.KindInternal, "given back")
}

// mayAct is the permit of a test, which shares its home with no other process.
func mayAct() permit.Permit {
	p, _ := permit.New(nil)
	return p
}
