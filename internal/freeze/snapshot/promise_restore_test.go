package snapshot_test

import (
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

func restoreChecks() []check {
	return []check{
		{"restore/brings-back-exactly", bringsBack},
		{"restore/nothing-is-brought-back-as-nothing", bringsNothingBack},
		{"restore/clears-state-that-was-not-there", clearsState},
		{"restore/safety-snapshot", safetySnapshot},
		{"restore/without-safety-snapshot", withoutSafety},
		{"restore/twice", twice},
		{"restore/agent-goes-on", goesOn},
		{"restore/unknown-changes-nothing", restoreUnknown},
		{"restore/of-another-agent-is-refused", restoreOfAnother},
		{"restore/others-stay", othersStay},
	}
}

func bringsBack(w *site) {
	a := w.lived(tenant, "scout")
	s := a.snapshot("kept")
	a.live()
	a.is(a.model, "before the restore")
	a.w.tick()
	r := get(w.engine.Restore(w.ctx, wire.RestoreRequest{SnapshotRef: a.ref(s.ID)}))
	a.is(s.model, "after the restore")
	same(r.From, s.ID, "restored snapshot")
	same(r.Agent, a.id, "restored agent")
	hold(!r.DryRun, "the report tells of a dry run")
	hold(r.Generation > 0, "the report tells generation %d", r.Generation)
	restores(r, parts()...)
}

// restores ends the check unless the report names these parts, and none of the
// others.
func restores(r wire.RestoreReport, want ...string) {
	for _, p := range parts() {
		same(slices.Contains(r.Restored, p), slices.Contains(want, p), "part %s is in %v", p, r.Restored)
	}
}

func bringsNothingBack(w *site) {
	a := w.made(tenant, "scout")
	nothing := a.snapshot("nothing")
	for range 3 {
		a.remember()
	}
	a.note("plan")
	a.state(amber.StateExtractCursor)
	something := a.snapshot("something")
	a.returns(nothing)
	a.returns(something)
}

func clearsState(w *site) {
	a := w.lived(tenant, "scout")
	s := a.snapshot("one key")
	a.state(amber.StateLastConsolidation)
	a.returns(s)
	a.clearState(amber.StateExtractCursor)
	none := a.snapshot("no key")
	a.state(amber.StateExtractCursor)
	a.state(amber.StateLastConsolidation)
	a.returns(none)
	a.returns(s)
}

func safetySnapshot(w *site) {
	a := w.lived(tenant, "scout")
	s := a.snapshot("kept")
	a.live()
	safety := a.returns(s)
	list := a.list()
	a.lists(safety.ID, s.ID)
	same(list[0].Label, wire.LabelBeforeRestore+string(s.ID), "label of the safety snapshot")
	hold(!list[0].Pinned, "the safety snapshot is pinned")
	a.remember()
	a.returns(safety)
}

func withoutSafety(w *site) {
	a := w.lived(tenant, "scout")
	s := a.snapshot("kept")
	a.live()
	r := a.restore(wire.RestoreRequest{SnapshotRef: a.ref(s.ID), NoSafetySnapshot: true})
	same(r.SafetySnapshot, "", "safety snapshot")
	hold(r.OldGeneration > 0 && r.OldGeneration < r.Generation,
		"the agent as it was is in no snapshot, and old generation %d is kept beside %d", r.OldGeneration, r.Generation)
	a.model = s.model.clone()
	a.is(a.model, "after the restore")
	a.live()
	r = a.restore(wire.RestoreRequest{SnapshotRef: a.ref(s.ID), NoSafetySnapshot: true, DiscardOld: true})
	same(r.OldGeneration, 0, "old generation that was to be discarded")
	a.is(s.model, "after the second restore")
	a.lists(s.ID)
	r = a.restore(wire.RestoreRequest{SnapshotRef: a.ref(s.ID)})
	same(r.OldGeneration, 0, "old generation that a safety snapshot holds")
}

// twice restores one snapshot again: a backup under a name that was taken once
// ended the second restore half-way.
func twice(w *site) {
	a := w.lived(tenant, "scout")
	s := a.snapshot("kept")
	a.live()
	one := a.returns(s)
	two := a.returns(s) // at once, with nothing changed
	a.live()
	three := a.returns(s)
	a.lists(three.ID, two.ID, one.ID, s.ID)
	a.returns(three)
	a.returns(one)
}

func goesOn(w *site) {
	a := w.lived(tenant, "scout")
	s := a.snapshot("kept")
	a.live()
	first := a.restore(wire.RestoreRequest{SnapshotRef: a.ref(s.ID)})
	a.model = s.model.clone()
	a.live()
	a.is(a.model, "after it lived on behind a restore")
	later := a.snapshot("later")
	second := a.restore(wire.RestoreRequest{SnapshotRef: a.ref(s.ID)})
	hold(second.Generation > first.Generation, "generation %d follows %d", second.Generation, first.Generation)
	a.returns(later)
}

func restoreUnknown(w *site) {
	a := w.lived(tenant, "scout")
	s := a.snapshot("kept")
	a.live()
	for _, r := range []wire.RestoreRequest{{}, {DryRun: true}, {To: "fork"}, {Only: []string{wire.PartNotes}}} {
		r.SnapshotRef = a.ref(unknown)
		refused(must.Err(w.engine.Restore(w.ctx, r)), amber.KindNotFound, "restore %+v of a snapshot that is not there", r)
	}
	a.is(a.model, "after a restore of nothing")
	w.agent(tenant, "fork").isAbsent("after a fork of nothing")
	a.lists(s.ID)
}

func restoreOfAnother(w *site) {
	a, b := w.lived(tenant, "scout"), w.lived(tenant, "pilot")
	s := a.snapshot("of scout")
	mine := b.snapshot("of pilot")
	_, err := w.engine.Restore(w.ctx, wire.RestoreRequest{SnapshotRef: b.ref(s.ID)})
	refused(err, amber.KindCrossTenant, "restore of another agent's snapshot")
	b.is(b.model, "after another agent's snapshot was refused")
	b.lists(mine.ID)
}

func othersStay(w *site) {
	a, b, c := w.lived(tenant, "scout"), w.lived(tenant, "pilot"), w.lived(foreign, "scout")
	s := a.snapshot("kept")
	for _, x := range []*resident{a, b, c} {
		x.live()
	}
	a.returns(s)
	b.is(b.model, "after another agent was restored")
	c.is(c.model, "of another tenant, after its namesake was restored")
	b.lists()
	c.lists()
}
