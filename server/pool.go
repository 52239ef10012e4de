package server

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/amber-memory/amber"
)

// Opener opens an agent; the function it returns closes it.
type Opener func(ctx context.Context, tenant amber.TenantID, agent amber.AgentID, create bool) (*Agent, func() error, error)

// PoolOptions say how many agents stay open. Clock is required.
type PoolOptions struct {
	Clock   amber.Clock
	MaxOpen int           // 0: 256; one more is busy unless an idle one can be closed
	Idle    time.Duration // how long an agent nobody uses stays open; 0: 5 min
}

// Pool keeps agents open that are used, each once however many use it, and
// closes those that nobody has used for a while. Safe for concurrent use.
type Pool struct {
	open Opener
	o    PoolOptions

	mu     sync.Mutex
	held   map[name]*holding
	closed bool
	users  sync.WaitGroup // agents that somebody uses
}

var _ Agents = (*Pool)(nil)

type name struct {
	tenant amber.TenantID
	agent  amber.AgentID
}

// holding is one agent that is open, or is being opened.
type holding struct {
	ready chan struct{} // closed once agent or err is set
	agent *Agent
	close func() error
	err   error
	users int
	last  time.Time // when the last user left
}

// NewPool returns an empty pool. The error is of kind invalid.
func NewPool(open Opener, o PoolOptions) (*Pool, error) {
	if open == nil || o.Clock == nil {
		return nil, amber.Errorf(amber.KindInvalid, "make pool", "", "an opener and a clock are required")
	}
	if o.MaxOpen <= 0 {
		o.MaxOpen = 256
	}
	if o.Idle <= 0 {
		o.Idle = 5 * time.Minute
	}
	return &Pool{open: open, o: o, held: map[name]*holding{}}, nil
}

// Agent implements [Agents].
func (p *Pool) Agent(ctx context.Context, tenant amber.TenantID, agent amber.AgentID, create bool) (*Agent, func(), error) {
	n := name{tenant, agent}
	h, mine, evicted, err := p.take(n)
	if err != nil {
		return nil, nil, err
	}
	if evicted != nil {
		if err := evicted.close(); err != nil {
			p.leave(n, h)
			return nil, nil, err
		}
	}
	if mine {
		// Others wait for this opening, so the first one's patience is not
		// theirs.
		h.agent, h.close, h.err = p.open(context.WithoutCancel(ctx), tenant, agent, create)
		if h.err != nil {
			p.forget(n, h)
		}
		close(h.ready)
	}
	select {
	case <-h.ready:
	case <-ctx.Done():
		p.leave(n, h)
		return nil, nil, &amber.Error{Op: "open agent", Kind: amber.KindUnreachable, Err: ctx.Err()}
	}
	if h.err != nil {
		p.leave(n, h)
		if !mine && create && amber.KindOf(h.err) == amber.KindNotFound {
			return p.Agent(ctx, tenant, agent, create) // the other one would not make it
		}
		return nil, nil, h.err
	}
	return h.agent, sync.OnceFunc(func() { p.leave(n, h) }), nil
}

// take finds or makes the holding of an agent and counts one more user. Mine
// says that the caller opens it; evicted is one to be closed first.
func (p *Pool) take(n name) (h *holding, mine bool, evicted *holding, err error) {
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

// evict takes out the agent that nobody has used for longest.
func (p *Pool) evict() *holding {
	var found name
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
func (p *Pool) forget(n name, h *holding) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held[n] == h {
		delete(p.held, n)
	}
}

// leave counts one user less.
func (p *Pool) leave(_ name, h *holding) {
	p.mu.Lock()
	defer p.mu.Unlock()
	h.users--
	h.last = p.o.Clock()
	p.users.Done()
}

// Sweep closes the agents that nobody has used for a while. Errors: those of
// closing, joined.
func (p *Pool) Sweep() error {
	now := p.o.Clock()
	return p.closeAll(func(h *holding) bool { return h.users == 0 && now.Sub(h.last) >= p.o.Idle })
}

// Open returns how many agents are open.
func (p *Pool) Open() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.held)
}

// Close lets nobody in any more, waits until ctx ends for those who are, and
// closes every agent. It may be called twice. Errors: unreachable when somebody
// is still there, whose agent stays open; those of closing.
func (p *Pool) Close(ctx context.Context) error {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	gone := make(chan struct{})
	go func() {
		p.users.Wait()
		close(gone)
	}()
	var late error
	select {
	case <-gone:
	case <-ctx.Done():
		late = &amber.Error{Op: "close agents", Kind: amber.KindUnreachable, Err: ctx.Err()}
	}
	return errors.Join(late, p.closeAll(func(h *holding) bool { return h.users == 0 }))
}

// closeAll closes the agents that fit.
func (p *Pool) closeAll(fits func(*holding) bool) error {
	p.mu.Lock()
	var out []*holding
	for n, h := range p.held {
		if fits(h) {
			out = append(out, h)
			delete(p.held, n)
		}
	}
	p.mu.Unlock()
	var errs []error
	for _, h := range out {
		errs = append(errs, h.close())
	}
	return errors.Join(errs...)
}
