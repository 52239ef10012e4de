package op

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/guard/authorship"
	"github.com/amber-memory/amber/internal/guard/bounds"
	"github.com/amber-memory/amber/wire"
)

// Within returns the agent as a bound caller has it: the store, and the memory of snapshots. All that is about the whole agent is left out;
// the list of snapshots stays, so that one can be named.
func (a *Agent) Within(b wire.Bound) *Agent {
	if b.None() {
		return a
	}
	own := &Agent{Tenant: a.Tenant, ID: a.ID, Policy: a.Policy, Random: a.Random, Snapshots: a.Snapshots}
	if a.ID == "" { // nothing of an agent is open
		return own
	}
	own.limit = bounds.New(a.Store, b)
	own.Store = own.limit.Store()
	if a.Past != nil {
		own.Past = ownPast{a.Past, own.limit, b}
	}
	return own
}

// Signed returns the agent as a job that writes has it: every write bears who speaks.
func (a *Agent) Signed(w authorship.Writer) *Agent {
	own := *a
	if a.Snapshots != nil {
		own.Snapshots = signedSnapshots{a.Snapshots, w}
	}
	if a.ID != "" { // the agent is open
		own.Store = authorship.Sign(a.Store, w)
	}
	return &own
}

// signedSnapshots says in a snapshot who asked for it.
type signedSnapshots struct {
	wire.Snapshotter
	writer authorship.Writer
}

// Snapshot implements [wire.SnapshotTaker].
func (s signedSnapshots) Snapshot(ctx context.Context, r wire.SnapshotRequest) (wire.SnapshotMeta, error) {
	r.By = s.writer.Asks(r.By)
	return s.Snapshotter.Snapshot(ctx, r)
}

// Shows returns those changes of the agent that the caller may be told.
func (a *Agent) Shows(ctx context.Context, changes []amber.Change) ([]amber.Change, error) {
	if a.limit == nil {
		return changes, nil
	}
	return a.limit.Changes(ctx, changes)
}

// ownPast opens the memory of snapshots for a bound caller.
type ownPast struct {
	PastOpener
	limit *bounds.Limit
	bound wire.Bound
}

// At implements [PastOpener].
func (p ownPast) At(ctx context.Context, ref wire.SnapshotRef) (Past, error) {
	past, err := p.PastOpener.At(ctx, ref)
	if err != nil {
		return nil, err
	}
	return ownThen{past, p.limit}, nil
}

// RestoreMemory implements [PastOpener].
func (p ownPast) RestoreMemory(_ context.Context, _ wire.MemoryRestoreRequest) (wire.MemoryRestore, error) {
	return wire.MemoryRestore{}, Caller{Grant: wire.Grant{Bound: p.bound}}.AllowWhole()
}

// ownThen answers a bound caller from a snapshot. A session is the caller's if it is now.
type ownThen struct {
	Past
	limit *bounds.Limit
}

// Recall implements [Past].
func (p ownThen) Recall(ctx context.Context, q amber.Query) (amber.RecallResult, error) {
	q, err := p.limit.Query(q)
	if err != nil {
		return amber.RecallResult{}, err
	}
	r, err := p.Past.Recall(ctx, q)
	if err != nil {
		return amber.RecallResult{}, err
	}
	return p.limit.Found(ctx, r, p.Past.Get)
}

// Get implements [Past].
func (p ownThen) Get(ctx context.Context, id amber.MemoryID) (amber.Memory, error) {
	return p.limit.Get(ctx, id, p.Past.Get)
}

// List implements [Past].
func (p ownThen) List(ctx context.Context, q amber.ListQuery) (amber.Page[amber.Memory], error) {
	return p.limit.List(ctx, q, p.Past.List)
}
