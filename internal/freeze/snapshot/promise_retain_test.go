package snapshot_test

import (
	"slices"
	"strings"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

// stays is the law of retention. It reports whether one snapshot among those of its agent, newest
// first, stays. It checks each snapshot alone and remembers nothing, which is slow and hard to get
// wrong.
func stays(i int, all []wire.SnapshotMeta, r wire.PruneRequest, now amber.Time) bool {
	x := all[i]
	switch {
	case x.Pinned, i == 0:
		return true
	case isSafety(x):
		return newer(i, all, isSafety) < r.KeepSafety || x.CreatedAt.UnixMilli() > now.Add(-r.SafetyAge).UnixMilli()
	case newer(i, all, isPlain) == 0:
		return true
	}
	young := func(m wire.SnapshotMeta) bool {
		return isPlain(m) && (r.MaxAge == 0 || m.CreatedAt.UnixMilli() > now.Add(-r.MaxAge).UnixMilli())
	}
	return young(x) && (newer(i, all, young) < r.KeepLast || slices.ContainsFunc(r.Rules(), func(rule wire.PruneRule) bool {
		return rule.Unit != "" && keepsSlot(i, all, young, *rule.Count, begins[rule.Unit])
	}))
}

func isSafety(m wire.SnapshotMeta) bool { return strings.HasPrefix(m.Label, wire.LabelBeforeRestore) }

func isPlain(m wire.SnapshotMeta) bool { return !isSafety(m) }

// newer counts the snapshots of a sort that are newer than the one at i.
func newer(i int, all []wire.SnapshotMeta, of func(wire.SnapshotMeta) bool) (n int) {
	for _, m := range all[:i] {
		if of(m) {
			n++
		}
	}
	return n
}

// keepsSlot reports whether the snapshot at i is the newest of its slot, and
// its slot one of the n newest.
func keepsSlot(i int, all []wire.SnapshotMeta, of func(wire.SnapshotMeta) bool, n int, slot func(time.Time) time.Time) bool {
	mine := slot(all[i].CreatedAt.Time())
	slots := map[time.Time]bool{}
	for _, m := range all[:i] {
		if of(m) {
			slots[slot(m.CreatedAt.Time())] = true
		}
	}
	return !slots[mine] && len(slots) < n
}

// begins has when the unit of time of each rule begins.
var begins = map[string]func(time.Time) time.Time{
	"hour": func(t time.Time) time.Time { return t.Truncate(time.Hour) },
	"day":  day,
	"week": monday,
}

func day(t time.Time) time.Time { return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC) }

// monday is the one an ISO week begins with.
func monday(t time.Time) time.Time { return day(t).AddDate(0, 0, -(int(t.Weekday())+6)%7) }
