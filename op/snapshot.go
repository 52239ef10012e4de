package op

import (
	"context"
	"net/http"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

// SnapshotID names a snapshot.
type SnapshotID struct {
	Whose
	ID amber.SnapshotID `path:"id" doc:"the id of the snapshot"`
}

func (s SnapshotID) ref() wire.SnapshotRef {
	return wire.SnapshotRef{Tenant: s.Tenant, Agent: s.Agent, ID: s.ID}
}

// frozen calls fn with what keeps snapshots. Operations on snapshots do not need the live agent, which may be missing or damaged, but for
// looking into the past.
func frozen[T any](c *Call, fn func(s wire.Snapshotter) (T, error)) (out T, err error) {
	if c.Snapshots == nil {
		return out, unsupported("open snapshots", "this server keeps no snapshots")
	}
	out, err = fn(c.Snapshots)
	return Placeless(c.Caller, out), err
}

// SnapshotTakeIn asks for a snapshot.
type SnapshotTakeIn struct {
	Whose
	Body wire.SnapshotRequest `body:"json" repeats:"tenant agent"`
}

// SnapshotTake takes a snapshot.
var SnapshotTake = do(Row{
	ID: "snapshot.take", HTTP: "POST /snapshots", Scope: wire.TokenSnapshot, Kind: Changes | Long | Closed, Echo: []string{"tenant", "agent"}, Status: http.StatusCreated,
	Fails: []amber.Kind{amber.KindQuota, amber.KindUntrusted},
	Sure:  []string{"agent=agent"}, Doc: "Take a snapshot of the agent; adding recipients needs the scope admin, because a recipient can read every snapshot of the tenant, and sources need a token for all tenants, because sources belong to the machine",
}, func(ctx context.Context, c *Call, in SnapshotTakeIn) (wire.SnapshotMeta, error) {
	var err error
	if len(in.Body.Encrypt) > 0 {
		err = c.Caller.Allow(in.Tenant, "", wire.TokenAdmin)
	}
	if err == nil && len(in.Body.Sources) > 0 {
		err = ofTheMachine(c.Caller)
	}
	if err != nil {
		return wire.SnapshotMeta{}, err
	}
	in.Body.Label = c.Redact(in.Body.Label)
	out, err := frozen(c, func(s wire.Snapshotter) (wire.SnapshotMeta, error) { return s.Snapshot(ctx, in.Body) })
	c.Subject = string(out.ID)
	return out, err
})

// ofTheMachine refuses a token of one tenant: sources are set up for all tenants, and a caller that freezes a source can read it.
func ofTheMachine(c Caller) error {
	if g := c.Grant; g.Tenant != "" || g.Agent != "" {
		return amber.Errorf(amber.KindRefused, "authorize", "", "sources belong to the machine; a token for all tenants is needed")
	}
	return nil
}

// SnapshotsIn asks for a page of snapshots.
type SnapshotsIn struct {
	Whose
	Paging
}

// SnapshotList lists snapshots.
var SnapshotList = list(Row{
	ID: "snapshot.list", HTTP: "GET /snapshots", Scope: wire.TokenRead, Kind: Closed | Bound, Doc: "List the snapshots of the agent, newest first",
}, func(ctx context.Context, c *Call, in SnapshotsIn, p Paging) (amber.Page[wire.SnapshotMeta], error) {
	return frozen(c, func(s wire.Snapshotter) (amber.Page[wire.SnapshotMeta], error) {
		return s.ListSnapshots(ctx, wire.SnapshotQuery{Tenant: in.Tenant, Agent: in.Agent, Limit: p.Limit, Cursor: p.Cursor})
	})
})

// SnapshotShow shows one snapshot.
var SnapshotShow = do(Row{
	ID: "snapshot.show", HTTP: "GET /snapshots/{id}", Scope: wire.TokenRead, Kind: Closed, Sure: []string{"id=id"}, Doc: "Show one snapshot",
}, func(ctx context.Context, c *Call, in SnapshotID) (wire.SnapshotDetail, error) {
	return frozen(c, func(s wire.Snapshotter) (wire.SnapshotDetail, error) { return s.ShowSnapshot(ctx, in.ref()) })
})

// SnapshotDiffIn names two snapshots.
type SnapshotDiffIn struct {
	Whose
	Body wire.DiffRequest `body:"json" repeats:"tenant agent"`
}

// SnapshotDiff compares two snapshots.
var SnapshotDiff = do(Row{
	ID: "snapshot.diff", HTTP: "POST /snapshots/diff", Scope: wire.TokenRead, Kind: Long | Closed, Holds: 2 * HoldsPage, Doc: "Compare two snapshots",
}, func(ctx context.Context, c *Call, in SnapshotDiffIn) (wire.SnapshotDiff, error) {
	return frozen(c, func(s wire.Snapshotter) (wire.SnapshotDiff, error) { return s.DiffSnapshots(ctx, in.Body) })
})

// SnapshotVerifyIn asks to verify a snapshot.
type SnapshotVerifyIn struct {
	SnapshotID
	Body wire.VerifyRequest `body:"json" repeats:"tenant agent id"`
}

// SnapshotVerify verifies a snapshot.
var SnapshotVerify = do(Row{
	ID: "snapshot.verify", HTTP: "POST /snapshots/{id}/verify", Scope: wire.TokenSnapshot, Kind: Long | Closed, Sure: []string{"id=id"}, Doc: "Verify a snapshot",
}, func(ctx context.Context, c *Call, in SnapshotVerifyIn) (wire.VerifyReport, error) {
	return frozen(c, func(s wire.Snapshotter) (wire.VerifyReport, error) { return s.VerifySnapshot(ctx, in.Body) })
})

// SnapshotDelete deletes a snapshot.
var SnapshotDelete = do(Row{
	ID: "snapshot.delete", HTTP: "DELETE /snapshots/{id}", Scope: wire.TokenSnapshot, Kind: Changes | Closed | Keyed, Doc: "Delete a snapshot",
}, func(ctx context.Context, c *Call, in SnapshotID) (None, error) {
	return frozen(c, func(s wire.Snapshotter) (None, error) { return None{}, s.DeleteSnapshot(ctx, in.ref()) })
})

// SnapshotPinIn asks to keep a snapshot, or not to.
type SnapshotPinIn struct {
	SnapshotID
	Body struct {
		Pinned *bool `json:"pinned"`
	} `body:"json"`
}

// SnapshotPin pins a snapshot.
var SnapshotPin = do(Row{
	ID: "snapshot.pin", HTTP: "POST /snapshots/{id}/pin", Scope: wire.TokenSnapshot, Kind: Changes | Repeats | Closed | Keyed,
	Doc: "Pin a snapshot so that prune keeps it, or unpin the snapshot",
}, func(ctx context.Context, c *Call, in SnapshotPinIn) (None, error) {
	if in.Body.Pinned == nil {
		return None{}, Invalid("field pinned is missing, want true or false")
	}
	return frozen(c, func(s wire.Snapshotter) (None, error) { return None{}, s.PinSnapshot(ctx, in.ref(), *in.Body.Pinned) })
})

// SnapshotPruneIn asks to delete snapshots.
type SnapshotPruneIn struct {
	Whose
	Body wire.PruneRequest `body:"json" repeats:"tenant agent"`
}

func (p SnapshotPruneIn) looks() bool { return p.Body.DryRun }

// SnapshotPrune deletes the snapshots that no rule keeps.
var SnapshotPrune = do(Row{
	ID: "snapshot.prune", HTTP: "POST /snapshots/prune", Scope: wire.TokenSnapshot, Kind: Changes | Long | Closed, Doc: "Delete the snapshots that no rule keeps",
}, func(ctx context.Context, c *Call, in SnapshotPruneIn) (wire.PruneReport, error) {
	out, err := frozen(c, func(s wire.Snapshotter) (wire.PruneReport, error) { return s.PruneSnapshots(ctx, in.Body) })
	for _, id := range out.Deleted {
		c.Did = append(c.Did, string(id))
	}
	return out, err
})

// SnapshotRestoreIn asks to bring an agent back.
type SnapshotRestoreIn struct {
	SnapshotID
	Body wire.RestoreRequest `body:"json" repeats:"tenant agent id"`
}

func (r SnapshotRestoreIn) looks() bool { return r.Body.DryRun }

// SnapshotRestore restores an agent.
var SnapshotRestore = do(Row{
	ID: "snapshot.restore", HTTP: "POST /snapshots/{id}/restore", Scope: wire.TokenRestore, Kind: Changes | Long | Closed, Echo: []string{"agent"},
	Fails: []amber.Kind{amber.KindQuota, amber.KindUntrusted, amber.KindCrossTenant},
	Sure:  []string{"from=id"}, Doc: "Restore the agent from a snapshot, or make another agent from the snapshot",
}, func(ctx context.Context, c *Call, in SnapshotRestoreIn) (wire.RestoreReport, error) {
	var err error
	if in.Body.To != "" {
		err = c.Caller.Allow(in.Tenant, in.Body.To, wire.TokenRestore)
	}
	if err != nil {
		return wire.RestoreReport{}, err
	}
	out, err := frozen(c, func(s wire.Snapshotter) (wire.RestoreReport, error) { return s.Restore(ctx, in.Body) })
	if err == nil && in.Body.To != "" && !in.looks() {
		if err := c.House.Made(ctx, c.Caller, in.Tenant, in.Body.To); err != nil {
			c.Unrecorded = true
			return out, err
		}
	}
	return out, veil(c.Caller, in.SnapshotID, err)
})

// veil keeps a caller that may see one agent from being told which other agent a snapshot belongs to: it is not there, in the same words
// as one that no agent has.
func veil(c Caller, s SnapshotID, err error) error {
	switch amber.KindOf(err) {
	case amber.KindCrossTenant, amber.KindNotFound:
		if !c.Grant.Reaches(s.Tenant, "") {
			return amber.Errorf(amber.KindNotFound, "find snapshot", string(s.ID), "agent %s has no such snapshot", string(s.Agent))
		}
	}
	return err
}
