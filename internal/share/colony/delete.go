package colony

import (
	"context"
	"fmt"

	"github.com/amber-memory/amber"
)

// Delete removes a snapshot, also an incomplete one. If the pointer names the
// snapshot, the pointer is first moved to the newest other complete snapshot, or
// removed without one. Errors: not_found; invalid for a bad id. The report says
// what was removed, as that of [Vault.Prune].
func (v *Vault) Delete(ctx context.Context, id SnapshotID, dryRun bool) (PruneReport, error) {
	r, err := v.delete(ctx, id, dryRun)
	return r, v.wrap("delete", err)
}

func (v *Vault) delete(ctx context.Context, id SnapshotID, dryRun bool) (PruneReport, error) {
	report := v.emptyReport(dryRun)
	if _, err := ParseSnapshotID(string(id)); err != nil {
		return report, err
	}
	in, err := v.list(ctx)
	if err != nil {
		return report, err
	}
	g := in.groups[id]
	if g == nil {
		return report, amber.Errorf(amber.KindNotFound, "find snapshot", string(id), "the label has no snapshot of this id")
	}
	if !dryRun {
		if in, err = v.release(ctx, id, in, &report); err != nil {
			return report, err
		}
	}
	for _, o := range in.ids {
		if o != id && in.groups[o].manifest != nil {
			report.Kept = append(report.Kept, o)
		}
	}
	r := removal{v: v, report: &report, total: len(g.parts) + 1}
	r.snapshot(ctx, g, func(bool) (bool, error) { return true, v.retreat(ctx, id, &report) })
	return report, r.first
}

// release makes the witness and the pointer name another snapshot than id. Both change before the caller removes id, so
// that no reader misses id when the removal stops halfway. Another client that still saw the pointer name a later
// snapshot may be about to prune the one that the pointer names now. So release examines that one again, and chooses
// another if it is gone. It returns the listing that it saw last.
func (v *Vault) release(ctx context.Context, id SnapshotID, in inventory, report *PruneReport) (inventory, error) {
	from := id
	for range pointerTries {
		other, err := v.newest(ctx, in, func(o SnapshotID) bool { return o != id })
		if err != nil {
			return in, err
		}
		to := Sighting{}
		if other.g != nil {
			to = sighting(other.info(v.label))
		}
		if err := v.forget(ctx, from, to, report); err != nil {
			return in, err
		}
		if err := v.repoint(ctx, from, to.ID); err != nil {
			return in, err
		}
		if in, err = v.list(ctx); err != nil || to.ID == "" {
			return in, err
		}
		if other, err = v.examine(ctx, to.ID, in.groups[to.ID]); err != nil || other.whole() {
			return in, err
		}
		from = to.ID
	}
	return in, amber.Errorf(amber.KindConflict, "move pointer", LatestName(v.label), "other writers kept removing snapshots")
}

// forget has the witness remember another snapshot, if what it has seen is not
// later than what is removed: who removes that knows what is older then.
func (v *Vault) forget(ctx context.Context, from SnapshotID, to Sighting, report *PruneReport) error {
	seen, err := v.seen(ctx)
	if err != nil {
		return err
	}
	change := lowered(from, to)
	if change(seen) == seen {
		return nil
	}
	if warning := v.remember(ctx, change); warning != "" {
		report.Warnings = append(report.Warnings, fmt.Sprintf("%s; the next restore will report that %s is missing", warning, seen.ID))
	}
	return nil
}

// retreat checks, after the manifest is gone, whether another writer has moved the pointer back to the snapshot
// meanwhile. A writer does that when it removes the snapshot that the pointer named before.
func (v *Vault) retreat(ctx context.Context, id SnapshotID, report *PruneReport) error {
	now, err := v.pointer(ctx)
	if err != nil || !now.exists {
		return err
	}
	if p, err := now.parse(); err != nil || p.ID != id {
		return nil // every client repairs a bad pointer
	}
	in, err := v.list(ctx)
	if err != nil {
		return err
	}
	_, err = v.release(ctx, id, in, report)
	return err
}
