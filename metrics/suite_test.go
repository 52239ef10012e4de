package metrics_test

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/metrics"
	snapshots "github.com/amber-memory/amber/snapshot/inmem"
	"github.com/amber-memory/amber/snapshot/snapshottest"
	"github.com/amber-memory/amber/store/inmem"
	"github.com/amber-memory/amber/store/storetest"
)

// measured is a place whose stores are measured.
type measured struct{ m *metrics.Metrics }

func (p measured) Open(_ context.Context, env storetest.Env) (amber.Store, io.Closer, error) {
	s, err := inmem.New(inmem.Options{Clock: env.Clock, Random: env.Random, Queue: env.Queue})
	if err != nil {
		return amber.Store{}, nil, err
	}
	return p.m.Store(tenant, agent, s.Store()), io.NopCloser(nil), nil
}

func (measured) Remove() error { return nil }

func TestAMeasuredStoreKeepsEveryPromise(t *testing.T) {
	t.Parallel()
	m := newMetrics(t)
	report, err := storetest.Run(t.Context(), storetest.Backend{
		Name: "measured", Fresh: func() (storetest.Place, error) { return measured{m}, nil },
	})
	if err != nil {
		t.Error(err)
	}
	for _, name := range report.NotRun {
		if !strings.HasPrefix(name, "durable/") && !strings.HasPrefix(name, "shared/") {
			t.Errorf("check %s was not run", name)
		}
	}
	if len(report.Passed) == 0 {
		t.Error("no check passed")
	}
	if len(lines(t, m, "amber_operations_total")) == 0 {
		t.Error("nothing was measured")
	}
}

func TestMeasuredSnapshotsKeepEveryPromise(t *testing.T) {
	t.Parallel()
	m := newMetrics(t)
	t.Run("suite", func(t *testing.T) {
		snapshottest.Run(t, func(t *testing.T) snapshottest.World {
			clock := snapshottest.NewClock()
			s, err := snapshots.New(snapshots.Options{Clock: clock.Now, Random: random()})
			if err != nil {
				t.Fatal(err)
			}
			return snapshottest.World{Clock: clock, Open: func(context.Context) (snapshottest.Handle, error) {
				return snapshottest.Handle{
					Snapshots: m.Snapshots("", "", s), Checker: m.Repository("", s),
					Agent: func(tenant amber.TenantID, id amber.AgentID) snapshottest.Agent {
						a, err := s.Agent(tenant, id)
						if err != nil {
							panic(err) // the suite asks for good names
						}
						return lived{a}
					},
				}, nil
			}}
		})
	})
	if len(lines(t, m, "amber_snapshot_operations_total")) == 0 {
		t.Error("nothing was measured")
	}
}

// lived is an agent as the suite works on it.
type lived struct{ *snapshots.Agent }

func (a lived) Make(context.Context) error { return a.Agent.Make() }

func (a lived) Remember(_ context.Context, m snapshottest.Memory) (amber.MemoryID, error) {
	return a.Agent.Remember(snapshots.Memory(m))
}

func (a lived) Edit(_ context.Context, id amber.MemoryID, m snapshottest.Memory) error {
	return a.Agent.Edit(id, snapshots.Memory(m))
}

func (a lived) Forget(_ context.Context, id amber.MemoryID) error { return a.Agent.Forget(id) }

func (a lived) WriteNote(_ context.Context, name, text string) error {
	return a.Agent.WriteNote(name, text)
}

func (a lived) DeleteNote(_ context.Context, name string) error { return a.Agent.DeleteNote(name) }

func (a lived) PutState(_ context.Context, key, doc string) error { return a.Agent.PutState(key, doc) }

func (a lived) Model(context.Context) (snapshottest.Model, error) {
	c, err := a.Contents()
	m := snapshottest.Model{Memories: map[amber.MemoryID]snapshottest.Memory{}, Notes: c.Notes, State: c.State}
	for id, x := range c.Memories {
		m.Memories[id] = snapshottest.Memory(x)
	}
	return m, err
}
