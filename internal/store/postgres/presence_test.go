package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/amber-memory/amber/internal/store/postgres"
	"github.com/amber-memory/amber/internal/store/postgres/schema"
	"github.com/amber-memory/amber/internal/test/must"
)

// sql runs a statement as another program would.
func sql(t testing.TB, s *postgres.Server, query string, args ...any) {
	t.Helper()
	must.Do(t, s.DB().Conn(t.Context(), func(c *pgx.Conn) error { return must.Err(c.Exec(t.Context(), query, args...)) }))
}

// eventually waits until a condition holds.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for range 2000 {
		if holds() {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("%s: it did not happen", what)
}

func peer(t testing.TB, s *postgres.Server, id string, lease time.Duration) (postgres.Peer, bool) {
	t.Helper()
	for _, p := range must.Get(s.Peers(t.Context(), lease))(t) {
		if p.ID == id {
			return p, true
		}
	}
	return postgres.Peer{}, false
}

func TestPresence(t *testing.T) {
	t.Parallel()
	dsn := fresh(t)
	one, two := connect(t, dsn), connect(t, dsn)
	sql(t, one, `INSERT INTO amber_meta.servers (id, schema_known, seen_at) VALUES ('long gone', 1, now() - interval '8 days'), ('gone', 1, now() - interval '1 minute')`)
	a := must.Get(one.Join(t.Context(), postgres.PresenceOptions{Name: "a", Address: "a:1", Version: "1.2", Beat: time.Hour}))(t)
	b := must.Get(two.Join(t.Context(), postgres.PresenceOptions{Name: "b", Beat: time.Millisecond}))(t)
	must.Hold(t, a.ID() != b.ID(), "two servers have one id")

	p, there := peer(t, two, a.ID(), 0)
	must.Hold(t, there && p.Alive && p.Name == "a" && p.Address == "a:1" && p.Version == "1.2" && p.Schema == schema.Newest(), "%+v", p)
	p, there = peer(t, two, "gone", 0)
	must.Hold(t, there && !p.Alive, "%+v", p)
	_, there = peer(t, two, "long gone", 0)
	must.Equal(t, "a server that was not heard of for a week is listed", there, false)

	// A server that beats stays alive, also after others took it for gone and removed its row.
	sql(t, one, `UPDATE amber_meta.servers SET seen_at = now() - interval '1 hour' WHERE id = $1`, b.ID())
	eventually(t, "a beat", func() bool { p, _ := peer(t, one, b.ID(), 0); return p.Alive })
	sql(t, one, `DELETE FROM amber_meta.servers WHERE id = $1`, b.ID())
	eventually(t, "a beat after the row was removed", func() bool { p, _ := peer(t, one, b.ID(), 0); return p.Alive })
	// A server that is paused longer than its lease is not alive.
	sql(t, one, `UPDATE amber_meta.servers SET seen_at = now() - interval '31 seconds' WHERE id = $1`, a.ID())
	p, _ = peer(t, two, a.ID(), 0)
	must.Equal(t, "alive after 31 s", p.Alive, false)

	for _, p := range []*postgres.Presence{a, b} {
		must.Do(t, p.Leave(context.Background()))
		must.Do(t, p.Leave(context.Background()))
		_, there := peer(t, one, p.ID(), 0)
		must.Equal(t, "listed after it left", there, false)
	}
}

// Report gets the error while a server cannot say that it lives, and nil when it can again.
func TestPresenceReports(t *testing.T) {
	t.Parallel()
	s := connect(t, fresh(t))
	told := make(chan error, 1000)
	p := must.Get(s.Join(t.Context(), postgres.PresenceOptions{Beat: 2 * time.Millisecond, Report: func(err error) { told <- err }}))(t)
	sql(t, s, `ALTER TABLE amber_meta.servers RENAME TO away`)
	must.Error(t, "while it cannot be said", <-told)
	sql(t, s, `ALTER TABLE amber_meta.away RENAME TO servers`)
	for err := range told {
		if err == nil {
			break
		}
	}
	must.Do(t, p.Leave(context.Background()))
}

// A server counts as alive for as long as its own settings say, also for one whose lease is shorter.
func TestPresenceOfAServerWithALongerLease(t *testing.T) {
	t.Parallel()
	s := connect(t, fresh(t))
	p := must.Get(s.Join(t.Context(), postgres.PresenceOptions{Lease: time.Hour, Beat: time.Hour}))(t)
	sql(t, s, `UPDATE amber_meta.servers SET seen_at = now() - interval '1 minute'`)
	got, _ := peer(t, s, p.ID(), time.Second)
	must.Equal(t, "alive within its own lease", got.Alive, true)
	sql(t, s, `UPDATE amber_meta.servers SET seen_at = now() - interval '2 hours'`)
	got, _ = peer(t, s, p.ID(), time.Second)
	must.Equal(t, "alive after it", got.Alive, false)
	must.Do(t, p.Leave(t.Context()))
}
