package snapshottest_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/amber-memory/amber"
)

type pruneFunc = func(b *broken, ctx context.Context, r amber.PruneRequest) (amber.PruneReport, error)

func keepMutants() []mutant {
	return []mutant{
		{"delete does not look at the pin", "pin/keeps-from-deletion", false, broken{
			del: func(b *broken, ctx context.Context, ref amber.SnapshotRef) error { return b.force(ctx, ref) },
		}},
		{"a second pin unpins", "pin/keeps-from-deletion", false, broken{
			pin: func(b *broken, ctx context.Context, ref amber.SnapshotRef, pinned bool) error {
				d, err := b.Snapshotter.ShowSnapshot(ctx, ref)
				if err != nil {
					return err
				}
				return b.Snapshotter.PinSnapshot(ctx, ref, pinned && !d.Pinned)
			},
		}},
		{"pins are gone after opening again", "pin/keeps-from-deletion", false, broken{
			reopened: func(b *broken) {
				ctx := context.Background()
				for _, m := range b.all(ctx, "acme", "scout") {
					_ = b.Snapshotter.PinSnapshot(ctx, amber.SnapshotRef{Tenant: m.Tenant, Agent: m.Agent, ID: m.ID}, false)
				}
			},
		}},
		{"pin of nothing is well", "pin/unknown-is-not-found", false, broken{
			pin: func(b *broken, ctx context.Context, ref amber.SnapshotRef, pinned bool) error {
				return hide(b.Snapshotter.PinSnapshot(ctx, ref, pinned), amber.KindNotFound)
			},
		}},
		{"deleted snapshots are only hidden", "delete/is-gone", false, broken{
			del: func(b *broken, ctx context.Context, ref amber.SnapshotRef) error {
				if _, err := b.Snapshotter.ShowSnapshot(ctx, ref); err != nil || b.notes[string(ref.ID)] != nil {
					return errors.Join(err, amber.Errorf(amber.KindNotFound, "delete", "", "it is gone"))
				}
				b.notes[string(ref.ID)] = true
				return nil
			},
			list: func(b *broken, ctx context.Context, q amber.SnapshotQuery) (amber.Page[amber.SnapshotMeta], error) {
				page, err := b.Snapshotter.ListSnapshots(ctx, q)
				page.Items = slices.DeleteFunc(page.Items, func(m amber.SnapshotMeta) bool { return b.notes[string(m.ID)] != nil })
				return page, err
			},
		}},
		{"deletion of the last is well and does nothing", "delete/last-is-refused", false, broken{
			del: func(b *broken, ctx context.Context, ref amber.SnapshotRef) error {
				return hide(b.Snapshotter.DeleteSnapshot(ctx, ref), amber.KindRefused)
			},
		}},
		{"deletion of nothing is well", "delete/unknown-is-not-found", false, broken{
			del: func(b *broken, ctx context.Context, ref amber.SnapshotRef) error {
				return hide(b.Snapshotter.DeleteSnapshot(ctx, ref), amber.KindNotFound)
			},
		}},
		{"deletion takes the next one with it", "delete/others-stay-restorable", true, broken{
			del: func(b *broken, ctx context.Context, ref amber.SnapshotRef) error {
				all := b.all(ctx, ref.Tenant, ref.Agent)
				at := slices.IndexFunc(all, func(m amber.SnapshotMeta) bool { return m.ID == ref.ID })
				if err := b.Snapshotter.DeleteSnapshot(ctx, ref); err != nil {
					return err
				}
				if at > 0 {
					ref.ID = all[at-1].ID
					_ = b.Snapshotter.DeleteSnapshot(ctx, ref)
				}
				return nil
			},
		}},
		{"gc breaks snapshots taken before a deletion", "delete/others-stay-restorable", true, broken{
			gc: func(b *broken, ctx context.Context, r amber.GCRequest) (amber.GCReport, error) {
				b.notes["swept"] = b.clock.Now()
				return b.Snapshotter.CollectGarbage(ctx, r)
			},
			restore: damagedAfterGC,
		}},
		{"gc breaks the snapshots of others", "gc/frees-nothing-that-is-needed", false, broken{
			gc: func(b *broken, ctx context.Context, r amber.GCRequest) (amber.GCReport, error) {
				b.notes["swept"] = b.clock.Now()
				return b.Snapshotter.CollectGarbage(ctx, r)
			},
			restore: func(b *broken, ctx context.Context, r amber.RestoreRequest) (amber.RestoreReport, error) {
				if r.Agent == "pilot" {
					return damagedAfterGC(b, ctx, r)
				}
				return b.Snapshotter.Restore(ctx, r)
			},
		}},
		{"dry run of gc frees", "gc/dry-run-changes-nothing", false, broken{
			gc: func(b *broken, ctx context.Context, r amber.GCRequest) (amber.GCReport, error) {
				was := r.DryRun
				b.notes["runs"] = asInt(b.notes["runs"]) + 1
				r.DryRun = asInt(b.notes["runs"]) < 3 // until somebody has seen what is there
				report, err := b.Snapshotter.CollectGarbage(ctx, r)
				report.DryRun = was
				return report, err
			},
		}},
	}
}

