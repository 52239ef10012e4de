package client

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/op"
	"github.com/amber-memory/amber/wire"
)

// Snapshots are the snapshots of an agent that is served elsewhere. Requests
// name that agent, or leave tenant and agent empty; any other is invalid. Safe
// for concurrent use.
type Snapshots struct{ a *Agent }

var (
	_ wire.Snapshotter       = (*Snapshots)(nil)
	_ wire.RepositoryChecker = (*Snapshots)(nil)
)

// Snapshots returns the snapshots of the agent. It touches no network.
func (a *Agent) Snapshots() *Snapshots { return &Snapshots{a} }

// snapshotID is a snapshot in the inputs of operations.
func snapshotID(ref wire.SnapshotRef) op.SnapshotID {
	return op.SnapshotID{Whose: op.Whose{Tenant: ref.Tenant, Agent: ref.Agent}, ID: ref.ID}
}

// Snapshot implements [wire.SnapshotTaker].
func (s *Snapshots) Snapshot(ctx context.Context, r wire.SnapshotRequest) (wire.SnapshotMeta, error) {
	return op.SnapshotTake.Call(ctx, s.a, op.SnapshotTakeIn{Body: r})
}

// ListSnapshots implements [wire.SnapshotReader].
func (s *Snapshots) ListSnapshots(ctx context.Context, q wire.SnapshotQuery) (amber.Page[wire.SnapshotMeta], error) {
	return op.SnapshotList.Call(ctx, s.a, op.SnapshotsIn{
		Whose: op.Whose{Tenant: q.Tenant, Agent: q.Agent}, Paging: op.Paging{Limit: q.Limit, Cursor: q.Cursor},
	})
}

// ShowSnapshot implements [wire.SnapshotReader].
func (s *Snapshots) ShowSnapshot(ctx context.Context, ref wire.SnapshotRef) (wire.SnapshotDetail, error) {
	return op.SnapshotShow.Call(ctx, s.a, snapshotID(ref))
}

// DiffSnapshots implements [wire.SnapshotReader].
func (s *Snapshots) DiffSnapshots(ctx context.Context, r wire.DiffRequest) (wire.SnapshotDiff, error) {
	for _, id := range []amber.SnapshotID{r.A, r.B} {
		if _, err := amber.ParseSnapshotID(string(id)); err != nil {
			return wire.SnapshotDiff{}, err
		}
	}
	return op.SnapshotDiff.Call(ctx, s.a, op.SnapshotDiffIn{Body: r})
}

// VerifySnapshot implements [wire.SnapshotReader].
func (s *Snapshots) VerifySnapshot(ctx context.Context, r wire.VerifyRequest) (wire.VerifyReport, error) {
	return op.SnapshotVerify.Call(ctx, s.a, op.SnapshotVerifyIn{SnapshotID: snapshotID(r.SnapshotRef), Body: r})
}

// DeleteSnapshot implements [wire.SnapshotKeeper].
func (s *Snapshots) DeleteSnapshot(ctx context.Context, ref wire.SnapshotRef) error {
	return done(op.SnapshotDelete.Call(ctx, s.a, snapshotID(ref)))
}

// PinSnapshot implements [wire.SnapshotKeeper].
func (s *Snapshots) PinSnapshot(ctx context.Context, ref wire.SnapshotRef, pinned bool) error {
	in := op.SnapshotPinIn{SnapshotID: snapshotID(ref)}
	in.Body.Pinned = &pinned
	return done(op.SnapshotPin.Call(ctx, s.a, in))
}

// PruneSnapshots implements [wire.SnapshotKeeper].
func (s *Snapshots) PruneSnapshots(ctx context.Context, r wire.PruneRequest) (wire.PruneReport, error) {
	return op.SnapshotPrune.Call(ctx, s.a, op.SnapshotPruneIn{Body: r})
}

// CollectGarbage implements [wire.SnapshotKeeper]. It needs a token for the
// whole tenant.
func (s *Snapshots) CollectGarbage(ctx context.Context, r wire.GCRequest) (wire.GCReport, error) {
	return op.TenantGC.Call(ctx, s.a, op.TenantGCIn{Body: r})
}

