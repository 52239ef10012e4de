package server

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/op"
)

// Sweep closes the agents that were not used for a while. Errors: those of
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

// Visit calls fn with every agent that is open now, one after the other, and
// stops at the first error. A visit does not count as use: an unused agent may
// still be closed to make room for another before it is visited.
func (p *Pool) Visit(fn func(*op.Agent) error) error {
	for _, n := range p.names() {
		if err := p.visit(n, fn); err != nil {
			return err
		}
	}
	return nil
}

// names lists the agents that are held, in order.
func (p *Pool) names() []AgentName {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []AgentName
	for n := range p.held {
		if n.Agent != "" {
			out = append(out, n)
		}
	}
	slices.SortFunc(out, func(a, b AgentName) int {
		return cmp.Or(strings.Compare(string(a.Tenant), string(b.Tenant)), strings.Compare(string(a.Agent), string(b.Agent)))
	})
	return out
}

// visit calls fn with an agent if it is still open.
func (p *Pool) visit(n AgentName, fn func(*op.Agent) error) error {
	p.mu.Lock()
	h, ok := p.held[n]
	if !ok || p.closed || !h.open() {
		p.mu.Unlock()
		return nil
	}
	h.users++
	p.users.Add(1)
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		h.users--
		p.users.Done()
	}()
	return fn(h.agent)
}

// open reports whether the agent is there to be used.
func (h *holding) open() bool {
	select {
	case <-h.ready:
		return h.err == nil
	default: // it is being opened
		return false
	}
}

// Close accepts no new users, waits for the present ones until ctx ends, and
// closes every agent. It may be called twice. Errors: unreachable when an agent
// is still used, which then stays open; those of closing.
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
