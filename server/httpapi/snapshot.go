package httpapi

import (
	"context"
	"net/http"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/server"
	"github.com/amber-memory/amber/wire"
)

const snapshotPath = agentPath + "/snapshots"

// whose is in the path of what concerns snapshots: requests name the agent
// too.
type whose struct {
	Tenant amber.TenantID `path:"tenant" doc:"the tenant"`
	Agent  amber.AgentID  `path:"agent" doc:"the agent"`
}

// same fills tenant and agent into a request. The error is of kind invalid,
// when it names others.
func (w whose) same(tenant *amber.TenantID, agent *amber.AgentID) error {
	if err := agree("tenant", string(w.Tenant), tenant); err != nil {
		return err
	}
	return agree("agent", string(w.Agent), agent)
}

// snapshotID is in the path of what concerns one snapshot.
type snapshotID struct {
	whose
	ID amber.SnapshotID `path:"id" doc:"the id of the snapshot"`
}

func (s snapshotID) ref() wire.SnapshotRef {
	return wire.SnapshotRef{Tenant: s.Tenant, Agent: s.Agent, ID: s.ID}
}

// sameRef is same for a request about one snapshot.
func (s snapshotID) sameRef(ref *wire.SnapshotRef) error {
	if err := s.same(&ref.Tenant, &ref.Agent); err != nil {
		return err
	}
	return agree("snapshot", string(s.ID), &ref.ID)
}

// frozen calls fn with what keeps snapshots. Routes of snapshots do not need the
// live agent, which may be missing or damaged, but for looking into the past.
func frozen[T any](ctx context.Context, ag *server.Agent, fn func(s wire.Snapshotter) (T, error)) (answer[T], error) {
	if ag.Snapshots == nil {
		return answer[T]{}, unsupported("open snapshots", "this server keeps no snapshots")
	}
	out, err := fn(ag.Snapshots)
	return got(placeless(ctx, out), err)
}

func takeRoutes(a *API) {
	type take struct {
		whose
		Body wire.SnapshotRequest `body:"json"`
	}
	handle(a, operation{
		id: "snapshot.take", method: "POST", path: snapshotPath, scope: wire.TokenSnapshot, mutates: true, echo: []string{"tenant", "agent"}, long: true, closed: true,
		status:  http.StatusCreated,
		summary: "Take a snapshot of the agent; adding recipients needs the scope admin, because a recipient can read every snapshot of the tenant, and sources need a token for all tenants, because sources belong to the machine",
	}, func(ctx context.Context, ag *server.Agent, in take) (answer[wire.SnapshotMeta], error) {
		err := in.same(&in.Body.Tenant, &in.Body.Agent)
		if err == nil && len(in.Body.Encrypt) > 0 {
			err = server.CallerOf(ctx).Allow(in.Tenant, "", wire.TokenAdmin)
		}
		if err == nil && len(in.Body.Sources) > 0 {
			err = ofTheMachine(ctx)
		}
		if err != nil {
			return answer[wire.SnapshotMeta]{}, err
		}
		in.Body.Label = server.Redact(ctx, in.Body.Label)
		out, err := frozen(ctx, ag, func(s wire.Snapshotter) (wire.SnapshotMeta, error) { return s.Snapshot(ctx, in.Body) })
		out.subject = string(out.body.ID)
		return out, err
	})
}

// ofTheMachine refuses a token of one tenant: sources are set up for all tenants,
// and a caller that freezes a source can read it.
func ofTheMachine(ctx context.Context) error {
	if g := server.CallerOf(ctx).Grant; g.Tenant != "" || g.Agent != "" {
		return amber.Errorf(amber.KindRefused, "authorize", "", "sources belong to the machine; a token for all tenants is needed")
	}
	return nil
}

func lookRoutes(a *API) {
	type listing struct {
		whose
		paging
	}
	handleList(a, operation{
		id: "snapshot.list", bound: true, method: "GET", path: snapshotPath, scope: wire.TokenRead, closed: true, summary: "List the snapshots of the agent, newest first",
	}, func(ctx context.Context, ag *server.Agent, in listing, p paging) (amber.Page[wire.SnapshotMeta], error) {
		out, err := frozen(ctx, ag, func(s wire.Snapshotter) (amber.Page[wire.SnapshotMeta], error) {
			return s.ListSnapshots(ctx, wire.SnapshotQuery{Tenant: in.Tenant, Agent: in.Agent, Limit: p.Limit, Cursor: p.Cursor})
		})
		return out.body, err
	})

	handle(a, operation{
		id: "snapshot.show", method: "GET", path: snapshotPath + "/{id}", scope: wire.TokenRead, closed: true, summary: "Show one snapshot",
	}, func(ctx context.Context, ag *server.Agent, in snapshotID) (answer[wire.SnapshotDetail], error) {
		return frozen(ctx, ag, func(s wire.Snapshotter) (wire.SnapshotDetail, error) { return s.ShowSnapshot(ctx, in.ref()) })
	})

	type diff struct {
		whose
		Body wire.DiffRequest `body:"json"`
	}
	handle(a, operation{
		id: "snapshot.diff", method: "POST", path: snapshotPath + "/diff", scope: wire.TokenRead, long: true, closed: true, summary: "Compare two snapshots",
	}, func(ctx context.Context, ag *server.Agent, in diff) (answer[wire.SnapshotDiff], error) {
		if err := in.same(&in.Body.Tenant, &in.Body.Agent); err != nil {
			return answer[wire.SnapshotDiff]{}, err
		}
		return frozen(ctx, ag, func(s wire.Snapshotter) (wire.SnapshotDiff, error) { return s.DiffSnapshots(ctx, in.Body) })
	})

	type verify struct {
		snapshotID
		Body wire.VerifyRequest `body:"json"`
	}
	handle(a, operation{
		id: "snapshot.verify", method: "POST", path: snapshotPath + "/{id}/verify", scope: wire.TokenSnapshot, long: true, closed: true, summary: "Verify a snapshot",
	}, func(ctx context.Context, ag *server.Agent, in verify) (answer[wire.VerifyReport], error) {
		if err := in.sameRef(&in.Body.SnapshotRef); err != nil {
			return answer[wire.VerifyReport]{}, err
		}
		return frozen(ctx, ag, func(s wire.Snapshotter) (wire.VerifyReport, error) { return s.VerifySnapshot(ctx, in.Body) })
	})
}

