package snapshot_test

import (
	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

func verifyChecks() []check {
	return []check{
		{"verify/whole-snapshot", verifyWhole},
		{"verify/unknown-is-not-found", verifyUnknown},
		{"check/whole-repository", checkWhole},
		{"check/nothing-is-whole", checkNothing},
	}
}

func verifyWhole(w *site) {
	a := w.lived(tenant, "scout")
	s := a.snapshot("kept")
	a.live()
	safety := a.returns(s)
	for _, id := range []amber.SnapshotID{s.ID, safety.ID} {
		var left [2]int
		for i, readData := range []bool{false, true} {
			r := get(w.engine.VerifySnapshot(w.ctx, wire.VerifyRequest{SnapshotRef: a.ref(id), ReadData: readData}))
			same(r.ID, id, "verified snapshot")
			hold(r.OK(), "a whole snapshot is damaged: %+v", r.Damaged)
			hold(len(r.Checked) > 0, "nothing was checked")
			for _, c := range r.Checks {
				hold(c.OK, "check %s of %s found: %s", c.Name, c.Part, c.Detail)
			}
			left[i] = len(r.NotChecked)
		}
		hold(left[0] > left[1], "%d things are not checked, %d after reading everything", left[0], left[1])
	}
	a.is(a.model, "after its snapshots were verified")
	a.lists(safety.ID, s.ID)
}

func verifyUnknown(w *site) {
	a, b := w.lived(tenant, "scout"), w.lived(tenant, "pilot")
	s := a.snapshot("")
	for _, ref := range []wire.SnapshotRef{a.ref(unknown), b.ref(s.ID)} {
		refused(must.Err(w.engine.VerifySnapshot(w.ctx, wire.VerifyRequest{SnapshotRef: ref})), amber.KindNotFound, "verify of %+v", ref)
	}
}

func checkWhole(w *site) {
	a, b := w.lived(tenant, "scout"), w.lived(tenant, "pilot")
	a.snapshot("")
	a.live()
	gone := a.snapshot("gone")
	b.snapshot("")
	w.lived(foreign, "scout").snapshot("of another tenant")
	whole := func(snapshots int) {
		for _, readData := range []bool{false, true} {
			r := get(w.engine.CheckRepository(w.ctx, wire.CheckRequest{Tenant: tenant, ReadData: readData}))
			hold(r.OK(), "a whole repository is damaged: %+v", r.Damaged)
			same(r.Snapshots, snapshots, "snapshots in the repository")
			same(r.DataRead, readData, "the report tells that all data was read")
			hold(len(r.Checked) > 0, "nothing was checked")
			hold(readData || len(r.NotChecked) > 0, "nothing was left unchecked without reading the data")
			hold(r.Bytes > 0, "the repository has %d bytes", r.Bytes)
		}
	}
	whole(3)
	a.deletes(gone.ID)
	whole(2)
	w.sweep()
	whole(2)
}

func checkNothing(w *site) {
	r := get(w.engine.CheckRepository(w.ctx, wire.CheckRequest{Tenant: tenant}))
	hold(r.OK() && r.Snapshots == 0, "an empty repository: %+v", r)
	_, err := w.engine.CheckRepository(w.ctx, wire.CheckRequest{Tenant: "../acme"})
	refused(err, amber.KindInvalid, "check of a tenant of a bad name")
}
