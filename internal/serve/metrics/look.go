package metrics

import (
	"context"
	"errors"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

// Subject is an agent to look at. A part that is nil is not looked at. The looks do not count as
// operations of the agent.
type Subject struct {
	Tenant    amber.TenantID
	Agent     amber.AgentID
	Store     amber.Store
	Snapshots wire.SnapshotReader
	Journal   func(ctx context.Context) ([]wire.JournalStatus, error)
}

// Look looks at an agent. A part that cannot be looked at is missing from the answer, and the error
// says so. A part that the store does not have is only missing.
func Look(ctx context.Context, s Subject) (AgentGauges, error) {
	ctx = Unwatched(ctx)
	g := AgentGauges{Tenant: s.Tenant, Agent: s.Agent}
	p := s.Store.Present()
	var errs []error
	if p.Stats != nil {
		st, err := p.Stats.Stats(ctx)
		g.Memory = seen(&errs, MemoryGauges{Memories: st.Memories, Sessions: st.Sessions, Bytes: st.Bytes}, err)
	}
	if p.QueueKeeper != nil {
		b, err := p.QueueKeeper.Backpressure(ctx)
		g.Queue = seen(&errs, b, err)
	}
	if p.Sync != nil {
		r, err := p.Sync.SyncReport(ctx, "")
		g.Sync = seen(&errs, SyncGauges{Conflicts: r.ConflictCount}, err)
	}
	if s.Journal != nil {
		sessions, err := s.Journal(ctx)
		g.Journal = seen(&errs, journalGauges(sessions), err)
	}
	if s.Snapshots != nil {
		n, err := snapshotGauges(ctx, s)
		g.Snapshots = seen(&errs, n, err)
	}
	return g, errors.Join(errs...)
}

// seen returns what was seen, nil with the error noted when there is one.
func seen[T any](errs *[]error, v T, err error) *T {
	if err != nil {
		*errs = append(*errs, err)
		return nil
	}
	return &v
}

func journalGauges(sessions []wire.JournalStatus) (g JournalGauges) {
	for _, s := range sessions {
		g.Undrained += s.Undrained
		g.Bytes += s.Bytes
		g.Quarantined += s.Quarantined
		g.Damaged += s.Damaged
		if !s.Oldest.IsZero() && (g.Oldest.IsZero() || s.Oldest.Before(g.Oldest)) {
			g.Oldest = s.Oldest
		}
	}
	return g
}

func snapshotGauges(ctx context.Context, s Subject) (g SnapshotGauges, err error) {
	q := wire.SnapshotQuery{Tenant: s.Tenant, Agent: s.Agent, Limit: amber.MaxPageSize}
	for {
		page, err := s.Snapshots.ListSnapshots(ctx, q)
		if err != nil {
			return SnapshotGauges{}, err
		}
		for _, m := range page.Items {
			g.add(m)
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			return g, nil
		}
	}
}

func (g *SnapshotGauges) add(m wire.SnapshotMeta) {
	g.Count++
	if m.Damage != "" {
		g.Damaged++
		return
	}
	if g.Newest.Before(m.CreatedAt) {
		g.Newest, g.Bytes, g.BytesNew = m.CreatedAt, m.BytesTotal, m.BytesNew
	}
}
