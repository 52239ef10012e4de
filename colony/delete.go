package colony

import (
	"context"
	"fmt"

	"github.com/amber-memory/amber"
)

// Delete removes a snapshot, or the parts that there are of one. If the pointer
// names it, the pointer first comes to name the newest other complete one, or is
// removed when there is none. Errors: not_found, invalid for what is no id; the
// report says what was removed, as that of [Vault.Prune].
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
		return report, amber.Errorf(amber.KindNotFound, "find snapshot", string(id), "there is none of this id")
	}
	other, err := v.newest(ctx, in, func(o SnapshotID) bool { return o != id })
	if err != nil {
		return report, err
	}
	if !dryRun {
		if err := v.release(ctx, id, other, &report); err != nil {
			return report, err
		}
	}
	for _, o := range in.ids {
		if o != id && in.groups[o].manifest != nil {
			report.Kept = append(report.Kept, o)
		}
	}
	r := removal{v: v, report: &report, planned: dryRun, total: len(g.parts) + 1}
	r.snapshot(ctx, g)
	return report, r.first
}

// release has the witness and the pointer no longer name a snapshot. Both come
// before it is removed: when that stops halfway, nobody misses it.
func (v *Vault) release(ctx context.Context, id SnapshotID, other found, report *PruneReport) error {
	var to Sighting
	if other.g != nil {
		to = sighting(other.info(v.label))
	}
	seen, err := v.seen(ctx)
	if err != nil {
		return err
	}
	// Who removes what is as new as what was seen knows that it is older then.
	if seen.ID != "" && seen.ID <= id && to.ID < seen.ID {
		if warning := v.remember(ctx, to); warning != "" {
			report.Warnings = append(report.Warnings, fmt.Sprintf("%s; the next restore will miss %s", warning, seen.ID))
		}
	}
	return v.repoint(ctx, id, to.ID)
}
