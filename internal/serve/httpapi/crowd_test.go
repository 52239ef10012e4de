package httpapi_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/events"
	"github.com/amber-memory/amber/internal/serve/httpapi"
	"github.com/amber-memory/amber/internal/serve/server"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/internal/test/race"
	"github.com/amber-memory/amber/op"
	"github.com/amber-memory/amber/wire"
)

// Neither one token nor one tenant takes all places for listeners, and places
// are given back.
func TestNobodyTakesAllStreams(t *testing.T) {
	race.Lane(t)
	t.Parallel()
	over := make(chan struct{}, 64)
	r := newRig(t, ended(over), func(r *rig, o *httpapi.Options) {
		o.MaxStreams = 16 // two for a token, four for a tenant
		for _, name := range []string{"one", "two", "three"} {
			r.keys.grants[name] = wire.Grant{Token: wire.TokenID(name), Tenant: "acme", Scopes: []wire.TokenScope{wire.TokenRead}}
		}
	})
	busy := func(token, path, why string) {
		t.Helper()
		must.Says(t, "the answer", string(r.ask(call{method: "GET", path: path, token: token}).failed(amber.KindBusy).body), why)
		<-over
	}
	first := r.listen(call{token: "one"})
	r.listen(call{token: "one"})
	busy("one", "events", "token")
	r.listen(call{token: "two"})
	r.listen(call{token: "two"})
	busy("three", "events", "tenant")
	busy("three", "/v1/tenants/acme/agents/bob/events", "tenant")
	r.ask(call{method: "HEAD", path: "/v1/tenants/umbrella/agents/eve/events"}).want(200) // others are not kept from it
	<-over
	_ = first.resp.Body.Close()
	<-over
	r.listen(call{token: "three"})
	busy("one", "events", "tenant")
}

// A listener keeps no agent: the room for agents that are open is for those who
// do something.
func TestListenersHoldNoAgent(t *testing.T) {
	race.Lane(t)
	t.Parallel()
	r := newRig(t, func(r *rig, o *httpapi.Options) {
		pool := server.NewPool(r.open, server.PoolOptions{Clock: r.clock.Read, MaxOpen: 1})
		o.Desk.Agents = pool
		t.Cleanup(func() { must.NoError(t, pool.Close(context.Background())) })
	})
	e := r.listen(call{})
	for i := 0; ; i++ {
		if i == 2000 {
			t.Fatal("the listener never lets its agent go")
		}
		// The stream looks at its agent now and then, and a request in that moment is refused as busy.
		a := r.ask(call{method: "GET", path: "/v1/tenants/acme/agents/bob/stats"})
		if a.status == 200 {
			break
		}
		a.failed(amber.KindBusy)
	}
	id := r.remember("heard").ID
	must.Says(t, "the event", e.must().data, string(id))
}

// To listen to an agent does not make it.
func TestListenersMakeNoAgent(t *testing.T) {
	race.Lane(t)
	t.Parallel()
	var made atomic.Int64
	r := newRig(t, func(r *rig, o *httpapi.Options) {
		o.Desk.Agents = making{o.Desk.Agents, &made}
	})
	for _, method := range []string{"GET", "HEAD"} {
		r.ask(call{method: method, path: "/v1/tenants/acme/agents/nobody/events"}).want(404)
	}
	must.Equal(t, "agents made", made.Load(), 0)
	must.Equal(t, "entries of the audit log", len(r.book.Entries(0)), 0)
	r.ask(call{method: "GET", path: "/v1/tenants/acme/agents/nobody/stats"}).want(404)
	must.Equal(t, "looks at the store", made.Load(), 1)
}

// making counts who is to be made.
type making struct {
	server.Agents
	n *atomic.Int64
}

func (m making) Agent(ctx context.Context, tenant amber.TenantID, id amber.AgentID, create bool) (*op.Agent, func(), error) {
	if create {
		m.n.Add(1)
	}
	return m.Agents.Agent(ctx, tenant, id, create)
}

// losing is a listener that loses events.
type losing struct{ err error }

func (l losing) Listen(context.Context, amber.TenantID, amber.AgentID, func(events.Event)) error {
	return l.err
}

