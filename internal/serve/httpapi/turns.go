package httpapi

import (
	"context"
	"sync"

	"github.com/amber-memory/amber"
)

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
