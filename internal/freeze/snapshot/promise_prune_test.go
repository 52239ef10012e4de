package snapshot_test

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

func pruneChecks() []check {
	return []check{
		{"prune/rules-that-keep-nothing-are-invalid", pruneInvalid},
		{"prune/dry-run-changes-nothing", pruneDryRun},
		{"prune/never-the-last", pruneNeverTheLast},
		{"prune/pinned-stay", prunePinned},
		{"prune/safety-snapshots-have-their-own-rule", pruneSafety},
		{"prune/automatic-only-spares-the-others", pruneAutomatic},
		{"prune/other-agents-stay", pruneOthers},
		{"prune/any-rules", pruneAnyRules},
	}
}

// prune prunes and ends the check unless the report is that of the law, and
// the listing what the report says.
func (a *resident) prune(r wire.PruneRequest) wire.PruneReport {
	r.Tenant, r.Agent = a.tenant, a.id
	before := a.list()
	var kept, gone []amber.SnapshotID
	for i, m := range before {
		if stays(i, before, r, a.w.now()) {
			kept = append(kept, m.ID)
		} else {
			gone = append(gone, m.ID)
		}
	}
	report := get(a.w.engine.PruneSnapshots(a.w.ctx, r))
	same(report.DryRun, r.DryRun, "dry run of the report")
	var told []amber.SnapshotID
	for _, k := range report.Kept {
		hold(k.Reason != "", "snapshot %s is kept for no reason", k.ID)
		told = append(told, k.ID)
	}
	sameSet(before, report.Deleted, gone, "deleted by %+v", r)
	sameSet(before, told, kept, "kept by %+v", r)
	if r.DryRun {
		kept = idsOf(before)
	}
	a.lists(kept...)
	return report
}

// sameSet compares ids in any order. Its error names each snapshot by its time and label.
func sameSet(all []wire.SnapshotMeta, got, want []amber.SnapshotID, what string, args ...any) {
	times := func(ids []amber.SnapshotID) (list []string) {
		for _, id := range ids {
			at := "unknown " + string(id)
			for _, m := range all {
				if m.ID == id {
					at = m.CreatedAt.String() + " " + m.Label
				}
			}
			list = append(list, at)
		}
		slices.Sort(list)
		return list
	}
	g, w := times(got), times(want)
	hold(slices.Equal(g, w), what+": got %q, want %q", append(args, g, w)...)
}

func pruneInvalid(w *site) {
	a := w.lived(tenant, "scout")
	one, two := a.snapshot(""), a.snapshot("")
	for _, r := range []wire.PruneRequest{
		{},
		{MaxAge: time.Hour},
		{KeepLast: -1},
		{KeepLast: 1, KeepDaily: -1},
		{KeepLast: 1, KeepSafety: -1},
	} {
		r.Tenant, r.Agent = tenant, a.id
		refused(must.Err(w.engine.PruneSnapshots(w.ctx, r)), amber.KindInvalid, "prune %+v", r)
	}
	a.lists(two.ID, one.ID)
}

func pruneDryRun(w *site) {
	a := w.lived(tenant, "scout")
	one := a.snapshot("")
	a.snapshot("")
	a.snapshot("")
	r := a.prune(wire.PruneRequest{KeepLast: 1, DryRun: true})
	same(len(r.Deleted), 2, "snapshots that a dry run would delete")
	a.live()
	a.returns(one)
}

func pruneNeverTheLast(w *site) {
	a := w.lived(tenant, "scout")
	a.snapshot("")
	s := a.snapshot("last")
	w.pass(1000 * time.Hour)
	a.prune(wire.PruneRequest{KeepLast: 5, MaxAge: time.Hour})
	a.lists(s.ID)
	// A safety snapshot on top is the newest. That is no reason to delete the newest snapshot that
	// a person took.
	a.live()
	safety := a.returns(s)
	w.pass(1000 * time.Hour)
	a.prune(wire.PruneRequest{KeepLast: 5, MaxAge: time.Hour})
	a.lists(safety.ID, s.ID)
	a.returns(safety)
}

