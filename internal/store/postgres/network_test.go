package postgres_test

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"sync/atomic"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/pgdb"
	"github.com/amber-memory/amber/internal/store/postgres"
	"github.com/amber-memory/amber/internal/store/postgres/postgrestest"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/internal/test/pgtest"
)

var cutStride = flag.Int("postgres.stride", 16, "cut a write at every so many messages, and at its last ones")

// wire is a store whose messages go through a proxy, beside one that reads without it.
type wire struct {
	t       *testing.T
	proxy   *pgtest.Proxy
	through *postgres.Store
	direct  *postgres.Store
}

func newWire(t *testing.T, direct bool) wire {
	t.Helper()
	s := pgtest.Shared(t)
	if s.Addr() == "" {
		s = pgtest.New(t, pgtest.Options{})
	}
	name := postgrestest.Database(t, s)
	w := wire{t: t, proxy: pgtest.NewProxy(t, s.Addr())}
	open := func(dsn string) *postgres.Store {
		server := connect(t, dsn, func(o *postgres.ServerOptions) { o.Settle, o.Pooled = time.Second/4, !direct })
		return must.Get(server.Open(t.Context(), amber.DefaultTenant, "wired", postgres.Options{}))(t)
	}
	w.direct, w.through = open(s.DSN(name)), open(w.proxy.DSN(name))
	return w
}

// how is where and how often a write is cut.
type how struct {
	side   string
	action pgtest.Action
	// dead leaves no connection alive behind the cut, until the write has failed.
	dead bool
}

// write writes a memory with a cut before message n. It returns how many messages of that side there were, and what
// was told.
func (w wire) write(h how, n int) (messages int, told string) {
	t := w.t
	t.Helper()
	r := amber.WriteRequest{Content: fmt.Sprintf("%v, message %d", h, n)}
	r.IdempotencyKey = r.Content
	must.Do(t, must.Err(w.through.Write(t.Context(), amber.WriteRequest{Content: "before " + r.Content}))) // a connection is there
	var seen atomic.Int32
	rule := func(side string) pgtest.Rule {
		return func(pgtest.Message) pgtest.Action {
			if side != h.side && (!h.dead || int(seen.Load()) < n) {
				return pgtest.Forward
			}
			switch k := int(seen.Add(1)); {
			case k == n:
				return h.action
			case k > n && h.dead:
				return pgtest.Cut
			}
			return pgtest.Forward
		}
	}
	w.proxy.OnFrontend(rule("client"))
	w.proxy.OnBackend(rule("server"))
	ack, err := w.through.Write(t.Context(), r)
	messages = int(seen.Load())
	w.proxy.OnFrontend(nil)
	w.proxy.OnBackend(nil)
	if h.dead {
		w.proxy.Cut()
	}

	there := w.there(r.Content)
	switch {
	case err == nil:
		told = "stored"
		must.Equal(t, r.Content+": stored", there, []string{string(ack.ID)})
	case errors.Is(err, pgdb.ErrUnknown):
		told = "unknown"
	default:
		told = "not stored"
		must.Kind(t, r.Content, err, amber.KindUnreachable)
		must.Equal(t, r.Content+": said not to be stored", there, nil)
	}
	must.Hold(t, err == nil || messages >= n, "%s was not cut and failed: %v", r.Content, err)
	again := must.Get(w.through.Write(t.Context(), r))(t)
	must.Equal(t, r.Content+": repeated", w.there(r.Content), []string{string(again.ID)})
	if err == nil {
		must.Equal(t, r.Content+": the same answer", again.ID, ack.ID)
	}
	return messages, told
}

// there returns the ids of a content, once for each time it was written.
func (w wire) there(content string) (ids []string) {
	w.t.Helper()
	page := must.Get(w.direct.List(w.t.Context(), amber.ListQuery{All: true, Limit: 4}))(w.t) // the newest
	for _, m := range page.Items {
		for range 1 + m.DuplicateCount {
			if m.Content == content {
				ids = append(ids, string(m.ID))
			}
		}
	}
	return ids
}

// TestEveryMessageCanBeLost cuts a write at every boundary of two messages, in both directions. The answer that the
// writer gets is true, and repeating the write stores nothing twice.
func TestEveryMessageCanBeLost(t *testing.T) {
	t.Parallel()
	for _, direct := range []bool{true, false} {
		w := newWire(t, direct)
		hows := []how{
			{"client", pgtest.Cut, false},
			{"client", pgtest.ForwardCut, false},
			{"client", pgtest.Swallow, false},
			{"client", pgtest.Cut, true},
			{"client", pgtest.Swallow, true},
			{"server", pgtest.Cut, false},
			{"server", pgtest.Cut, true},
		}
		if !direct && *cutStride > 1 {
			hows = hows[2:3]
		}
		for _, h := range hows {
			whole, what := w.write(h, math.MaxInt32)
			must.Equal(t, "a write that is not cut", what, "stored")
			must.Hold(t, whole > 20, "a write has only %d messages", whole)
			told := map[string]int{}
			for n := 1; n <= whole+1; n++ {
				if n%*cutStride == 0 || n > whole-6 {
					_, what := w.write(h, n)
					told[what]++
				}
			}
			t.Logf("statements prepared on the server: %v; %v: %d messages, told %v", direct, h, whole, told)
		}
		must.NoError(t, w.direct.VerifyIndex(t.Context()))
	}
}
