package colony

import (
	"context"
	"fmt"
	"slices"

	"github.com/amber-memory/amber"
)

// Prune removes snapshots that are older than the keep newest complete ones up to
// the one that the pointer names, and parts of no snapshot that are older than
// the grace time. What the pointer names, and what is newer, is never removed. A
// bad pointer is mended first; when that fails, nothing is removed.
//
// The report says what was really removed, also beside an error, which has the
// kind of the first failure. Errors also: invalid when keep is below 1; damaged
// when there are snapshots or a pointer, and none is complete; conflict when the
// label is used under another name.
func (v *Vault) Prune(ctx context.Context, keep int, dryRun bool) (PruneReport, error) {
	r, err := v.prune(ctx, keep, dryRun, false)
	return r, v.wrap("prune", err)
}

// prune is Prune. With filled, the newest snapshot with text in it is kept as
// well.
func (v *Vault) prune(ctx context.Context, keep int, dryRun, filled bool) (PruneReport, error) {
	report := v.emptyReport(dryRun)
	if keep < 1 {
		return report, amber.Errorf(amber.KindInvalid, "prune", "", "at least one snapshot is kept")
	}
	w, err := v.look(ctx)
	if err != nil || w.empty() {
		return report, err
	}
	if w.head.g == nil {
		return report, v.litter(ctx, w, &report)
	}
	if err := v.collides(w.head); err != nil {
		return report, err
	}
	if err := v.mend(ctx, &w, &report); err != nil {
		return report, err
	}
	bound, err := v.boundary(ctx, w, keep)
	if err != nil {
		return report, err
	}
	var also SnapshotID
	if filled {
		if also, err = v.newestFilled(ctx, w); err != nil {
			return report, err
		}
	}
	return report, v.sweep(ctx, w, bound, also, &report)
}

// litter removes orphans where no snapshot is complete: they may be all that
// fills the vault. Anything else that is there is damaged.
func (v *Vault) litter(ctx context.Context, w view, report *PruneReport) error {
	if err := v.sweep(ctx, w, "", "", report); err != nil {
		return err
	}
	if w.pointer != nil || w.later("") {
		return w.nothing()
	}
	return nil
}

func (v *Vault) emptyReport(dryRun bool) PruneReport {
	return PruneReport{
		Label: v.label, Kept: []SnapshotID{}, Deleted: []SnapshotID{}, Failed: []Failure{}, Orphans: []string{}, Planned: dryRun,
	}
}

// mend has a bad pointer name the newest complete snapshot.
func (v *Vault) mend(ctx context.Context, w *view, report *PruneReport) error {
	if w.good() {
		return nil
	}
	to := w.head.g.id
	if !report.Planned {
		m, err := v.point(ctx, to)
		if err != nil {
			return err
		}
		if m.by.g != nil {
			to = m.by.g.id
		}
	}
	report.Warnings = append(report.Warnings, fmt.Sprintf("%s: it is made to name %s", w.bad, to))
	w.named = w.head.g.id // what is later than it is left alone
	return nil
}

// boundary returns the oldest of the keep newest snapshots that are sound, none
// later than the pointer's; "" when there are no more than that.
func (v *Vault) boundary(ctx context.Context, w view, keep int) (SnapshotID, error) {
	for _, id := range w.ids {
		if id > w.named || w.groups[id].manifest == nil {
			continue
		}
		ok, err := v.sound(ctx, id, w.groups[id])
		if err != nil {
			return "", err
		}
		if ok {
			keep--
		}
		if keep == 0 {
			return id, nil
		}
	}
	return "", nil
}

// sound reports whether a snapshot can be restored, as far as its manifest tells.
func (v *Vault) sound(ctx context.Context, id SnapshotID, g *group) (bool, error) {
	f, err := v.examine(ctx, id, g)
	if err != nil || !f.whole() {
		return false, err
	}
	if _, err = f.m.Check(ctx, v.reading(id)); err != nil && !told(err) {
		return false, err
	}
	return err == nil, nil
}

// newestFilled returns the newest complete snapshot that has text in it.
func (v *Vault) newestFilled(ctx context.Context, w view) (SnapshotID, error) {
	for _, id := range w.ids {
		if w.groups[id].manifest == nil {
			continue
		}
		f, err := v.examine(ctx, id, w.groups[id])
		if err != nil {
			return "", err
		}
		if f.whole() && !f.m.blank() {
			return id, nil
		}
	}
	return "", nil
}

// blank reports whether the documents that a manifest declares have no text.
func (m Manifest) blank() bool {
	if m.Info.Encrypted {
		return false // it does not tell
	}
	none := Documents{}
	for _, name := range m.Info.DocNames {
		none[name] = ""
	}
	return m.Info.ByteSize <= int64(len(none.canonical()))
}

// sweep removes what is older than bound, beside one, and orphans.
func (v *Vault) sweep(ctx context.Context, w view, bound, also SnapshotID, report *PruneReport) error {
	r := removal{v: v, report: report, planned: report.Planned}
	var old, orphans []*group
	for _, id := range slices.Backward(w.ids) { // the oldest first
		g := w.groups[id]
		switch {
		case g.manifest == nil && id != w.named && v.stale(g):
			orphans = append(orphans, g)
		case g.manifest != nil && id < bound && id != also:
			old = append(old, g)
		case g.manifest != nil:
			report.Kept = append(report.Kept, id)
		}
	}
	slices.Reverse(report.Kept)
	for _, g := range old {
		r.total += len(g.parts) + 1
	}
	for _, g := range orphans {
		r.total += len(g.parts)
	}
	for _, g := range old {
		r.snapshot(ctx, g)
	}
	for _, g := range orphans {
		r.orphans(ctx, g)
	}
	return r.first
}

// stale reports whether nobody can still be at work on parts that belong to no
// snapshot: neither their id nor any of them is younger than the grace time.
func (v *Vault) stale(g *group) bool {
	return !g.newestTime().After(v.now().Add(-v.o.Grace))
}
