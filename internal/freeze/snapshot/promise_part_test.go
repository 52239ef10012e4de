package snapshot_test

import (
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

func partChecks() []check {
	return []check{
		{"only/each-part", onlyParts},
		{"only/unknown-part-is-invalid", onlyUnknown},
		{"dry-run/changes-nothing", dryRunChangesNothing},
		{"dry-run/counts", dryRunCounts},
		{"dry-run/counts-of-one-part", dryRunOnly},
	}
}

func onlyParts(w *site) {
	a := w.lived(tenant, "scout")
	s := a.snapshot("kept")
	for _, only := range [][]string{
		{wire.PartMemory},
		{wire.PartNotes},
		{wire.PartState},
		{wire.PartNotes, wire.PartState},
		{wire.PartMemory, wire.PartNotes, wire.PartState},
	} {
		a.live()
		before := a.model
		r := a.restore(wire.RestoreRequest{SnapshotRef: a.ref(s.ID), Only: only})
		a.model = before.with(s.model, only...)
		a.is(a.model, "after the restore of only "+strings.Join(only, " and "))
		restores(r, only...)
		// The safety snapshot holds all of it, whatever is restored.
		a.returns(taken{wire.SnapshotMeta{ID: r.SafetySnapshot, Label: "taken before"}, before})
	}
}

func onlyUnknown(w *site) {
	a := w.lived(tenant, "scout")
	s := a.snapshot("kept")
	a.live()
	for _, only := range [][]string{{"memories"}, {wire.PartNotes, "everything"}, {""}} {
		_, err := w.engine.Restore(w.ctx, wire.RestoreRequest{SnapshotRef: a.ref(s.ID), Only: only})
		refused(err, amber.KindInvalid, "restore of only %q", only)
	}
	a.is(a.model, "after a restore of no known part")
	a.lists(s.ID)
}

func dryRunChangesNothing(w *site) {
	a := w.lived(tenant, "scout")
	s := a.snapshot("kept")
	a.live()
	r := a.restore(wire.RestoreRequest{SnapshotRef: a.ref(s.ID), DryRun: true})
	hold(r.DryRun, "the report of a dry run does not say so")
	same(r.SafetySnapshot, "", "safety snapshot of a dry run")
	same(r.From, s.ID, "snapshot of a dry run")
	a.is(a.model, "after a dry run")
	a.lists(s.ID)
	a.restore(wire.RestoreRequest{SnapshotRef: a.ref(s.ID), To: "fork", DryRun: true})
	w.agent(tenant, "fork").isAbsent("after the dry run of a fork")
	a.is(a.model, "after the dry run of a fork")
	a.lists(s.ID)
	a.returns(s)
}

func dryRunCounts(w *site) {
	a := w.lived(tenant, "scout")
	one := a.snapshot("one")
	a.live()
	a.live()
	a.clearState(amber.StateExtractCursor)
	two := a.snapshot("two")
	a.live()
	for _, s := range []taken{one, two} {
		r := a.restore(wire.RestoreRequest{SnapshotRef: a.ref(s.ID), DryRun: true})
		planned(r, a.model.to(s.model))
	}
	a.returns(two)
	r := a.restore(wire.RestoreRequest{SnapshotRef: a.ref(two.ID), DryRun: true})
	planned(r, deltas{})
}

// planned ends the check unless a plan has these counts.
func planned(r wire.RestoreReport, want deltas) {
	same(counted(r.Plan.Store, r.Plan.Notes, r.Plan.State), want, "what the plan counts as added, changed, removed")
}

func counted(store wire.StoreDiff, notes, state wire.FilesDiff) deltas {
	m := store.Table("memories")
	return deltas{
		delta{m.Added, m.Changed, m.Removed},
		delta{notes.Added, notes.Changed, notes.Removed},
		delta{state.Added, state.Changed, state.Removed},
	}
}

func dryRunOnly(w *site) {
	a := w.lived(tenant, "scout")
	s := a.snapshot("kept")
	a.live()
	for _, p := range parts() {
		r := a.restore(wire.RestoreRequest{SnapshotRef: a.ref(s.ID), Only: []string{p}, DryRun: true})
		planned(r, a.model.to(a.model.with(s.model, p)))
		restores(r, p)
	}
	a.is(a.model, "after three dry runs")
}
