package snapshot_test

import (
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

func pruneRuleChecks() []check {
	return []check{
		{"prune/keep-last", pruneLast},
		{"prune/keep-hourly", pruneHourly},
		{"prune/keep-daily", pruneDaily},
		{"prune/keep-weekly", pruneWeekly},
		{"prune/max-age", pruneMaxAge},
		{"prune/one-rule-is-enough", pruneUnion},
	}
}

// takenAt takes a snapshot at each of these times, given in their order, and
// returns their ids by the times.
func (a *resident) takenAt(times ...string) map[string]amber.SnapshotID {
	ids := map[string]amber.SnapshotID{}
	for _, s := range times {
		at := get(time.Parse("2006-01-02 15:04:05", s))
		a.w.pass(at.Sub(a.w.clock.Now()) - time.Second)
		ids[s] = a.snapshot("").ID
	}
	return ids
}

// prunes ends the check unless the rules keep the snapshots of these times,
// newest first, of those that are given.
func (w *site) prunes(r wire.PruneRequest, times []string, want ...string) {
	a := w.made(tenant, "scout")
	a.remember()
	ids := a.takenAt(times...)
	a.prune(r)
	var kept []amber.SnapshotID
	for _, s := range want {
		kept = append(kept, ids[s])
	}
	a.lists(kept...)
}

func pruneLast(w *site) {
	w.prunes(wire.PruneRequest{KeepLast: 2}, []string{
		"2026-05-01 10:00:00", "2026-05-01 10:00:05", "2026-05-01 10:00:10", "2026-06-01 10:00:00",
	}, "2026-06-01 10:00:00", "2026-05-01 10:00:10")
}

// pruneHourly has hours without a snapshot: those that have one count.
func pruneHourly(w *site) {
	w.prunes(wire.PruneRequest{KeepHourly: 3}, []string{
		"2026-05-01 08:59:59", "2026-05-01 09:10:00", "2026-05-01 09:50:00", "2026-05-01 12:00:00", "2026-05-01 12:59:59", "2026-05-02 12:30:00",
	}, "2026-05-02 12:30:00", "2026-05-01 12:59:59", "2026-05-01 09:50:00")
}

func pruneDaily(w *site) {
	w.prunes(wire.PruneRequest{KeepDaily: 3}, []string{
		"2026-05-01 23:59:59", "2026-05-02 00:00:00", "2026-05-02 23:00:00", "2026-05-09 01:00:00", "2026-05-10 01:00:00", "2026-05-10 02:00:00",
	}, "2026-05-10 02:00:00", "2026-05-09 01:00:00", "2026-05-02 23:00:00")
}

// pruneWeekly goes over the end of a year: a week of ISO 8601 begins on Monday
// and belongs to one year only.
func pruneWeekly(w *site) {
	w.prunes(wire.PruneRequest{KeepWeekly: 3}, []string{
		"2026-12-20 12:00:00", // Sunday of week 51
		"2026-12-21 12:00:00", // Monday of week 52
		"2026-12-27 12:00:00", // Sunday of week 52
		"2026-12-30 12:00:00", // week 53
		"2027-01-03 12:00:00", // Sunday of week 53 of 2026
		"2027-01-04 00:00:00", // Monday of week 1
	}, "2027-01-04 00:00:00", "2027-01-03 12:00:00", "2026-12-27 12:00:00")
}

func pruneMaxAge(w *site) {
	w.prunes(wire.PruneRequest{KeepLast: 10, KeepDaily: 10, MaxAge: 48 * time.Hour}, []string{
		"2026-05-01 10:00:00", "2026-05-02 10:00:00", "2026-05-02 10:00:02", "2026-05-04 10:00:01",
	}, "2026-05-04 10:00:01", "2026-05-02 10:00:02")
}

func pruneUnion(w *site) {
	w.prunes(wire.PruneRequest{KeepLast: 2, KeepDaily: 2, KeepWeekly: 2}, []string{
		"2026-05-01 10:00:00", "2026-05-02 10:00:00", "2026-05-05 10:00:00", "2026-05-05 11:00:00", "2026-05-06 10:00:00", "2026-05-06 11:00:00",
	}, "2026-05-06 11:00:00", "2026-05-06 10:00:00", "2026-05-05 11:00:00", "2026-05-02 10:00:00")
}
