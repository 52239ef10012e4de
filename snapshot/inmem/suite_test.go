package inmem_test

import (
	"context"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/snapshot/inmem"
	"github.com/amber-memory/amber/snapshot/snapshottest"
)

func TestKeepsEveryPromise(t *testing.T) {
	t.Parallel()
	snapshottest.Run(t, func(t *testing.T) snapshottest.World {
		clock := snapshottest.NewClock()
		s := open(t, clock)
		return snapshottest.World{Clock: clock, Open: func(context.Context) (snapshottest.Handle, error) {
			return snapshottest.Handle{Snapshots: s, Checker: s, Agent: func(tenant amber.TenantID, id amber.AgentID) snapshottest.Agent {
				a, err := s.Agent(tenant, id)
				if err != nil {
					panic(err) // the suite asks for good names
				}
				return agent{a}
			}}, nil
		}}
	})
}

func open(t *testing.T, clock *snapshottest.Clock) *inmem.Snapshotter {
	t.Helper()
	s, err := inmem.New(inmem.Options{Clock: clock.Now, Random: random()})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func random() io.Reader { return rand.NewChaCha8([32]byte{'a', 'm', 'b', 'e', 'r'}) }

// agent is one as the suite works on it.
type agent struct{ *inmem.Agent }

func (a agent) Make(context.Context) error { return a.Agent.Make() }

func (a agent) Remember(_ context.Context, m snapshottest.Memory) (amber.MemoryID, error) {
	return a.Agent.Remember(inmem.Memory(m))
}

func (a agent) Edit(_ context.Context, id amber.MemoryID, m snapshottest.Memory) error {
	return a.Agent.Edit(id, inmem.Memory(m))
}

func (a agent) Forget(_ context.Context, id amber.MemoryID) error { return a.Agent.Forget(id) }

func (a agent) WriteNote(_ context.Context, name, text string) error {
	return a.Agent.WriteNote(name, text)
}

func (a agent) DeleteNote(_ context.Context, name string) error { return a.Agent.DeleteNote(name) }

func (a agent) PutState(_ context.Context, key, doc string) error { return a.Agent.PutState(key, doc) }

func (a agent) Model(context.Context) (snapshottest.Model, error) {
	c, err := a.Contents()
	m := snapshottest.Model{Memories: map[amber.MemoryID]snapshottest.Memory{}, Notes: c.Notes, State: c.State}
	for id, x := range c.Memories {
		m.Memories[id] = snapshottest.Memory(x)
	}
	return m, err
}