// pruneSnapshots asks to delete snapshots.
type pruneSnapshots struct {
	whose
	Body wire.PruneRequest `body:"json"`
}

func (p pruneSnapshots) looks() bool { return p.Body.DryRun }

func keepRoutes(a *API) {
	handle(a, operation{
		id: "snapshot.delete", method: "DELETE", path: snapshotPath + "/{id}", scope: wire.TokenSnapshot, mutates: true, closed: true, summary: "Delete a snapshot",
	}, func(ctx context.Context, ag *server.Agent, in snapshotID) (answer[nothing], error) {
		return keep(ctx, ag, func(s wire.Snapshotter) error { return s.DeleteSnapshot(ctx, in.ref()) })
	})

	type pin struct {
		snapshotID
		Body struct {
			Pinned *bool `json:"pinned"`
		} `body:"json"`
	}
	handle(a, operation{
		id: "snapshot.pin", method: "POST", path: snapshotPath + "/{id}/pin", scope: wire.TokenSnapshot, mutates: true, repeatable: true, closed: true,
		summary: "Pin a snapshot so that prune keeps it, or unpin the snapshot",
	}, func(ctx context.Context, ag *server.Agent, in pin) (answer[nothing], error) {
		if in.Body.Pinned == nil {
			return done(invalid("field pinned is missing, want true or false"))
		}
		return keep(ctx, ag, func(s wire.Snapshotter) error { return s.PinSnapshot(ctx, in.ref(), *in.Body.Pinned) })
	})

	handle(a, operation{
		id: "snapshot.prune", method: "POST", path: snapshotPath + "/prune", scope: wire.TokenSnapshot, mutates: true, long: true, closed: true,
		summary: "Delete the snapshots that no rule keeps",
	}, func(ctx context.Context, ag *server.Agent, in pruneSnapshots) (answer[wire.PruneReport], error) {
		if err := in.same(&in.Body.Tenant, &in.Body.Agent); err != nil {
			return answer[wire.PruneReport]{}, err
		}
		out, err := frozen(ctx, ag, func(s wire.Snapshotter) (wire.PruneReport, error) { return s.PruneSnapshots(ctx, in.Body) })
		for _, id := range out.body.Deleted {
			out.each = append(out.each, string(id))
		}
		return out, err
	})
}

// keep is frozen for what has nothing to say.
func keep(ctx context.Context, ag *server.Agent, fn func(s wire.Snapshotter) error) (answer[nothing], error) {
	_, err := frozen(ctx, ag, func(s wire.Snapshotter) (nothing, error) { return nothing{}, fn(s) })
	return done(err)
}

// restoreSnapshot asks to bring an agent back.
type restoreSnapshot struct {
	snapshotID
	Body wire.RestoreRequest `body:"json"`
}

func (r restoreSnapshot) looks() bool { return r.Body.DryRun }

func restoreRoutes(a *API) {
	handle(a, operation{
		id: "snapshot.restore", method: "POST", path: snapshotPath + "/{id}/restore", scope: wire.TokenRestore, mutates: true, echo: []string{"agent"}, long: true, closed: true,
		summary: "Restore the agent from a snapshot, or make another agent from the snapshot",
	}, func(ctx context.Context, ag *server.Agent, in restoreSnapshot) (answer[wire.RestoreReport], error) {
		err := in.sameRef(&in.Body.SnapshotRef)
		if err == nil && in.Body.To != "" {
			err = server.CallerOf(ctx).Allow(in.Tenant, in.Body.To, wire.TokenRestore)
		}
		if err != nil {
			return answer[wire.RestoreReport]{}, err
		}
		out, err := frozen(ctx, ag, func(s wire.Snapshotter) (wire.RestoreReport, error) { return s.Restore(ctx, in.Body) })
		if err == nil && in.Body.To != "" && !in.looks() {
			if err := a.o.Desk.Made(ctx, in.Tenant, in.Body.To); err != nil {
				return out, unrecorded{err}
			}
		}
		return out, veil(ctx, in.snapshotID, err)
	})
}

// veil keeps a caller that may see one agent from being told which other agent a
// snapshot belongs to: it is not there, in the same words as one that is
// nobody's.
func veil(ctx context.Context, s snapshotID, err error) error {
	switch amber.KindOf(err) {
	case amber.KindCrossTenant, amber.KindNotFound:
		if !server.CallerOf(ctx).Grant.Reaches(s.Tenant, "") {
			return amber.Errorf(amber.KindNotFound, "find snapshot", string(s.ID), "agent %s has no such snapshot", string(s.Agent))
		}
	}
	return err
}