// damagedAfterGC refuses snapshots that were taken before the last gc.
func damagedAfterGC(b *broken, ctx context.Context, r amber.RestoreRequest) (amber.RestoreReport, error) {
	d, err := b.Snapshotter.ShowSnapshot(ctx, r.SnapshotRef)
	if swept, ok := b.notes["swept"].(time.Time); ok && err == nil && d.CreatedAt.Time().Before(swept) {
		return amber.RestoreReport{}, amber.Errorf(amber.KindDamaged, "restore", string(r.ID), "a part is missing")
	}
	return b.Snapshotter.Restore(ctx, r)
}

// ruling changes the rules.
func ruling(f func(r *amber.PruneRequest)) pruneFunc {
	return func(b *broken, ctx context.Context, r amber.PruneRequest) (amber.PruneReport, error) {
		f(&r)
		return b.Snapshotter.PruneSnapshots(ctx, r)
	}
}

// also deletes more than the rules do: what f says of those that are left,
// newest first.
func also(f func(b *broken, i int, m amber.SnapshotMeta, r amber.PruneRequest) bool) pruneFunc {
	return func(b *broken, ctx context.Context, r amber.PruneRequest) (amber.PruneReport, error) {
		report, err := b.Snapshotter.PruneSnapshots(ctx, r)
		if err != nil || r.DryRun {
			return report, err
		}
		for i, m := range b.all(ctx, r.Tenant, r.Agent) {
			if f(b, i, m, r) && b.force(ctx, amber.SnapshotRef{Tenant: r.Tenant, Agent: r.Agent, ID: m.ID}) == nil {
				report.Deleted = append(report.Deleted, m.ID)
				report.Kept = slices.DeleteFunc(report.Kept, func(k amber.Kept) bool { return k.ID == m.ID })
			}
		}
		return report, nil
	}
}

func isSafety(m amber.SnapshotMeta) bool { return strings.HasPrefix(m.Label, amber.LabelBeforeRestore) }

