package ledger

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// gated is an engine whose transactions wait for a message each.
type gated struct {
	engine
	mu      sync.Mutex
	updates int
	gate    chan error
}

func (g *gated) update(context.Context, string, string, lock, func(*tx) error) error {
	g.mu.Lock()
	g.updates++
	g.mu.Unlock()
	return <-g.gate
}

func (g *gated) wrote(context.Context, int64)      {}
func (g *gated) wrap(_, _ string, err error) error { return err }

// Callers that wait share transactions of at most 256 entries, and hear how their own ended. A caller whose context ends leaves the line.
func TestRecordersShareTransactions(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := &gated{gate: make(chan error)}
		d := newDB(g, nil, nil)
		var callers sync.WaitGroup
		record := func(ctx context.Context, want error) {
			callers.Go(func() { must.Is(t, "outcome", d.Record(ctx, wire.AuditEntry{}), want) })
			synctest.Wait()
		}
		record(t.Context(), nil)
		given, give := context.WithCancel(t.Context())
		record(given, context.Canceled)
		for i := range 2*maxBatch + 10 {
			var want error
			if i < maxBatch {
				want = context.DeadlineExceeded
			}
			record(t.Context(), want)
		}
		give()
		synctest.Wait()
		for _, outcome := range []error{nil, context.DeadlineExceeded, nil, nil} {
			g.gate <- outcome
			synctest.Wait()
		}
		callers.Wait()
		must.Equal(t, "transactions", g.updates, 4)
	})
}
