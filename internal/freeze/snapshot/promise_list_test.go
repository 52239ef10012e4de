package snapshot_test

import (
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

func listChecks() []check {
	return []check{
		{"list/newest-first", listNewestFirst},
		{"list/pages", listPages},
		{"list/unknown-agent-is-empty", listUnknown},
		{"list/bad-limit-and-cursor", listBad},
		{"show/unknown-is-not-found", showUnknown},
		{"tenant/foreign-is-not-found", foreignTenant},
	}
}

func listNewestFirst(w *site) {
	a, b := w.lived(tenant, "scout"), w.lived(tenant, "pilot")
	var want []amber.SnapshotID
	for range 4 {
		want = append(want, a.snapshot("of scout").ID)
		b.snapshot("of pilot")
	}
	safety := a.restore(wire.RestoreRequest{SnapshotRef: a.ref(want[0])}).SafetySnapshot
	want = append(want, safety)
	slices.Reverse(want)
	a.lists(want...)
	for _, m := range a.list() {
		hold(m.Agent == a.id && m.Tenant == tenant, "agent %s of %s is listed", m.Agent, m.Tenant)
	}
}

func listPages(w *site) {
	a := w.lived(tenant, "scout")
	var want []amber.SnapshotID
	for range 5 {
		want = append(want, a.snapshot("").ID)
	}
	slices.Reverse(want)
	for _, limit := range []int{1, 2, 4, 5, 6, amber.MaxPageSize, amber.MaxPageSize + 1} {
		got := idsOf(a.pages(limit))
		hold(slices.Equal(got, want), "pages of %d: got %v, want %v", limit, got, want)
	}
	page := get(w.engine.ListSnapshots(w.ctx, wire.SnapshotQuery{Tenant: tenant, Agent: a.id, Limit: 2}))
	same(len(page.Items), 2, "items of a page of two")
	page = get(w.engine.ListSnapshots(w.ctx, wire.SnapshotQuery{Tenant: tenant, Agent: a.id, Limit: 5}))
	same(page.Next, "", "cursor of the last page")
	// A snapshot that is taken later is not on the pages behind the first.
	page = get(w.engine.ListSnapshots(w.ctx, wire.SnapshotQuery{Tenant: tenant, Agent: a.id, Limit: 3}))
	a.snapshot("later")
	page = get(w.engine.ListSnapshots(w.ctx, wire.SnapshotQuery{Tenant: tenant, Agent: a.id, Limit: 3, Cursor: page.Next}))
	got := idsOf(page.Items)
	hold(slices.Equal(got, want[3:]), "second page after a snapshot more: got %v, want %v", got, want[3:])
}

func listUnknown(w *site) {
	w.agent(tenant, "nobody").lists()
	a := w.lived(tenant, "scout")
	a.lists()
	a.snapshot("")
	w.agent(tenant, "nobody").lists()
	w.agent(tenant, "nobody").isAbsent("after its snapshots were listed")
}

func listBad(w *site) {
	a := w.lived(tenant, "scout")
	a.snapshot("")
	a.snapshot("")
	for _, q := range []wire.SnapshotQuery{{Limit: -1}, {Cursor: "nonsense"}, {Cursor: "\x00"}} {
		q.Tenant, q.Agent = tenant, a.id
		refused(must.Err(w.engine.ListSnapshots(w.ctx, q)), amber.KindInvalid, "limit %d, cursor %q", q.Limit, q.Cursor)
	}
}

func showUnknown(w *site) {
	a, b := w.lived(tenant, "scout"), w.lived(tenant, "pilot")
	refused(must.Err(w.engine.ShowSnapshot(w.ctx, a.ref(unknown))), amber.KindNotFound, "show of a snapshot where there is none")
	s := a.snapshot("")
	for _, ref := range []wire.SnapshotRef{a.ref(unknown), b.ref(s.ID), w.agent(tenant, "nobody").ref(s.ID)} {
		refused(must.Err(w.engine.ShowSnapshot(w.ctx, ref)), amber.KindNotFound, "show of %+v", ref)
	}
}

// foreignTenant asks for a snapshot in the name of a tenant it does not belong
// to, whose agent has the same name.
func foreignTenant(w *site) {
	a, b := w.lived(tenant, "scout"), w.lived(foreign, "scout")
	s, second := a.snapshot("of acme"), a.snapshot("of acme")
	mine := b.snapshot("of the other")
	ref, x := b.ref(s.ID), w.engine
	for what, err := range map[string]error{
		"show":    must.Err(x.ShowSnapshot(w.ctx, ref)),
		"verify":  must.Err(x.VerifySnapshot(w.ctx, wire.VerifyRequest{SnapshotRef: ref})),
		"restore": must.Err(x.Restore(w.ctx, wire.RestoreRequest{SnapshotRef: ref})),
		"fork":    must.Err(x.Restore(w.ctx, wire.RestoreRequest{SnapshotRef: ref, To: "stolen"})),
		"diff":    must.Err(x.DiffSnapshots(w.ctx, wire.DiffRequest{Tenant: foreign, Agent: b.id, A: mine.ID, B: s.ID})),
		"pin":     x.PinSnapshot(w.ctx, ref, true),
		"delete":  x.DeleteSnapshot(w.ctx, ref),
	} {
		refused(err, amber.KindNotFound, "%s of a foreign snapshot", what)
	}
	b.is(b.model, "after it asked for a foreign snapshot")
	b.lists(mine.ID)
	a.lists(second.ID, s.ID)
	w.agent(foreign, "stolen").isAbsent("after a fork of a foreign snapshot")
	hold(!a.list()[1].Pinned, "a foreign tenant has pinned a snapshot")
	get(x.CollectGarbage(w.ctx, wire.GCRequest{Tenant: foreign}))
	a.returns(s)
}
