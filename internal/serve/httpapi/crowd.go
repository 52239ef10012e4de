package httpapi

import (
	"context"
	"sync"

	"github.com/amber-memory/amber"
)

// crowd counts event streams, or uploads, so that neither one token nor one tenant
// takes the places of all others.
type crowd struct {
	what                      string // they are
	most, perActor, perTenant int

	mu      sync.Mutex
	open    int
	actors  map[string]int
	tenants map[amber.TenantID]int
}

// newCrowd lets one tenant have a quarter of all places and one token an eighth,
// but at least one.
func newCrowd(what string, most int) *crowd {
	return &crowd{what: what, most: most, perActor: max(most/8, 1), perTenant: max(most/4, 1), actors: map[string]int{}, tenants: map[amber.TenantID]int{}}
}

// enter takes a place; leave gives it back and is called once. The error is of
// kind busy.
func (c *crowd) enter(actor string, tenant amber.TenantID) (leave func(), err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	why := ""
	switch {
	case c.open >= c.most:
		why = "too many %s are open"
	case c.actors[actor] >= c.perActor:
		why = "the token has too many %s open"
	case c.tenants[tenant] >= c.perTenant:
		why = "the tenant has too many %s open"
	}
	if why != "" {
		return nil, amber.Errorf(amber.KindBusy, "open "+c.what, "", why, c.what)
	}
	c.open++
	c.actors[actor]++
	c.tenants[tenant]++
	return func() { c.leave(actor, tenant) }, nil
}

func (c *crowd) leave(actor string, tenant amber.TenantID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open--
	if c.actors[actor]--; c.actors[actor] == 0 {
		delete(c.actors, actor)
	}
	if c.tenants[tenant]--; c.tenants[tenant] == 0 {
		delete(c.tenants, tenant)
	}
}

// turns lets a few pieces of work run at one time, one of each tenant: an import holds whole records in memory, so that many
// at once would take the room of all others.
type turns struct {
	most int

	mu      sync.Mutex
	tenants map[amber.TenantID]bool // whose work runs
	changed chan struct{}           // closed when work has ended
}

func newTurns(most int) *turns {
	return &turns{most: most, tenants: map[amber.TenantID]bool{}, changed: make(chan struct{})}
}

// wait waits for a turn; end gives it back and is called once. The error is that of ctx.
func (t *turns) wait(ctx context.Context, tenant amber.TenantID) (end func(), err error) {
	for {
		changed, mine := t.take(tenant)
		if mine {
			return func() { t.end(tenant) }, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

func (t *turns) take(tenant amber.TenantID) (changed <-chan struct{}, mine bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.tenants) == t.most || t.tenants[tenant] {
		return t.changed, false
	}
	t.tenants[tenant] = true
	return nil, true
}

func (t *turns) end(tenant amber.TenantID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.tenants, tenant)
	close(t.changed)
	t.changed = make(chan struct{})
}
