package snapshot_test

import (
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

func keepChecks() []check {
	return []check{
		{"pin/keeps-from-deletion", pinKeeps},
		{"pin/unknown-is-not-found", pinUnknown},
		{"delete/is-gone", deleteIsGone},
		{"delete/last-is-refused", deleteLast},
		{"delete/unknown-is-not-found", deleteUnknown},
		{"gc/frees-nothing-that-is-needed", gcKeeps},
		{"gc/dry-run-changes-nothing", gcDryRun},
	}
}

func (a *resident) pin(id amber.SnapshotID, pinned bool) {
	do(a.w.engine.PinSnapshot(a.w.ctx, a.ref(id), pinned))
}

func (a *resident) deletes(id amber.SnapshotID) {
	do(a.w.engine.DeleteSnapshot(a.w.ctx, a.ref(id)))
}

// sweep collects garbage until nothing may be left: a grace time is over.
func (w *site) sweep() {
	for range 3 {
		get(w.engine.CollectGarbage(w.ctx, wire.GCRequest{Tenant: tenant}))
		w.pass(72 * time.Hour)
	}
}

func pinKeeps(w *site) {
	a := w.lived(tenant, "scout")
	s, last := a.snapshot("pinned"), a.snapshot("last")
	a.pin(s.ID, true)
	a.pin(s.ID, true)
	hold(a.list()[1].Pinned && !a.list()[0].Pinned, "the listing does not tell which one is pinned")
	hold(get(w.engine.ShowSnapshot(w.ctx, a.ref(s.ID))).Pinned, "show does not tell that it is pinned")
	refused(w.engine.DeleteSnapshot(w.ctx, a.ref(s.ID)), amber.KindRefused, "deletion of a pinned snapshot")
	r := get(w.engine.PruneSnapshots(w.ctx, wire.PruneRequest{Tenant: tenant, Agent: a.id, KeepLast: 1}))
	same(len(r.Deleted), 0, "pruned snapshots")
	w.reopen()
	hold(a.list()[1].Pinned, "the pin is gone after opening again")
	a.lists(last.ID, s.ID)
	a.pin(s.ID, false)
	a.pin(s.ID, false)
	hold(!a.list()[1].Pinned, "the pin stays")
	a.deletes(s.ID)
	a.lists(last.ID)
}

func pinUnknown(w *site) {
	a, b := w.lived(tenant, "scout"), w.lived(tenant, "pilot")
	gone, s := a.snapshot("gone"), a.snapshot("kept")
	a.deletes(gone.ID)
	for _, ref := range []wire.SnapshotRef{a.ref(unknown), a.ref(gone.ID), b.ref(s.ID)} {
		for _, pinned := range []bool{true, false} {
			refused(w.engine.PinSnapshot(w.ctx, ref, pinned), amber.KindNotFound, "pin %t of %+v", pinned, ref)
		}
	}
	hold(!a.list()[0].Pinned, "a snapshot was pinned in another's name")
}

func deleteIsGone(w *site) {
	a := w.lived(tenant, "scout")
	gone := a.snapshot("gone")
	a.live()
	s := a.snapshot("kept")
	a.live()
	a.deletes(gone.ID)
	a.lists(s.ID)
	x, ref := w.engine, a.ref(gone.ID)
	for what, err := range map[string]error{
		"restore":     must.Err(x.Restore(w.ctx, wire.RestoreRequest{SnapshotRef: ref})),
		"fork":        must.Err(x.Restore(w.ctx, wire.RestoreRequest{SnapshotRef: ref, To: "fork"})),
		"show":        must.Err(x.ShowSnapshot(w.ctx, ref)),
		"verify":      must.Err(x.VerifySnapshot(w.ctx, wire.VerifyRequest{SnapshotRef: ref})),
		"diff":        must.Err(x.DiffSnapshots(w.ctx, wire.DiffRequest{Tenant: tenant, Agent: a.id, A: gone.ID, B: s.ID})),
		"delete":      x.DeleteSnapshot(w.ctx, ref),
		"second diff": must.Err(x.DiffSnapshots(w.ctx, wire.DiffRequest{Tenant: tenant, Agent: a.id, A: s.ID, B: gone.ID})),
	} {
		refused(err, amber.KindNotFound, "%s of a snapshot that was deleted", what)
	}
	a.is(a.model, "after a restore of what was deleted")
	w.reopen()
	a.lists(s.ID)
}

func deleteLast(w *site) {
	a, b := w.lived(tenant, "scout"), w.lived(tenant, "pilot")
	first, last := a.snapshot("first"), a.snapshot("last")
	b.snapshot("of another agent")
	a.deletes(last.ID)
	refused(w.engine.DeleteSnapshot(w.ctx, a.ref(first.ID)), amber.KindRefused, "deletion of the last snapshot")
	a.lists(first.ID)
	a.live()
	a.returns(first)
}

func deleteUnknown(w *site) {
	a, b := w.lived(tenant, "scout"), w.lived(tenant, "pilot")
	two := []amber.SnapshotID{a.snapshot("").ID, a.snapshot("").ID}
	b.snapshot("")
	for _, ref := range []wire.SnapshotRef{a.ref(unknown), b.ref(two[0]), w.agent(tenant, "nobody").ref(two[0])} {
		refused(w.engine.DeleteSnapshot(w.ctx, ref), amber.KindNotFound, "deletion of %+v", ref)
	}
	a.lists(two[1], two[0])
}

func gcKeeps(w *site) {
	a, b := w.lived(tenant, "scout"), w.lived(tenant, "pilot")
	other := b.snapshot("of another agent")
	b.live()
	first := a.snapshot("first")
	w.sweep()
	a.live()
	gone := a.snapshot("gone")
	a.live()
	last := a.snapshot("last")
	a.deletes(gone.ID)
	w.sweep()
	for _, s := range []taken{first, last} {
		r := get(w.engine.VerifySnapshot(w.ctx, wire.VerifyRequest{SnapshotRef: a.ref(s.ID), ReadData: true}))
		hold(r.OK(), "snapshot %s after gc: %+v", s.Label, r.Damaged)
		a.returns(s)
	}
	b.returns(other)
	// Freed objects are stored again when an agent with the same content comes back.
	again := a.lives(gone.model)
	a.returns(first)
	a.returns(again)
}

// lives makes the agent's notes and state those of a model and takes a
// snapshot.
func (a *resident) lives(m Model) taken {
	now := get(a.read())
	for name := range now.Notes {
		if _, ok := m.Notes[name]; !ok {
			do(a.notes().DeleteNote(a.w.ctx, name, amber.NoteBy{}))
		}
	}
	for name, text := range m.Notes {
		a.writeNote(name, text)
	}
	for key := range now.State {
		a.putState(key, m.State[key])
	}
	for key, doc := range m.State {
		a.putState(key, doc)
	}
	a.model = now.with(m, wire.PartNotes, wire.PartState)
	return a.snapshot("again")
}

func gcDryRun(w *site) {
	a := w.lived(tenant, "scout")
	gone := a.snapshot("gone")
	a.live()
	s := a.snapshot("kept")
	a.deletes(gone.ID)
	for range 2 {
		r := get(w.engine.CollectGarbage(w.ctx, wire.GCRequest{Tenant: tenant, DryRun: true}))
		hold(r.DryRun, "the report of a dry run does not say so")
		w.pass(72 * time.Hour)
	}
	before := get(w.engine.CheckRepository(w.ctx, wire.CheckRequest{Tenant: tenant}))
	get(w.engine.CollectGarbage(w.ctx, wire.GCRequest{Tenant: tenant, DryRun: true}))
	after := get(w.engine.CheckRepository(w.ctx, wire.CheckRequest{Tenant: tenant}))
	same(after.Bytes, before.Bytes, "bytes in the repository after a dry run")
	get(w.engine.CollectGarbage(w.ctx, wire.GCRequest{Tenant: foreign})) // that has nothing
	a.live()
	a.returns(s)
}
