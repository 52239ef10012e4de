package httpapi

import (
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
