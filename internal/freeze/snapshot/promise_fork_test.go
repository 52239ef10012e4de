package snapshot_test

import (
	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

func forkChecks() []check {
	return []check{
		{"fork/makes-another-agent", forkMakes},
		{"fork/existing-agent-is-a-conflict", forkConflict},
		{"fork/both-go-on-apart", forkApart},
		{"fork/has-a-device-of-its-own", forkDevice},
	}
}

// fork restores a snapshot to another agent.
func (a *resident) fork(s taken, to amber.AgentID) *resident {
	r := a.restore(wire.RestoreRequest{SnapshotRef: a.ref(s.ID), To: to})
	same(r.Agent, to, "restored agent")
	f := a.w.agent(a.tenant, to)
	f.model = s.model.clone()
	clear(f.model.Tasks)
	return f
}

func forkMakes(w *site) {
	a := w.lived(tenant, "scout")
	s := a.snapshot("kept")
	a.live()
	f := a.fork(s, "fork")
	f.is(s.model, "after it was made as a fork")
	a.is(a.model, "after it was forked")
	a.lists(s.ID)
	f.lists()
	w.agent(foreign, "fork").isAbsent("in another tenant")
}

func forkConflict(w *site) {
	a, b := w.lived(tenant, "scout"), w.lived(tenant, "pilot")
	s := a.snapshot("kept")
	for _, dry := range []bool{false, true} {
		for _, to := range []amber.AgentID{b.id, a.id} {
			_, err := w.engine.Restore(w.ctx, wire.RestoreRequest{SnapshotRef: a.ref(s.ID), To: to, DryRun: dry})
			refused(err, amber.KindConflict, "fork to agent %s, which exists, dry run %t", to, dry)
		}
	}
	b.is(b.model, "after a fork to it was refused")
	b.lists()
	a.lists(s.ID)
	a.fork(s, "fork")
	_, err := w.engine.Restore(w.ctx, wire.RestoreRequest{SnapshotRef: a.ref(s.ID), To: "fork"})
	refused(err, amber.KindConflict, "second fork of one name")
}

func forkApart(w *site) {
	a := w.lived(tenant, "scout")
	s := a.snapshot("kept")
	f := a.fork(s, "fork")
	a.live()
	f.remember()
	f.note("of the fork")
	a.is(a.model, "after its fork lived on")
	f.is(f.model, "after the agent it was forked of lived on")
	mine := f.snapshot("of the fork")
	f.live()
	a.returns(s)
	f.is(f.model, "after the agent it was forked of was restored")
	f.returns(mine)
	a.is(a.model, "after its fork was restored")
}

func forkDevice(w *site) {
	a := w.lived(tenant, "scout")
	s := a.snapshot("kept")
	f := a.fork(s, "fork")
	first := f.snapshot("first of the fork")
	hold(first.Device != s.Device, "the fork has device %s of the agent it was forked of", s.Device)
	same(first.Parent, "", "parent of the first snapshot of a fork")
	follows(f.snapshot("second of the fork"), first)
	follows(a.snapshot("second"), s)
}
