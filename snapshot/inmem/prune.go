package inmem

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/amber-memory/amber"
)

// PruneSnapshots implements [amber.SnapshotKeeper].
func (s *Snapshotter) PruneSnapshots(ctx context.Context, r amber.PruneRequest) (amber.PruneReport, error) {
	report := amber.PruneReport{Deleted: []amber.SnapshotID{}, Kept: []amber.Kept{}, DryRun: r.DryRun}
	if err := checkPrune(r); err != nil {
		return report, err
	}
	err := s.run(ctx, "prune snapshots", func() error {
		shelf := s.vault(r.Tenant).shelf(r.Agent)
		list := shelf.newestFirst()
		kept := retain(list, r, s.now())
		for _, x := range list {
			if why, ok := kept[x]; ok {
				report.Kept = append(report.Kept, amber.Kept{ID: x.meta.ID, Reason: why})
				continue
			}
			report.Deleted = append(report.Deleted, x.meta.ID)
			if !r.DryRun {
				shelf.delete(x)
			}
		}
		return nil
	})
	return report, err
}

func checkPrune(r amber.PruneRequest) error {
	const op = "prune snapshots"
	if err := checkNames(r.Tenant, r.Agent); err != nil {
		return err
	}
	if min(r.KeepLast, r.KeepHourly, r.KeepDaily, r.KeepWeekly, r.KeepSafety) < 0 {
		return amber.Errorf(amber.KindInvalid, op, "", "a rule keeps a negative number of snapshots")
	}
	if r.KeepLast+r.KeepHourly+r.KeepDaily+r.KeepWeekly == 0 {
		return amber.Errorf(amber.KindInvalid, op, "", "no rule keeps anything")
	}
	return nil
}

// retained are the snapshots that stay, and why: the first reason counts.
type retained map[*snapshot]string

func (k retained) keep(x *snapshot, why string) {
	if _, ok := k[x]; !ok {
		k[x] = why
	}
}

// retain decides which snapshots stay. They come newest first.
func retain(list []*snapshot, r amber.PruneRequest, now amber.Time) retained {
	kept := retained{}
	var plain, young, safety []*snapshot
	for _, x := range list {
		if x.meta.Pinned {
			kept.keep(x, "pinned")
		}
		switch {
		case r.AutomaticOnly && !strings.HasPrefix(x.meta.Label, amber.LabelAutomatic):
			kept.keep(x, "not taken automatically")
		case strings.HasPrefix(x.meta.Label, amber.LabelBeforeRestore):
			safety = append(safety, x)
		case r.MaxAge <= 0 || within(x, r.MaxAge, now):
			plain, young = append(plain, x), append(young, x)
		default:
			plain = append(plain, x)
		}
	}
	kept.last(young, r.KeepLast)
	kept.slots(young, r.KeepHourly, "hourly", func(t time.Time) string { return t.Format("2006-01-02 15h") })
	kept.slots(young, r.KeepDaily, "daily", func(t time.Time) string { return t.Format(time.DateOnly) })
	kept.slots(young, r.KeepWeekly, "weekly", week)
	for i, x := range safety {
		if i < r.KeepSafety || r.SafetyAge > 0 && within(x, r.SafetyAge, now) {
			kept.keep(x, "taken before a restore")
		}
	}
	for _, newest := range [][]*snapshot{list, plain} {
		if len(newest) > 0 {
			kept.keep(newest[0], "the last one")
		}
	}
	return kept
}

func within(x *snapshot, age time.Duration, now amber.Time) bool {
	return !x.meta.CreatedAt.Before(now.Add(-age))
}

// last keeps the first n.
func (k retained) last(list []*snapshot, n int) {
	for i, x := range list[:min(n, len(list))] {
		k.keep(x, fmt.Sprintf("last %d", i+1))
	}
}

// slots keeps the newest of each of the n newest slots of time that have one.
func (k retained) slots(list []*snapshot, n int, rule string, slot func(time.Time) string) {
	seen := map[string]bool{}
	for _, x := range list {
		name := slot(x.meta.CreatedAt.Time())
		if seen[name] || len(seen) == n {
			continue
		}
		seen[name] = true
		k.keep(x, rule+" "+name)
	}
}

func week(t time.Time) string {
	year, n := t.ISOWeek()
	return fmt.Sprintf("%d-W%02d", year, n)
}
