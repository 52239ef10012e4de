package postgres_test

import (
	"context"
	"crypto/rand"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/postgres"
	"github.com/amber-memory/amber/internal/store/postgres/postgrestest"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/internal/test/pgtest"
)

// A machine whose clock is wrong has the time of the database from the first connection on, and hears it again with every sign of life.
func TestTimeOfTheDatabase(t *testing.T) {
	t.Parallel()
	wrong := -24 * time.Hour
	clock := func() time.Time { return time.Now().Add(wrong) }
	s := must.Get(postgres.Connect(t.Context(), postgres.ServerOptions{DSN: fresh(t), Clock: clock, Random: rand.Reader}))(t)
	t.Cleanup(func() { _ = s.Close() })
	near := func(what string) {
		t.Helper()
		if off := time.Since(s.Now()).Abs(); off > time.Hour {
			t.Errorf("%s the time is wrong by %s", what, off)
		}
	}
	near("after the first connection")
	p := must.Get(s.Join(t.Context(), postgres.PresenceOptions{Beat: time.Hour}))(t)
	wrong = 24 * time.Hour // a person sets the clock of this machine
	must.Do(t, p.Listens(t.Context(), "here"))
	near("after a sign of life")
	must.Do(t, p.Leave(t.Context()))
}

// A claim that a lost primary has taken with it does not count beside the one that its successor gave with the same fence.
func TestLeaseOfALostPrimary(t *testing.T) {
	t.Parallel()
	s := connect(t, fresh(t))
	l := must.Get(s.Leases("a", 0).Claim(t.Context(), relay))(t)
	must.Do(t, effect(t, s, l, "before", nil))
	sql(t, s, `UPDATE amber_meta.work SET holder = 'b'`)
	must.Kind(t, "renewing", l.Renew(t.Context()), amber.KindConflict)
	must.Kind(t, "an effect", effect(t, s, l, "after", nil), amber.KindConflict)
	must.Kind(t, "giving back", l.Release(t.Context()), amber.KindConflict)
}

// A database that did not answer is used once it does, and not before it was accepted.
func TestAwait(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	if server.Addr() == "" {
		server = pgtest.New(t, pgtest.Options{})
	}
	name := postgrestest.Database(t, server)
	proxy := pgtest.NewProxy(t, "127.0.0.1:1") // no server listens there
	var refused error
	asked := 0
	s := must.Get(postgres.Await(postgres.ServerOptions{DSN: proxy.DSN(name), Clock: time.Now, Random: rand.Reader}, func(x postgres.Settings) error {
		asked++
		must.Equal(t, "fsync of tests", x.FSync, false)
		return refused
	}))(t)
	t.Cleanup(func() { _ = s.Close() })
	must.Fail(s.Tenants(t.Context()))(t, "away", amber.KindUnreachable)
	p := must.Get(s.Join(t.Context(), postgres.PresenceOptions{Beat: time.Hour, Later: true}))(t)
	must.Equal(t, "asked while it is away", asked, 0)
	refused = amber.Errorf(amber.KindRefused, "serve", "", "fsync is off")
	proxy.Point(server.Addr())
	must.Fail(s.Tenants(t.Context()))(t, "not accepted", amber.KindRefused)
	refused = nil
	must.NoError(t, must.Err(s.Tenants(t.Context())))
	must.Do(t, p.Listens(t.Context(), "here"))
	must.Equal(t, "asked", asked, 3) // once more for the connections that show that it lives
	must.Do(t, p.Leave(t.Context()))
}

// A caller that holds all connections of a server keeps the server neither from showing that it lives nor from its
// leases. A caller that does not wait for a connection takes none from the callers that have one.
func TestSignsOfLifeWaitForNobody(t *testing.T) {
	t.Parallel()
	s := connect(t, fresh(t), func(o *postgres.ServerOptions) { o.Connections = 1 })
	p := must.Get(s.Join(t.Context(), postgres.PresenceOptions{Beat: time.Hour}))(t)
	pid := func(c *pgx.Conn) uint32 { return c.PgConn().PID() }
	var had, has uint32
	must.Do(t, s.DB().Conn(t.Context(), func(c *pgx.Conn) error {
		had = pid(c)
		must.Do(t, p.Listens(t.Context(), "here"))
		l := must.Get(s.Leases(p.ID(), 0).Claim(t.Context(), relay))(t)
		must.Do(t, l.Renew(t.Context()))
		short, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		must.Fail(s.Tenants(short))(t, "who does not wait", amber.KindUnreachable)
		return nil
	}))
	must.Do(t, s.DB().Conn(t.Context(), func(c *pgx.Conn) error { has = pid(c); return nil }))
	must.Equal(t, "the connection", has, had)
	must.Do(t, p.Leave(t.Context()))
}
