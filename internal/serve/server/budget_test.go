package server_test

import (
	"context"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/serve/server"
	"github.com/amber-memory/amber/internal/test/must"
)

// One caller takes half, one tenant three quarters, and what is given back is had by those who wait.
func TestSharesOfABudget(t *testing.T) {
	t.Parallel()
	const part = 1 << 20
	b := server.NewBudget(8*part, part)
	over, end := context.WithCancel(t.Context())
	end()
	take := func(tenant, actor string, n int64) *server.Held {
		t.Helper()
		return must.Get(b.Enter(t.Context(), amber.TenantID(tenant), actor, n))(t)
	}
	refuse := func(what, tenant, actor string) {
		t.Helper()
		must.Fail(b.Enter(over, amber.TenantID(tenant), actor, part))(t, what, amber.KindBusy)
	}
	first := take("acme", "ada", 4*part)
	refuse("more than half for one caller", "acme", "ada")
	second := take("acme", "bob", 2*part)
	refuse("more than three quarters for one tenant", "acme", "cyd")
	other := take("zeta", "dan", 2*part)
	refuse("more than there is", "zeta", "dan")
	waits := make(chan *server.Held)
	go func() {
		h, err := b.Enter(t.Context(), "acme", "ada", part)
		must.NoError(t, err)
		waits <- h
	}()
	first.Keep(3 * part)
	third := <-waits
	for _, h := range []*server.Held{first, second, third, other} {
		h.Leave()
	}
	take("new", "eve", 100*part).Leave() // one that is larger than its share takes all of that
	take("acme", "ada", 4*part).Leave()
}

// A caller with very many requests that wait is refused at once, and others are not.
func TestRequestsThatWaitAreBounded(t *testing.T) {
	t.Parallel()
	b := server.NewBudget(8, 1)
	held := must.Get(b.Enter(t.Context(), "acme", "ada", 4))(t)
	ctx, end := context.WithTimeout(t.Context(), time.Minute)
	const asked = 200
	outcomes := make(chan error, asked)
	for range asked {
		go func() {
			h, err := b.Enter(ctx, "acme", "ada", 1)
			if err == nil {
				h.Leave()
			}
			outcomes <- err
		}()
	}
	refused := 0
	for ; refused < asked-64; refused++ {
		must.Equal(t, "kind", amber.KindOf(<-outcomes), amber.KindBusy)
	}
	must.Get(b.Enter(t.Context(), "zeta", "bob", 4))(t).Leave()
	end()
	for ; refused < asked; refused++ {
		must.Equal(t, "kind", amber.KindOf(<-outcomes), amber.KindBusy)
	}
	held.Leave()
}
