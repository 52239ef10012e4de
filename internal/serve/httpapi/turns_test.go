package httpapi

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
)

// No more work runs at one time than there are turns, none of a tenant beside another of it, and all of it runs in the end.
func TestTurnsOfTenants(t *testing.T) {
	t.Parallel()
	turns := newTurns(2)
	var all, done atomic.Int32
	own := map[amber.TenantID]*atomic.Int32{"a": {}, "b": {}, "c": {}}
	var wg sync.WaitGroup
	for range 20 {
		for tenant, running := range own {
			wg.Go(func() {
				end := must.Get(turns.wait(t.Context(), tenant))(t)
				if all.Add(1) > 2 || running.Add(1) > 1 {
					t.Error("more work runs than there are turns")
				}
				all.Add(-1)
				running.Add(-1)
				done.Add(1)
				end()
			})
		}
	}
	wg.Wait()
	must.Equal(t, "done", done.Load(), 60)
}

// Work whose request has ended gives its place in line back, and another tenant is let in past one that waits for itself.
func TestATurnIsNotWaitedForWithoutEnd(t *testing.T) {
	t.Parallel()
	turns := newTurns(2)
	end := must.Get(turns.wait(t.Context(), "a"))(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := turns.wait(ctx, "a")
	must.Error(t, "a second of the tenant", err)
	must.Get(turns.wait(t.Context(), "b"))(t)()
	end()
	must.Get(turns.wait(t.Context(), "a"))(t)()
}
