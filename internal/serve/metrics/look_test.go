package metrics_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/serve/metrics"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// pages are snapshots that are listed one at a time.
type pages struct {
	noSnapshots
	all []wire.SnapshotMeta
	err error
}

func (p pages) ListSnapshots(_ context.Context, q wire.SnapshotQuery) (amber.Page[wire.SnapshotMeta], error) {
	i := len(q.Cursor)
	if p.err != nil || i >= len(p.all) {
		return amber.Page[wire.SnapshotMeta]{}, p.err
	}
	page := amber.Page[wire.SnapshotMeta]{Items: p.all[i : i+1]}
	if i+1 < len(p.all) {
		page.Next = q.Cursor + "x"
	}
	return page, nil
}

// quarrels is a replica with a conflict.
type quarrels struct{ amber.Replica }

func (quarrels) SyncReport(context.Context, string) (amber.SyncReport, error) {
	return amber.SyncReport{ConflictCount: 1}, nil
}

func ago(d time.Duration) amber.Time { return amber.At(start.Add(-d)) }

func TestLookSeesEverythingThereIs(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	must.Do(t, must.Err(s.LongTerm.Write(t.Context(), amber.WriteRequest{Content: "x"})))
	must.Do(t, s.Queue.Publish(t.Context(), amber.Envelope{EntryID: "e", TaskID: "t", NodeID: "n"}))
	parts := s.Present()
	parts.Sync = quarrels{}
	got := must.Get(metrics.Look(t.Context(), metrics.Subject{
		Tenant: tenant, Agent: agent, Store: amber.NewStore(parts),
		Snapshots: pages{all: []wire.SnapshotMeta{
			{CreatedAt: ago(2 * time.Hour), BytesTotal: 10, BytesNew: 1},
			{CreatedAt: ago(time.Hour), BytesTotal: 20, BytesNew: 2},
			{CreatedAt: ago(time.Minute), Damage: "torn"},
		}},
		Journal: func(context.Context) ([]wire.JournalStatus, error) {
			return []wire.JournalStatus{
				{Undrained: 2, Oldest: ago(time.Minute), Bytes: 5, Quarantined: 1},
				{Undrained: 3, Oldest: ago(time.Hour), Bytes: 6, Damaged: 1},
				{Bytes: 7},
			}, nil
		},
	}))(t)
	want := metrics.AgentGauges{
		Tenant: tenant, Agent: agent,
		Memory:    &metrics.MemoryGauges{Memories: 1},
		Journal:   &metrics.JournalGauges{Undrained: 5, Oldest: ago(time.Hour), Bytes: 18, Quarantined: 1, Damaged: 1},
		Snapshots: &metrics.SnapshotGauges{Count: 3, Newest: ago(time.Hour), Bytes: 20, BytesNew: 2, Damaged: 1},
		Queue:     &amber.Backpressure{Queued: 1, MaxInFlight: 32, Available: 32},
		Sync:      &metrics.SyncGauges{Conflicts: 1},
	}
	must.Equal(t, "", got, want, cmpopts.EquateComparable(amber.Time{}))
}

func TestLookLeavesOutWhatItCannotSee(t *testing.T) {
	t.Parallel()
	got, err := metrics.Look(t.Context(), metrics.Subject{
		Tenant: tenant, Agent: agent, Store: amber.NewStore(amber.Parts{}), Snapshots: pages{err: errSecret},
		Journal: func(context.Context) ([]wire.JournalStatus, error) { return nil, nil },
	})
	must.Is(t, "", err, errSecret)
	want := metrics.AgentGauges{Tenant: tenant, Agent: agent, Journal: &metrics.JournalGauges{}}
	must.Equal(t, "", got, want, cmpopts.EquateComparable(amber.Time{}))
}

// TestALookIsNoOperation: a look at the measured stores is not counted as an operation.
func TestALookIsNoOperation(t *testing.T) {
	t.Parallel()
	m := newMetrics(t)
	s, snapshots := m.Store(tenant, agent, newStore(t)), m.Snapshots(tenant, agent, pages{all: []wire.SnapshotMeta{{CreatedAt: ago(time.Hour)}}})
	must.Do(t, must.Err(metrics.Look(t.Context(), metrics.Subject{Tenant: tenant, Agent: agent, Store: s, Snapshots: snapshots})))
	for _, name := range []string{"amber_operations_total", "amber_snapshot_operations_total"} {
		if got := lines(t, m, name); got != nil {
			t.Errorf("a look counts: %v", got)
		}
	}
	must.Do(t, must.Err(s.Stats.Stats(t.Context())))
	must.Equal(t, "series of what is no look", len(lines(t, m, "amber_operations_total")), 1)
}
