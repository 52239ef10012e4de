package server

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/op"
)

// Opener opens an agent; the function it returns closes it.
type Opener func(ctx context.Context, tenant amber.TenantID, agent amber.AgentID, create bool) (*op.Agent, func() error, error)

// PoolOptions say how many agents stay open. Clock is required.
type PoolOptions struct {
	Clock   amber.Clock
	MaxOpen int           // 0: 256; one more is busy unless an idle one can be closed
	Idle    time.Duration // how long an unused agent stays open; 0: 5 min
	Log     *slog.Logger  // gets the error when an agent could not be closed to make room; nil: silent
}

// Pool keeps agents open while they are used, each once for all its users, and
// closes agents that were not used for a while. Safe for concurrent use.
type Pool struct {
	open Opener
	o    PoolOptions

	mu     sync.Mutex
	held   map[AgentName]*holding
	closed bool
	users  sync.WaitGroup // one for each use of an agent
}

var _ Agents = (*Pool)(nil)

// holding is one agent that is open, or is being opened.
type holding struct {
	ready chan struct{} // closed once agent or err is set
	agent *op.Agent
	close func() error
	err   error
	users int
	last  time.Time // when the last user left
}

// NewPool returns an empty pool.
func NewPool(open Opener, o PoolOptions) *Pool {
	if o.MaxOpen <= 0 {
		o.MaxOpen = 256
	}
	if o.Idle <= 0 {
		o.Idle = 5 * time.Minute
	}
	return &Pool{open: open, o: o, held: map[AgentName]*holding{}}
}

// Agent implements [Agents].
func (p *Pool) Agent(ctx context.Context, tenant amber.TenantID, agent amber.AgentID, create bool) (*op.Agent, func(), error) {
	for {
		a, release, again, err := p.try(ctx, AgentName{Tenant: tenant, Agent: agent}, create)
		if !again {
			return a, release, err
		}
	}
}

// try opens an agent, or waits for the caller that opens it. Again is true where that caller would not make an
// agent that is not there, and this one would.
func (p *Pool) try(ctx context.Context, n AgentName, create bool) (a *op.Agent, release func(), again bool, err error) {
	h, mine, evicted, err := p.take(n)
	if err != nil {
		return nil, nil, false, err
	}
	kept := false
	defer func() {
		if !kept { // also when the opener panics
			p.leave(h)
		}
	}()
	if mine {
		p.fill(ctx, n, h, evicted, create)
	}
	select {
	case <-h.ready:
	case <-ctx.Done():
		return nil, nil, false, &amber.Error{Op: "open agent", Kind: amber.KindUnreachable, Err: ctx.Err()}
	}
	if h.err != nil {
		return nil, nil, !mine && create && amber.KindOf(h.err) == amber.KindNotFound, h.err
	}
	kept = true
	return h.agent, sync.OnceFunc(func() { p.leave(h) }), false, nil
}

// fill opens the agent of a holding. However that ends, fill wakes every caller that waits, and the pool does not
// keep an agent that did not open. An error of closing another agent to make room does not stop this one from being
// opened.
func (p *Pool) fill(ctx context.Context, n AgentName, h, evicted *holding, create bool) {
	h.err = amber.Errorf(amber.KindInternal, "open agent", "", "a bug in Amber; see the log of the server") // unless something else is known
	defer func() {
		if h.err != nil {
			p.forget(n, h)
		}
		close(h.ready)
	}()
	if evicted != nil {
		if err := evicted.close(); err != nil && p.o.Log != nil {
			p.o.Log.ErrorContext(ctx, "an idle agent could not be closed", "tenant", evicted.agent.Tenant, "agent", evicted.agent.ID, "error", err)
		}
	}
	// Other callers wait for this opening, so it does not end with the context of the first one.
	h.agent, h.close, h.err = p.open(context.WithoutCancel(ctx), n.Tenant, n.Agent, create)
}

// take finds or makes the holding of an agent and counts one more user. Mine says that the caller opens the agent;
// evicted is a holding that the caller closes first.
func (p *Pool) take(n AgentName) (h *holding, mine bool, evicted *holding, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, false, nil, amber.Errorf(amber.KindUnreachable, "open agent", "", "the server is shutting down")
	}
	h, ok := p.held[n]
	if !ok {
		if len(p.held) >= p.o.MaxOpen {
			if evicted = p.evict(); evicted == nil {
				return nil, false, nil, amber.Errorf(amber.KindBusy, "open agent", "", "too many agents are in use")
			}
		}
		h, mine = &holding{ready: make(chan struct{})}, true
		p.held[n] = h
	}
	h.users++
	p.users.Add(1)
	return h, mine, evicted, nil
}

// evict takes out the unused agent whose last use is the longest ago; nil where every agent is in use.
func (p *Pool) evict() *holding {
	var found AgentName
	var oldest *holding
	for n, h := range p.held {
		if h.users == 0 && (oldest == nil || h.last.Before(oldest.last)) {
			found, oldest = n, h
		}
	}
	if oldest != nil {
		delete(p.held, found)
	}
	return oldest
}

// forget takes out an agent that could not be opened.
func (p *Pool) forget(n AgentName, h *holding) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held[n] == h {
		delete(p.held, n)
	}
}

// leave counts one user less.
func (p *Pool) leave(h *holding) {
	p.mu.Lock()
	defer p.mu.Unlock()
	h.users--
	h.last = p.o.Clock()
	p.users.Done()
}

// Agents opens agents.
type Agents interface {
	// Agent returns an agent; release lets it go and is called exactly once.
	// With create, an agent that does not exist is made. Errors: those of
	// [op.NotThere]; busy when too many are open; those of the store.
	Agent(ctx context.Context, tenant amber.TenantID, agent amber.AgentID, create bool) (a *op.Agent, release func(), err error)
}
