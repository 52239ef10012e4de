package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/pgdb"
	"github.com/amber-memory/amber/internal/store/postgres"
	"github.com/amber-memory/amber/internal/test/must"
)

var relay = postgres.Work{Kind: "relay"}

// expire ends the time of every lease.
func expire(t testing.TB, s *postgres.Server) {
	t.Helper()
	sql(t, s, `UPDATE amber_meta.work SET until = now() - interval '1 second' WHERE until IS NOT NULL`)
}

// effect writes a name in a transaction that checks the lease; between is run after the check.
func effect(t testing.TB, s *postgres.Server, l *postgres.Lease, name string, between func()) error {
	t.Helper()
	return s.DB().Update(t.Context(), pgdb.Work{Setup: "SELECT 1", Do: func(c *pgdb.Conn, _ []string) error {
		if err := l.Check(t.Context(), c); err != nil {
			return err
		}
		if between != nil {
			between()
		}
		_, err := c.Exec(t.Context(), `INSERT INTO amber_meta.servers (id, schema_known) VALUES (?, 1)`, name)
		return err
	}, Committed: func(context.Context, *pgdb.Conn) (bool, error) { return false, errors.New("not looked for") }})
}

func TestLease(t *testing.T) {
	t.Parallel()
	dsn := fresh(t)
	one, two := connect(t, dsn), connect(t, dsn)
	a, b := one.Leases("a", 0), two.Leases("b", 0)
	ctx := t.Context()

	first := must.Get(a.Claim(ctx, relay))(t)
	must.Fail(b.Claim(ctx, relay))(t, "what somebody has", amber.KindBusy)
	must.Fail(a.Claim(ctx, relay))(t, "what this server has", amber.KindBusy)
	must.Do(t, first.Renew(ctx))
	must.Do(t, effect(t, one, first, "one", nil))

	// A lease that is over and was not claimed goes on.
	expire(t, one)
	must.Do(t, effect(t, one, first, "two", nil))
	must.Do(t, first.Renew(ctx))
	must.Fail(b.Claim(ctx, relay))(t, "what was renewed", amber.KindBusy)

	// While a server writes an effect no other server claims the work, however late it is; and the holder renews its
	// lease.
	expire(t, one)
	must.Do(t, effect(t, one, first, "three", func() {
		must.Fail(b.Claim(ctx, relay))(t, "beside an effect", amber.KindBusy)
		must.NoError(t, first.Renew(ctx))
		expire(t, two)
	}))

	// The one who was only paused does nothing any more.
	second := must.Get(b.Claim(ctx, relay))(t)
	must.Hold(t, second.Fence > first.Fence, "fence %d after %d", second.Fence, first.Fence)
	for what, err := range map[string]error{
		"effect": effect(t, one, first, "four", nil), "renew": first.Renew(ctx), "release": first.Release(ctx),
	} {
		must.Kind(t, what, err, amber.KindConflict)
		must.Is(t, what, err, postgres.ErrLost)
	}
	for _, name := range []string{"one", "two", "three", "four"} {
		_, there := peer(t, one, name, 0)
		must.Equal(t, "effect "+name, there, name != "four")
	}
	must.Do(t, second.Release(ctx))
	must.Is(t, "an effect after the release", effect(t, two, second, "five", nil), postgres.ErrLost)
	third := must.Get(a.Claim(ctx, relay))(t) // who names it need not wait until it is due
	must.Hold(t, third.Fence > second.Fence, "fence %d after %d", third.Fence, second.Fence)
}

// One of several servers works; when it ends another takes over. Effects come in the order of their holders.
func TestHold(t *testing.T) {
	t.Parallel()
	s := connect(t, fresh(t))
	var wg sync.WaitGroup
	var last, n atomic.Int64
	ends := map[string]context.CancelFunc{}
	working := make(chan string, 10_000)
	for _, name := range []string{"a", "b", "c"} {
		ctx, cancel := context.WithCancel(t.Context())
		ends[name] = cancel
		wg.Go(func() {
			s.Leases(name, 300*time.Millisecond).Hold(ctx, relay, time.Millisecond, func(_ context.Context, l *postgres.Lease) error {
				err := effect(t, s, l, fmt.Sprintf("%s %d", name, n.Add(1)), func() {
					if was := last.Swap(l.Fence); was > l.Fence {
						t.Errorf("an effect of holder %d after one of holder %d", l.Fence, was)
					}
				})
				if err == nil {
					working <- name
				}
				return err
			}, nil)
		})
	}
	t.Cleanup(func() {
		for _, end := range ends {
			end()
		}
		wg.Wait()
	})
	seen := map[string]bool{}
	for len(seen) < 3 {
		name := <-working
		if !seen[name] {
			seen[name] = true
			ends[name]() // the next one takes over
		}
	}
}

// A server that lost its lease stops and reports the loss; it goes on when it has the work again.
func TestHoldLoses(t *testing.T) {
	t.Parallel()
	s := connect(t, fresh(t))
	ctx, cancel := context.WithCancel(t.Context())
	fences, lost, done := make(chan int64, 10_000), make(chan error, 100), make(chan struct{})
	go func() {
		defer close(done)
		s.Leases("a", 200*time.Millisecond).Hold(ctx, relay, time.Millisecond, func(ctx context.Context, l *postgres.Lease) error {
			fences <- l.Fence
			return nil
		}, func(err error) { lost <- err })
	}()
	first := <-fences
	// Another server had the work, and is gone by now.
	sql(t, s, `UPDATE amber_meta.work SET fence = fence + 1, holder = 'b', until = now() - interval '1 second'`)
	for err := range lost {
		if errors.Is(err, postgres.ErrLost) {
			break
		}
	}
	for f := range fences {
		if f > first+1 {
			break
		}
	}
	cancel()
	<-done
	must.Get(s.Leases("b", 0).Claim(t.Context(), relay))(t) // it was given back
}
