package main

import (
	"context"
	"path/filepath"
	"sync"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/events"
	"github.com/amber-memory/amber/internal/serve/natsbus"
	"github.com/amber-memory/amber/store/sqlite"
)

// natsHouse is two agents that are written to, in a home of their own.
type natsHouse struct {
	names  []amber.AgentID
	stores []*sqlite.Store
	texts  *writer
	writes int
	took   map[string][]time.Duration // by phase
}

func newNATSHouse(ctx context.Context, dir string, seed uint64) *natsHouse {
	h := homeIn(dir)
	house := &natsHouse{names: []amber.AgentID{"ada", "bob"}, texts: newWriter(seed), took: map[string][]time.Duration{}}
	for _, name := range house.names {
		agent := get(h.Agent(amber.DefaultTenant, name))
		house.stores = append(house.stores, get(sqlite.Open(ctx, agent, options())))
	}
	return house
}

func (h *natsHouse) close() {
	for _, s := range h.stores {
		check(s.Close())
	}
}

// write measures a block of writes, to the agents in turn.
func (h *natsHouse) write(ctx context.Context, phase string, n int) {
	for range n {
		h.writes++
		title, content := h.texts.text(h.writes)
		s := h.stores[h.writes%len(h.stores)]
		begin := time.Now()
		get(s.Write(ctx, amber.WriteRequest{Title: title, Content: content}))
		h.took[phase] = append(h.took[phase], time.Since(begin))
	}
}

func (h *natsHouse) all() (all []time.Duration) {
	for _, phase := range natsPhases {
		all = append(all, h.took[phase]...)
	}
	return all
}

// natsGate is a publisher that can be made to wait.
type natsGate struct {
	events.Publisher
	closed sync.RWMutex // held while no event can be published
}

// shut runs f while no event can be published.
func (g *natsGate) shut(f func()) {
	g.closed.Lock()
	defer g.closed.Unlock()
	f()
}

// Publish implements [events.Publisher].
func (g *natsGate) Publish(ctx context.Context, e events.Event) error {
	g.closed.RLock()
	defer g.closed.RUnlock()
	return g.Publisher.Publish(ctx, e)
}

// natsTold is a house whose changes are published.
type natsTold struct {
	*natsHouse
	broker  *natsBroker
	bus     *natsbus.Bus
	gate    *natsGate
	workers []*events.Mutations
}

func newNATSTold(ctx context.Context, dir string, seed uint64) *natsTold {
	t := &natsTold{broker: &natsBroker{dir: filepath.Join(dir, "broker")}}
	t.natsHouse = newNATSHouse(ctx, filepath.Join(dir, "home"), seed)
	t.broker.start(ctx)
	t.bus = get(natsbus.Open(ctx, natsbus.Options{URL: t.broker.url(), JetStream: true}))
	t.gate = &natsGate{Publisher: t.bus}
	for i, s := range t.stores {
		t.workers = append(t.workers, &events.Mutations{
			Log: s.Store().Changes, Tenant: amber.DefaultTenant, Agent: t.names[i], Publisher: t.gate,
			Cursor: events.FileCursor{Path: filepath.Join(dir, "published-"+string(t.names[i]))}, FromBeginning: true,
		})
	}
	return t
}

func (t *natsTold) close(ctx context.Context) {
	defer t.broker.kill()
	check(t.bus.Close(ctx))
	t.natsHouse.close()
}

// happen does to the broker what a phase is about.
func (t *natsTold) happen(ctx context.Context, phase string) {
	switch phase {
	case "killed":
		t.broker.kill()
	case "restarted":
		t.broker.start(ctx)
	}
}

// work lets workers publish, as in a server, while f runs.
func (t *natsTold) work(ctx context.Context, f func()) {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	for _, w := range t.workers {
		wg.Go(func() { _ = w.Run(ctx) }) // it ends with its context alone
	}
	defer wg.Wait()
	defer cancel()
	f()
}

// finish publishes what is left.
func (t *natsTold) finish(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, natsWait)
	defer cancel()
	for _, w := range t.workers {
		for {
			n, err := w.CatchUp(ctx)
			if err == nil && n == 0 {
				break
			}
			if ctx.Err() != nil {
				fail("not everything could be published: %w", err)
			}
			if err != nil {
				time.Sleep(100 * time.Millisecond) // it connects again
			}
		}
	}
}
