package snapshottest_test

import (
	"context"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/snapshot/inmem"
	"github.com/amber-memory/amber/snapshot/snapshottest"
)

// double is an agent of the double.
type double struct {
	s      *inmem.Snapshotter
	tenant amber.TenantID
	id     amber.AgentID
}

func (d double) agent() *inmem.Agent {
	a, err := d.s.Agent(d.tenant, d.id)
	if err != nil {
		panic(err) // the suite asks for good names
	}
	return a
}

func (d double) Make(context.Context) error { return d.agent().Make() }

func (d double) Remember(_ context.Context, m snapshottest.Memory) (amber.MemoryID, error) {
	return d.agent().Remember(inmem.Memory(m))
}

func (d double) Edit(_ context.Context, id amber.MemoryID, m snapshottest.Memory) error {
	return d.agent().Edit(id, inmem.Memory(m))
}

func (d double) Forget(_ context.Context, id amber.MemoryID) error { return d.agent().Forget(id) }

func (d double) WriteNote(_ context.Context, name, text string) error {
	return d.agent().WriteNote(name, text)
}

func (d double) DeleteNote(_ context.Context, name string) error { return d.agent().DeleteNote(name) }

func (d double) PutState(_ context.Context, key, doc string) error {
	return d.agent().PutState(key, doc)
}

func (d double) Model(context.Context) (snapshottest.Model, error) {
	c, err := d.agent().Contents()
	m := snapshottest.Model{Memories: map[amber.MemoryID]snapshottest.Memory{}, Notes: c.Notes, State: c.State}
	for id, x := range c.Memories {
		m.Memories[id] = snapshottest.Memory(x)
	}
	return m, err
}

// random is a source of bytes that depend on nothing else.
func random() io.Reader { return rand.NewChaCha8([32]byte{'a', 'm', 'b', 'e', 'r'}) }

// faithful is the world of a double that keeps every promise.
func faithful(t *testing.T) snapshottest.World { return worldOf(t, nil) }

// worldOf is the world of a double, with its handle changed.
func worldOf(t *testing.T, change func(s *inmem.Snapshotter, clock *snapshottest.Clock, h *snapshottest.Handle)) snapshottest.World {
	t.Helper()
	clock := snapshottest.NewClock()
	s, err := inmem.New(inmem.Options{Clock: clock.Now, Random: random()})
	if err != nil {
		t.Fatal(err)
	}
	h := snapshottest.Handle{
		Snapshots: s, Checker: s,
		Agent: func(tenant amber.TenantID, id amber.AgentID) snapshottest.Agent { return double{s, tenant, id} },
	}
	if change != nil {
		change(s, clock, &h)
	}
	return snapshottest.World{Clock: clock, Open: func(context.Context) (snapshottest.Handle, error) { return h, nil }}
}
