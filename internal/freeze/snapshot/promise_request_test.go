package snapshot_test

import (
	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

func requestChecks() []check {
	return []check{
		{"request/bad-names-are-invalid", badNames},
		{"request/bad-snapshot-ids-are-invalid", badIDs},
	}
}

// badFolders are names that must never become part of a path.
var badFolders = []string{"", "..", "../acme", "a/b", "Scout", "sc out", "-scout", "scout\x00"}

func badNames(w *site) {
	a := w.lived(tenant, "scout")
	s := a.snapshot("kept")
	for _, bad := range badFolders {
		w.allInvalid(wire.SnapshotRef{Tenant: amber.TenantID(bad), Agent: a.id, ID: s.ID}, "tenant "+bad)
		w.allInvalid(wire.SnapshotRef{Tenant: tenant, Agent: amber.AgentID(bad), ID: s.ID}, "agent "+bad)
		_, err := w.engine.CollectGarbage(w.ctx, wire.GCRequest{Tenant: amber.TenantID(bad)})
		refused(err, amber.KindInvalid, "gc of tenant %q", bad)
		if bad == "" {
			continue // no other agent is asked for
		}
		_, err = w.engine.Restore(w.ctx, wire.RestoreRequest{SnapshotRef: a.ref(s.ID), To: amber.AgentID(bad)})
		refused(err, amber.KindInvalid, "fork to %q", bad)
		_, err = w.engine.Snapshot(w.ctx, wire.SnapshotRequest{Tenant: tenant, Agent: a.id, Sources: []string{bad}})
		refused(err, amber.KindInvalid, "snapshot with source %q", bad)
	}
	a.is(a.model, "after bad requests")
	a.lists(s.ID)
}

// allInvalid asks for everything in the name of a bad tenant or agent.
func (w *site) allInvalid(ref wire.SnapshotRef, what string) {
	x := w.engine
	_, err := x.Snapshot(w.ctx, wire.SnapshotRequest{Tenant: ref.Tenant, Agent: ref.Agent})
	refused(err, amber.KindInvalid, "snapshot, %q", what)
	_, err = x.ListSnapshots(w.ctx, wire.SnapshotQuery{Tenant: ref.Tenant, Agent: ref.Agent})
	refused(err, amber.KindInvalid, "list, %q", what)
	_, err = x.PruneSnapshots(w.ctx, wire.PruneRequest{Tenant: ref.Tenant, Agent: ref.Agent, KeepLast: 1})
	refused(err, amber.KindInvalid, "prune, %q", what)
	w.invalid(ref, what)
}

// invalid asks for one snapshot in every way.
func (w *site) invalid(ref wire.SnapshotRef, what string) {
	x := w.engine
	for op, err := range map[string]error{
		"show":    must.Err(x.ShowSnapshot(w.ctx, ref)),
		"diff":    must.Err(x.DiffSnapshots(w.ctx, wire.DiffRequest{Tenant: ref.Tenant, Agent: ref.Agent, A: ref.ID, B: ref.ID})),
		"verify":  must.Err(x.VerifySnapshot(w.ctx, wire.VerifyRequest{SnapshotRef: ref})),
		"delete":  x.DeleteSnapshot(w.ctx, ref),
		"pin":     x.PinSnapshot(w.ctx, ref, true),
		"restore": must.Err(x.Restore(w.ctx, wire.RestoreRequest{SnapshotRef: ref})),
		"dry run": must.Err(x.Restore(w.ctx, wire.RestoreRequest{SnapshotRef: ref, DryRun: true})),
		"fork":    must.Err(x.Restore(w.ctx, wire.RestoreRequest{SnapshotRef: ref, To: "fork"})),
	} {
		refused(err, amber.KindInvalid, "%s, %q", op, what)
	}
}

func badIDs(w *site) {
	a := w.lived(tenant, "scout")
	one, two := a.snapshot(""), a.snapshot("")
	for _, bad := range []string{"", "x", "..", "../" + string(one.ID), string(one.ID) + "0", "0195A0B0-0000-7000-8000-000000000000"} {
		w.invalid(a.ref(amber.SnapshotID(bad)), "id "+bad)
	}
	_, err := w.engine.DiffSnapshots(w.ctx, wire.DiffRequest{Tenant: tenant, Agent: a.id, A: one.ID, B: "x"})
	refused(err, amber.KindInvalid, "diff with a second id that is not valid")
	a.is(a.model, "after bad requests")
	a.lists(two.ID, one.ID)
	w.agent(tenant, "fork").isAbsent("after bad requests")
}
