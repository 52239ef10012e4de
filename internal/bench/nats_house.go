package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/events"
	"github.com/amber-memory/amber/home"
	"github.com/amber-memory/amber/natsbus"
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

func newNATSHouse(ctx context.Context, dir string, seed uint64) (*natsHouse, error) {
	h, _, err := home.Open(dir, home.Options{Clock: time.Now, Random: rand.Reader})
	if err != nil {
		return nil, err
	}
	house := &natsHouse{names: []amber.AgentID{"ada", "bob"}, texts: newWriter(seed), took: map[string][]time.Duration{}}
	for _, name := range house.names {
		agent, err := h.Agent(amber.DefaultTenant, name)
		if err != nil {
			return nil, errors.Join(err, house.close())
		}
		s, err := sqlite.Open(ctx, agent, options())
		if err != nil {
			return nil, errors.Join(err, house.close())
		}
		house.stores = append(house.stores, s)
	}
	return house, nil
}

func (h *natsHouse) close() (err error) {
	for _, s := range h.stores {
		err = errors.Join(err, s.Close())
	}
	return err
}

// write measures a block of writes, to the agents in turn.
func (h *natsHouse) write(ctx context.Context, phase string, n int) error {
	for range n {
		h.writes++
		title, content := h.texts.text(h.writes)
		s := h.stores[h.writes%len(h.stores)]
		begin := time.Now()
		_, err := s.Write(ctx, amber.WriteRequest{Title: title, Content: content})
		h.took[phase] = append(h.took[phase], time.Since(begin))
		if err != nil {
			return err
		}
	}
	return nil
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
	closed sync.RWMutex // held while nobody may publish
}

// Publish implements [amber.Publisher].
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

func newNATSTold(ctx context.Context, dir string, seed uint64) (t *natsTold, err error) {
	t = &natsTold{broker: &natsBroker{dir: filepath.Join(dir, "broker")}}
	if t.natsHouse, err = newNATSHouse(ctx, filepath.Join(dir, "home"), seed); err != nil {
		return nil, err
	}
	if err := t.broker.start(ctx); err != nil {
		return nil, errors.Join(err, t.natsHouse.close())
	}
	t.bus, err = natsbus.Open(ctx, natsbus.Options{URL: t.broker.url(), JetStream: true, Clock: time.Now})
	if err != nil {
		t.broker.kill()
		return nil, errors.Join(err, t.natsHouse.close())
	}
	t.gate = &natsGate{Publisher: t.bus}
	for i, s := range t.stores {
		t.workers = append(t.workers, &events.Mutations{
			Log: s.Store().Changes, Tenant: amber.DefaultTenant, Agent: t.names[i], Publisher: t.gate,
			Cursor: events.FileCursor{Path: filepath.Join(dir, "published-"+string(t.names[i]))}, FromBeginning: true,
		})
	}
	return t, nil
}

func (t *natsTold) close(ctx context.Context) error {
	err := errors.Join(t.bus.Close(ctx), t.natsHouse.close())
	t.broker.kill()
	return err
}

// happen does to the broker what a phase is about.
func (t *natsTold) happen(ctx context.Context, phase string) error {
	switch phase {
	case "killed":
		t.broker.kill()
	case "restarted":
		return t.broker.start(ctx)
	}
	return nil
}

// work lets workers publish, as in a server, until they are stopped.
func (t *natsTold) work(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	for _, w := range t.workers {
		wg.Go(func() { _ = w.Run(ctx) }) // it ends with its context alone
	}
	return func() {
		cancel()
		wg.Wait()
	}
}

// finish publishes what is left.
func (t *natsTold) finish(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, natsWait)
	defer cancel()
	for _, w := range t.workers {
		for {
			n, err := w.CatchUp(ctx)
			if err == nil && n == 0 {
				break
			}
			if ctx.Err() != nil {
				return fmt.Errorf("not everything could be published: %w", err)
			}
			if err != nil {
				time.Sleep(100 * time.Millisecond) // it connects again
			}
		}
	}
	return nil
}
