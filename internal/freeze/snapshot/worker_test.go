package snapshot_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/events"
	"github.com/amber-memory/amber/internal/freeze/snapshot"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/storetest"
	"github.com/amber-memory/amber/wire"
)

func newWorkClock() *storetest.Clock {
	return storetest.NewClock(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
}

// people is a roster.
type people map[amber.TenantID][]amber.AgentID

func (p people) Tenants() ([]amber.TenantID, error) {
	return slices.Sorted(maps.Keys(p)), nil
}

func (p people) Agents(t amber.TenantID) ([]amber.AgentID, error) {
	if t == "broken" {
		return nil, errors.New("the folder cannot be read")
	}
	return p[t], nil
}

// lost is a roster that cannot be read.
type lost struct{ people }

func (lost) Tenants() ([]amber.TenantID, error) { return nil, errors.New("the disk is gone") }

// pacer lets a test decide when a wait is over.
type pacer struct {
	waits chan time.Duration
	wake  chan time.Time
}

func newPacer() *pacer { return &pacer{make(chan time.Duration), make(chan time.Time)} }

func (p *pacer) after(d time.Duration) <-chan time.Time {
	p.waits <- d
	return p.wake
}

// heard is a publisher that keeps what it is given.
type heard struct {
	mu   sync.Mutex
	got  []events.Event
	fail error
}

func (h *heard) Publish(ctx context.Context, e events.Event) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.fail != nil || ctx.Err() != nil {
		return errors.Join(h.fail, ctx.Err())
	}
	h.got = append(h.got, e)
	return nil
}

// album is a snapshotter in memory, as far as the workers need one: it knows its
// agents and keeps what was taken of them, newest first.
type album struct {
	clock *storetest.Clock
	taken map[amber.TenantID]map[amber.AgentID][]wire.SnapshotMeta
}

func newAlbum(clock *storetest.Clock, p people) *album {
	a := &album{clock, map[amber.TenantID]map[amber.AgentID][]wire.SnapshotMeta{}}
	for tenant, agents := range p {
		a.taken[tenant] = map[amber.AgentID][]wire.SnapshotMeta{}
		for _, agent := range agents {
			a.taken[tenant][agent] = nil
		}
	}
	return a
}

func (a *album) Snapshot(_ context.Context, r wire.SnapshotRequest) (wire.SnapshotMeta, error) {
	if _, err := amber.ParseAgentID(string(r.Agent)); err != nil {
		return wire.SnapshotMeta{}, err
	}
	list, ok := a.taken[r.Tenant][r.Agent]
	if !ok {
		return wire.SnapshotMeta{}, amber.Errorf(amber.KindNotFound, "take snapshot", string(r.Agent), "no such agent")
	}
	id := amber.SnapshotID(fmt.Sprintf("%s/%s/%d", r.Tenant, r.Agent, len(list)))
	meta := wire.SnapshotMeta{ID: id, Tenant: r.Tenant, Agent: r.Agent, Label: r.Label, CreatedAt: amber.At(a.clock.Now())}
	a.taken[r.Tenant][r.Agent] = append([]wire.SnapshotMeta{meta}, list...)
	return meta, nil
}

func (a *album) ListSnapshots(_ context.Context, q wire.SnapshotQuery) (amber.Page[wire.SnapshotMeta], error) {
	return amber.Page[wire.SnapshotMeta]{Items: a.taken[q.Tenant][q.Agent]}, nil
}

func (a *album) PruneSnapshots(_ context.Context, r wire.PruneRequest) (report wire.PruneReport, _ error) {
	list := a.taken[r.Tenant][r.Agent]
	for i, m := range list {
		if i < r.KeepLast {
			report.Kept = append(report.Kept, wire.Kept{ID: m.ID})
		} else {
			report.Deleted = append(report.Deleted, m.ID)
		}
	}
	a.taken[r.Tenant][r.Agent] = list[:min(len(list), r.KeepLast)]
	return report, nil
}

func (*album) CollectGarbage(context.Context, wire.GCRequest) (wire.GCReport, error) {
	return wire.GCReport{}, nil
}

func take(t *testing.T, s snapshot.Taker, tenant amber.TenantID, agent amber.AgentID) wire.SnapshotMeta {
	t.Helper()
	return must.Get(s.Snapshot(t.Context(), wire.SnapshotRequest{Tenant: tenant, Agent: agent}))(t)
}

func list(t *testing.T, s snapshot.Taker, tenant amber.TenantID, agent amber.AgentID) []wire.SnapshotMeta {
	t.Helper()
	return must.Get(s.ListSnapshots(t.Context(), wire.SnapshotQuery{Tenant: tenant, Agent: agent}))(t).Items
}

func mustEqual(t *testing.T, what string, got, want any) {
	t.Helper()
	must.Equal(t, what, got, want, cmp.AllowUnexported(amber.Time{}))
}