func prunePinned(w *site) {
	a := w.lived(tenant, "scout")
	pinned := a.snapshot("pinned")
	a.pin(pinned.ID, true)
	a.live()
	safety := a.returns(pinned)
	a.pin(safety.ID, true)
	a.snapshot("")
	s := a.snapshot("last")
	w.pass(1000 * time.Hour)
	a.prune(wire.PruneRequest{KeepLast: 1, MaxAge: time.Hour})
	a.lists(s.ID, safety.ID, pinned.ID)
	a.pin(pinned.ID, false)
	a.pin(safety.ID, false)
	a.prune(wire.PruneRequest{KeepLast: 1})
	a.lists(s.ID)
}

func pruneSafety(w *site) {
	a := w.lived(tenant, "scout")
	s := a.snapshot("kept")
	var safety []amber.SnapshotID
	for range 4 {
		w.pass(time.Hour)
		safety = append(safety, a.returns(s).ID)
	}
	last := a.snapshot("last")
	w.pass(30 * time.Minute)
	// They count for no other rule, so that both others are the last two.
	a.prune(wire.PruneRequest{KeepLast: 2, KeepSafety: 3})
	a.lists(last.ID, safety[3], safety[2], safety[1], s.ID)
	a.prune(wire.PruneRequest{KeepLast: 2, SafetyAge: 100 * time.Minute})
	a.lists(last.ID, safety[3], safety[2], s.ID)
	a.prune(wire.PruneRequest{KeepLast: 1, KeepHourly: 10, KeepDaily: 10, KeepWeekly: 10})
	a.lists(last.ID, s.ID)
}

// A snapshot that a person took stays, whatever the rules. The rules do not count it against the
// others.
func pruneAutomatic(w *site) {
	a := w.lived(tenant, "scout")
	var all []taken
	for _, label := range []string{"named", "", "auto:scheduled", "auto:pre-tool-x", "named again", "auto:scheduled", ""} {
		w.pass(24 * time.Hour)
		all = append(all, a.snapshot(label))
	}
	w.pass(1000 * time.Hour)
	report := get(w.engine.PruneSnapshots(w.ctx, wire.PruneRequest{Tenant: a.tenant, Agent: a.id, KeepLast: 1, MaxAge: 1100 * time.Hour, AutomaticOnly: true}))
	same(len(report.Deleted), 2, "pruned snapshots")
	a.lists(all[6].ID, all[5].ID, all[4].ID, all[1].ID, all[0].ID)
}

func pruneOthers(w *site) {
	a, b, c := w.lived(tenant, "scout"), w.lived(tenant, "pilot"), w.lived(foreign, "scout")
	for _, x := range []*resident{a, b, c} {
		x.snapshot("")
		x.snapshot("")
	}
	a.prune(wire.PruneRequest{KeepLast: 1})
	same(len(b.list()), 2, "snapshots of another agent")
	same(len(c.list()), 2, "snapshots of a namesake")
}

// pruneAnyRules takes snapshots at random times, some of them before a
// restore, some pinned, and prunes by random rules.
func pruneAnyRules(w *site) {
	rng := rand.New(rand.NewPCG(4, 2))
	a := w.made(tenant, "scout")
	a.remember()
	steps := []time.Duration{7 * time.Minute, 40 * time.Minute, 5 * time.Hour, 23 * time.Hour, 80 * time.Hour, 400 * time.Hour}
	first := a.snapshot("first")
	for range 16 {
		w.pass(steps[rng.IntN(len(steps))])
		switch rng.IntN(4) {
		case 0:
			a.returns(first)
		case 1:
			a.pin(a.snapshot("pinned").ID, true)
		default:
			a.snapshot("")
		}
	}
	w.pass(11 * time.Minute)
	rule := func() wire.PruneRequest {
		few := func() int { return rng.IntN(6) * rng.IntN(2) }
		r := wire.PruneRequest{KeepSafety: few(), DryRun: true}
		kept := 0
		for _, rule := range r.Rules() {
			*rule.Count = few()
			kept += *rule.Count
		}
		if kept == 0 {
			r.KeepLast = 1
		}
		if rng.IntN(2) == 0 {
			r.MaxAge = time.Duration(rng.IntN(1500)+1) * time.Hour
		}
		if rng.IntN(2) == 0 {
			r.SafetyAge = time.Duration(rng.IntN(500)+1) * time.Hour
		}
		return r
	}
	for range 60 {
		a.prune(rule())
	}
	for range 3 {
		r := rule()
		r.DryRun = false
		a.prune(r)
	}
}