// A stream that has missed something ends, so that the listener comes back. The log has one entry about it: at
// level debug for a listener that was too slow, and at level warn for a failure of the server.
func TestStreamsThatCannotGoOnEnd(t *testing.T) {
	race.Lane(t)
	t.Parallel()
	for _, c := range []struct {
		name  string
		tweak func(*rig, *httpapi.Options)
		level slog.Level
	}{
		{"events were lost", func(_ *rig, o *httpapi.Options) {
			o.Listener = losing{amber.Errorf(amber.KindBusy, "listen", "", "3 events were lost")}
		}, slog.LevelDebug},
		{"nobody listens", func(_ *rig, o *httpapi.Options) {
			o.Listener = losing{errors.New("the bus is closed")}
		}, slog.LevelWarn},
		{"the log cannot be read", func(r *rig, _ *httpapi.Options) {
			store := &r.agents["acme/ada"].Store
			store.Changes = torn{store.Changes}
		}, slog.LevelWarn},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := newDiary()
			r := newRig(t, d.kept, c.tweak)
			e := r.listen(call{})
			e.over()
			must.NoError(t, e.lines.Err())
			got := <-d.told
			if got.level != c.level || got.message != "event stream broken off" || got.attrs["error"] == "" || got.attrs["request_id"] == "" {
				t.Errorf("the log says %+v", got)
			}
			r.ask(call{method: "GET", path: "/livez"}).want(200)
			if n := len(d.from(slog.LevelInfo)); n > 1 {
				t.Errorf("%d entries", n)
			}
		})
	}
}

// torn is a change log that knows its end and nothing else.
type torn struct{ amber.ChangeLog }

func (torn) Changes(context.Context, amber.Position, int) ([]amber.Change, error) {
	return nil, amber.Errorf(amber.KindDamaged, "read changes", "", "a page is missing")
}

// A stream tries a busy store again.
func TestListenersWaitForABusyStore(t *testing.T) {
	race.Lane(t)
	t.Parallel()
	log := &patient{tries: make(chan struct{}, 64)}
	r := newRig(t, func(r *rig, _ *httpapi.Options) {
		store := &r.agents["acme/ada"].Store
		log.ChangeLog = store.Changes
		store.Changes = log
	})
	e := r.listen(call{})
	id := r.remember("heard").ID
	for range 3 {
		<-log.tries
	}
	must.Says(t, "the event", e.must().data, string(id))
}

// patient is a change log that is busy at first.
type patient struct {
	amber.ChangeLog
	tries chan struct{}
	n     int // one stream asks at a time
}

func (p *patient) Changes(ctx context.Context, after amber.Position, limit int) ([]amber.Change, error) {
	if p.n++; p.n <= 3 {
		p.tries <- struct{}{}
		return nil, amber.Errorf(amber.KindBusy, "read changes", "", "somebody else is at it")
	}
	return p.ChangeLog.Changes(ctx, after, limit)
}

// A reader of lines who goes half-way is no error of the server's.
func TestReadersWhoGoAreNoError(t *testing.T) {
	t.Parallel()
	d, over := newDiary(), make(chan struct{}, 1)
	r := newRig(t, d.kept, func(_ *rig, o *httpapi.Options) {
		o.Timeout = 50 * time.Millisecond // for callers that do not read
		o.Observe = func(route, _ string, _ int, _ time.Duration, _, _ int64) {
			if strings.HasSuffix(route, "/memories") {
				over <- struct{}{}
			}
		}
	})
	store := &r.agents["acme/ada"].Store
	store.Memories = endless{store.Memories}
	c := r.dial()
	must.Get(c.Write([]byte("GET " + adaPath + "/memories HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ada\r\nAccept: application/x-ndjson\r\n\r\n")))(t)
	<-over
	must.Equal(t, "what the log says", len(d.from(slog.LevelInfo)), 0)
	must.Equal(t, "what the log says", (<-d.told).message, "caller has gone")
}

// endless has memories without end.
type endless struct{ amber.MemoryReader }

func (endless) List(context.Context, amber.ListQuery) (amber.Page[amber.Memory], error) {
	page := amber.Page[amber.Memory]{Next: "more"}
	for range 100 {
		page.Items = append(page.Items, amber.Memory{Content: strings.Repeat("a", 10<<10)})
	}
	return page, nil
}
