package colony

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/amber-memory/amber"
)

// Prune removes the snapshots that are older than the keep newest complete ones, and
// parts without a snapshot that are older than the grace time. It never removes the
// snapshot that the pointer names, a newer one, or one of another label with the
// same file names; if the newest snapshot has no text, it also keeps the newest one
// that has. It mends a bad pointer first, then reads and checks the newest snapshot
// that stays. If either fails, nothing is removed.
//
// The report says what was really removed, also beside an error, which has the
// kind of the first failure. Errors also: invalid when keep is below 1; damaged
// when there are snapshots or a pointer, and none is complete, or the newest
// cannot be restored; conflict when the label is used under another name, or the
// pointer was moved back meanwhile.
func (v *Vault) Prune(ctx context.Context, keep int, dryRun bool) (PruneReport, error) {
	r, err := v.prune(ctx, keep, dryRun, false)
	return r, v.wrap("prune", err)
}

// prune is Prune. With filled, the newest snapshot with text in it is kept as
// well, and so is what is to be spared. When others prune at once to what is
// newer, it looks again.
func (v *Vault) prune(ctx context.Context, keep int, dryRun, filled bool, spared ...SnapshotID) (PruneReport, error) {
	const most = 3
	for try := 1; ; try++ {
		r, err := v.pruneOnce(ctx, keep, dryRun, filled, spared)
		if try == most || !errors.Is(err, errVanished) {
			return r, err
		}
	}
}

func (v *Vault) pruneOnce(ctx context.Context, keep int, dryRun, filled bool, spared []SnapshotID) (PruneReport, error) {
	report := v.emptyReport(dryRun)
	if keep < 1 {
		return report, amber.Errorf(amber.KindInvalid, "prune", "", "keep is below 1, want at least one snapshot")
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
	s := sweep{removal: removal{v: v, report: &report}, w: w, spared: slices.Clone(spared)}
	if err := s.plan(ctx, keep, filled); err != nil {
		return report, err
	}
	return report, s.run(ctx)
}

// litter removes orphans where no snapshot is complete: they may be all that
// fills the vault. Anything else that is there is damaged.
func (v *Vault) litter(ctx context.Context, w view, report *PruneReport) error {
	s := sweep{removal: removal{v: v, report: report}, w: w}
	if err := s.sort(ctx, ""); err != nil {
		return err
	}
	if err := s.run(ctx); err != nil {
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
	report.Warnings = append(report.Warnings, fmt.Sprintf("%s: the pointer now names %s", w.bad, to))
	w.named = w.head.g.id // what is later than it is left alone
	return nil
}

// boundary returns the oldest of the keep newest snapshots that are sound, none
// later than the pointer's, "" when there are no more than that; and the newest
// of them.
func (v *Vault) boundary(ctx context.Context, w view, keep int) (bound SnapshotID, newest found, err error) {
	for _, id := range w.ids {
		if id > w.named {
			continue
		}
		f, ok, err := v.sound(ctx, id, w.groups[id])
		if err != nil {
			return "", newest, err
		}
		if !ok {
			continue
		}
		if newest.g == nil {
			newest = f
		}
		if keep--; keep == 0 {
			return id, newest, nil
		}
	}
	return "", newest, nil
}

// sound reports whether a snapshot can be restored, as far as its manifest tells,
// and is one of this label.
func (v *Vault) sound(ctx context.Context, id SnapshotID, g *group) (found, bool, error) {
	if g.manifest == nil {
		return found{}, false, nil
	}
	f, err := v.examine(ctx, id, g)
	if err != nil || !f.whole() || v.collides(f) != nil {
		return f, false, err
	}
	if _, err = f.m.Check(ctx, v.reading(id)); err != nil && !told(err) {
		return f, false, err
	}
	return f, err == nil, nil
}