func pruneMutants() []mutant {
	return []mutant{
		{"no rules keep everything", "prune/rules-that-keep-nothing-are-invalid", false, broken{
			prune: ruling(func(r *amber.PruneRequest) { r.KeepLast = max(r.KeepLast, 1) }),
		}},
		{"dry run prunes", "prune/dry-run-changes-nothing", true, broken{
			prune: func(b *broken, ctx context.Context, r amber.PruneRequest) (amber.PruneReport, error) {
				was := r.DryRun
				r.DryRun = !was
				report, err := b.Snapshotter.PruneSnapshots(ctx, r)
				report.DryRun = was
				return report, err
			},
		}},
		{"age takes the last one that somebody took", "prune/never-the-last", false, broken{
			prune: also(func(_ *broken, i int, m amber.SnapshotMeta, r amber.PruneRequest) bool {
				return i > 0 && r.MaxAge > 0 && !m.Pinned
			}),
		}},
		{"age takes pinned ones", "prune/pinned-stay", false, broken{
			prune: also(func(_ *broken, i int, m amber.SnapshotMeta, r amber.PruneRequest) bool {
				return i > 0 && r.MaxAge > 0 && m.Pinned
			}),
		}},
		{"safety snapshots are kept by other rules", "prune/safety-snapshots-have-their-own-rule", true, broken{
			prune: ruling(func(r *amber.PruneRequest) { r.KeepSafety = max(r.KeepSafety, r.KeepHourly, r.KeepLast) }),
		}},
		{"safety snapshots are kept whatever the rule", "prune/safety-snapshots-have-their-own-rule", true, broken{
			prune: ruling(func(r *amber.PruneRequest) { r.KeepSafety = 100 }),
		}},
		{"young safety snapshots go", "prune/safety-snapshots-have-their-own-rule", false, broken{
			prune: ruling(func(r *amber.PruneRequest) { r.SafetyAge = 0 }),
		}},
		{"rules hold for what a person took", "prune/automatic-only-spares-the-others", false, broken{
			prune: func(b *broken, ctx context.Context, r amber.PruneRequest) (amber.PruneReport, error) {
				r.AutomaticOnly = false
				return b.Snapshotter.PruneSnapshots(ctx, r)
			},
		}},
		{"what a prune leaves is broken by gc", "prune/rest-stays-restorable", true, broken{
			gc: func(b *broken, ctx context.Context, r amber.GCRequest) (amber.GCReport, error) {
				b.notes["swept"] = b.clock.Now()
				return b.Snapshotter.CollectGarbage(ctx, r)
			},
			restore: damagedAfterGC,
		}},
		{"prune takes those of other agents too", "prune/other-agents-stay", false, broken{
			prune: func(b *broken, ctx context.Context, r amber.PruneRequest) (amber.PruneReport, error) {
				report, err := b.Snapshotter.PruneSnapshots(ctx, r)
				r.Agent = "pilot"
				_, _ = b.Snapshotter.PruneSnapshots(ctx, r)
				return report, err
			},
		}},
		{"one more is kept", "prune/keep-last", true, broken{
			prune: ruling(func(r *amber.PruneRequest) {
				if r.KeepLast > 0 {
					r.KeepLast++
				}
			}),
		}},
		{"hours without a snapshot count", "prune/keep-hourly", false, broken{
			prune: also(func(b *broken, i int, m amber.SnapshotMeta, r amber.PruneRequest) bool {
				oldest := b.clock.Now().Add(-time.Duration(r.KeepHourly) * time.Hour)
				return i > 0 && r.KeepHourly > 0 && m.CreatedAt.Time().Before(oldest)
			}),
		}},
		{"days are as good as hours", "prune/keep-daily", false, broken{
			prune: ruling(func(r *amber.PruneRequest) { r.KeepHourly = max(r.KeepHourly, r.KeepDaily) }),
		}},
		{"weeks are as good as days", "prune/keep-weekly", false, broken{
			prune: ruling(func(r *amber.PruneRequest) { r.KeepDaily = max(r.KeepDaily, r.KeepWeekly) }),
		}},
		{"age does not matter", "prune/max-age", false, broken{
			prune: ruling(func(r *amber.PruneRequest) { r.MaxAge = 0 }),
		}},
		{"all rules have to keep it", "prune/one-rule-is-enough", false, broken{
			prune: also(func(_ *broken, i int, m amber.SnapshotMeta, r amber.PruneRequest) bool {
				return i > 0 && i >= r.KeepLast && r.KeepLast > 0 && !m.Pinned && !isSafety(m)
			}),
		}},
		{"the weekly rule is forgotten", "prune/any-rules", false, broken{
			prune: ruling(func(r *amber.PruneRequest) {
				if r.KeepLast+r.KeepHourly+r.KeepDaily > 0 {
					r.KeepWeekly = 0
				}
			}),
		}},
		{"report does not tell why", "prune/any-rules", true, broken{
			prune: func(b *broken, ctx context.Context, r amber.PruneRequest) (amber.PruneReport, error) {
				report, err := b.Snapshotter.PruneSnapshots(ctx, r)
				for i := range report.Kept {
					report.Kept[i].Reason = ""
				}
				return report, err
			},
		}},
	}
}
