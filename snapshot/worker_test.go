package snapshot_test

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/snapshot/inmem"
)

// workClock is a clock that stands until it is moved.
type workClock struct {
	mu  sync.Mutex
	now time.Time
}

func newWorkClock() *workClock {
	return &workClock{now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
}

func (c *workClock) read() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *workClock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// people is a roster.
type people map[amber.TenantID][]amber.AgentID

func (p people) Tenants() ([]amber.TenantID, error) {
	var out []amber.TenantID
	for t := range p {
		out = append(out, t)
	}
	slices.Sort(out)
	return out, nil
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
	got  []amber.Event
	fail error
}

func (h *heard) Publish(ctx context.Context, e amber.Event) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.fail != nil || ctx.Err() != nil {
		return errors.Join(h.fail, ctx.Err())
	}
	h.got = append(h.got, e)
	return nil
}

// shelf is a snapshotter with agents that have something to remember.
func shelf(t *testing.T, clock *workClock, p people) *inmem.Snapshotter {
	t.Helper()
	s, err := inmem.New(inmem.Options{Clock: clock.read, Random: rand.Reader})
	if err != nil {
		t.Fatal(err)
	}
	for tenant, agents := range p {
		for _, agent := range agents {
			a, err := s.Agent(tenant, agent)
			if err == nil {
				err = a.Make()
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	return s
}

func take(t *testing.T, s amber.SnapshotTaker, tenant amber.TenantID, agent amber.AgentID) amber.SnapshotMeta {
	t.Helper()
	meta, err := s.Snapshot(t.Context(), amber.SnapshotRequest{Tenant: tenant, Agent: agent})
	if err != nil {
		t.Fatal(err)
	}
	return meta
}

func list(t *testing.T, s amber.SnapshotReader, tenant amber.TenantID, agent amber.AgentID) []amber.SnapshotMeta {
	t.Helper()
	page, err := s.ListSnapshots(t.Context(), amber.SnapshotQuery{Tenant: tenant, Agent: agent})
	if err != nil {
		t.Fatal(err)
	}
	return page.Items
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(amber.Time{})); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}