// CheckRepository implements [wire.RepositoryChecker]. It needs a token for the
// whole tenant.
func (s *Snapshots) CheckRepository(ctx context.Context, r wire.CheckRequest) (wire.CheckReport, error) {
	return op.TenantCheck.Call(ctx, s.a, op.TenantCheckIn{Body: r})
}

// Restore implements [wire.Restorer].
func (s *Snapshots) Restore(ctx context.Context, r wire.RestoreRequest) (wire.RestoreReport, error) {
	return op.SnapshotRestore.Call(ctx, s.a, op.SnapshotRestoreIn{SnapshotID: snapshotID(r.SnapshotRef), Body: r})
}

// RestoreMemory brings one memory of a snapshot back as a new revision. Errors:
// not_found; refused for what was erased.
func (s *Snapshots) RestoreMemory(ctx context.Context, r wire.MemoryRestoreRequest) (wire.MemoryRestore, error) {
	if _, err := amber.ParseMemoryID(string(r.Memory)); err != nil {
		return wire.MemoryRestore{}, err
	}
	m, err := op.SnapshotRestoreMemory.Call(ctx, s.a, op.RestoreMemoryIn{SnapshotID: snapshotID(r.SnapshotRef), Body: r})
	if err == nil && m.Memory.ID != r.Memory {
		err = another(string(r.Memory))
	}
	return m, err
}

// At returns the memory of a snapshot. It touches no network: whether there is
// such a snapshot shows with the first question. The error is of kind invalid.
func (s *Snapshots) At(_ context.Context, ref wire.SnapshotRef) (*Past, error) {
	id := snapshotID(ref)
	if _, err := newRequest(op.SnapshotShow.Row, id, s.a.path()); err != nil {
		return nil, err
	}
	return &Past{s.a, id}, nil
}

// Past answers from a snapshot as the store would have at that instant. Safe for
// concurrent use.
type Past struct {
	a  *Agent
	id op.SnapshotID
}

// Recall finds the memories that best answered a text. Errors: invalid; those
// of [wire.SnapshotReader.ShowSnapshot].
func (p *Past) Recall(ctx context.Context, q amber.Query) (amber.RecallResult, error) {
	return op.SnapshotRecall.Call(ctx, p.a, op.SnapshotRecallIn{SnapshotID: p.id, Body: q})
}

// Get returns one memory. Errors: not_found; those of Recall.
func (p *Past) Get(ctx context.Context, id amber.MemoryID) (amber.Memory, error) {
	if _, err := amber.ParseMemoryID(string(id)); err != nil {
		return amber.Memory{}, err
	}
	return op.SnapshotMemory.Call(ctx, p.a, op.SnapshotMemoryIn{SnapshotID: p.id, Memory: string(id)})
}

// List returns a page of memories, newest first. Errors: those of Recall.
func (p *Past) List(ctx context.Context, q amber.ListQuery) (amber.Page[amber.Memory], error) {
	return memories(q, func(in op.MemoriesIn) (amber.Page[amber.Memory], error) {
		return op.SnapshotMemories.Call(ctx, p.a, op.SnapshotMemoriesIn{SnapshotID: p.id, MemoriesIn: in})
	})
}

// Close does nothing; the server has let the snapshot go already.
func (p *Past) Close() error { return nil }

var _ wire.Consolidator = (*Snapshots)(nil)

// BeginConsolidation implements [wire.Consolidator].
func (s *Snapshots) BeginConsolidation(ctx context.Context, r wire.ConsolidationBegin) (wire.Consolidation, error) {
	return op.ConsolidationBegin.Call(ctx, s.a, op.ConsolidationBeginIn{Body: r})
}

// EndConsolidation implements [wire.Consolidator].
func (s *Snapshots) EndConsolidation(ctx context.Context, r wire.ConsolidationEnd) (wire.Consolidation, error) {
	return op.ConsolidationEnd.Call(ctx, s.a, op.ConsolidationEndIn{ID: r.ID, Body: r})
}

// OpenConsolidation implements [wire.Consolidator].
func (s *Snapshots) OpenConsolidation(ctx context.Context, tenant amber.TenantID, agent amber.AgentID) (wire.Consolidation, error) {
	return op.ConsolidationOpen.Call(ctx, s.a, op.Whose{Tenant: tenant, Agent: agent})
}
