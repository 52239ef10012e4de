package postgres_test

import (
	"context"
	"errors"
	"flag"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/pgdb"
	"github.com/amber-memory/amber/internal/store/postgres"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/internal/test/pgtest"
)

var failovers = flag.Int("postgres.failovers", 2, "how often a primary is killed and its standby promoted under writers")

// pair starts a primary with a database and a standby that it waits for.
func pair(t *testing.T) (primary, standby *pgtest.Server) {
	t.Helper()
	primary = pgtest.New(t, pgtest.Options{Durable: true})
	must.Do(t, primary.CreateDatabase(t.Context(), "amber"))
	return primary, must.Get(primary.Standby(t.Context(), "b", true))(t)
}

// stage is what becomes of COMMIT while the primary dies. Die kills it.
type stage struct {
	name     string
	frontend func(die func()) pgtest.Rule
	backend  func(die func()) pgtest.Rule
}

// stages are all moments around a COMMIT.
func stages() []stage {
	// at has the primary killed about the time of a message, while others come.
	at := func(action pgtest.Action, is func(pgtest.Message) bool) func(func()) pgtest.Rule {
		return func(die func()) pgtest.Rule {
			return func(m pgtest.Message) pgtest.Action {
				if !is(m) {
					return pgtest.Forward
				}
				go die()
				return action
			}
		}
	}
	asked := pgtest.Message.IsCommit
	answered := func(m pgtest.Message) bool { return m.Type == 'C' && string(m.Body) == "COMMIT\x00" }
	return []stage{
		{name: "the answer is lost", frontend: at(pgtest.Swallow, asked)},
		{name: "killed before the server gets it", frontend: func(die func()) pgtest.Rule {
			return func(m pgtest.Message) pgtest.Action {
				if asked(m) {
					die()
				}
				return pgtest.Forward
			}
		}},
		{name: "cut before the server gets it", frontend: at(pgtest.Cut, asked)},
		{name: "cut behind it", frontend: at(pgtest.ForwardCut, asked)},
		{name: "killed while it works", frontend: at(pgtest.Forward, asked)},
		{name: "cut before its answer", backend: at(pgtest.Cut, answered)},
		{name: "killed before its answer", backend: func(die func()) pgtest.Rule {
			return func(m pgtest.Message) pgtest.Action {
				if answered(m) {
					die()
					return pgtest.Cut
				}
				return pgtest.Forward
			}
		}},
		{name: "killed behind its answer", backend: at(pgtest.Forward, answered)},
	}
}

// TestFailover kills a primary at every stage of COMMIT under writers, and promotes the standby. One
// program goes through a proxy that is pointed to the new primary, another through a pooler that is, and a third
// knows both hosts.
func TestFailover(t *testing.T) {
	t.Parallel()
	all := stages()
	for n := range *failovers {
		s := all[n%len(all)]
		t.Run(s.name, func(t *testing.T) { failOver(t, s) })
	}
}

func failOver(t *testing.T, s stage) {
	primary, standby := pair(t)
	proxy := pgtest.NewProxy(t, primary.Addr())
	bouncer := pgtest.NewBouncer(t, primary, pgtest.BouncerOptions{})
	w := begin(t, 24, 2, connect(t, proxy.DSN("amber")), connect(t, pgtest.Hosts("amber", primary, standby)),
		connect(t, bouncer.DSN("amber"), func(o *postgres.ServerOptions) { o.Pooled = true }))
	w.wait(100)
	w.restartPause()

	dead := make(chan error, 1)
	var once sync.Once
	die := func() { once.Do(func() { dead <- primary.Kill() }) }
	if s.frontend != nil {
		proxy.OnFrontend(s.frontend(die))
	}
	if s.backend != nil {
		proxy.OnBackend(s.backend(die))
	}
	must.Do(t, <-dead)
	began := time.Now()
	must.Do(t, standby.Promote(t.Context()))
	promotion := time.Since(began)
	proxy.OnFrontend(nil)
	proxy.OnBackend(nil)
	proxy.Point(standby.Addr())
	proxy.Cut()
	must.Do(t, bouncer.Point(t.Context(), standby))

	w.wait(100)
	t.Logf("writers paused for %v; the promotion alone took %v", w.longestPause().Round(time.Millisecond), promotion.Round(time.Millisecond))
	w.stop()
	w.check(standby.TCP("amber"))
}

// waiting returns the process of a session that waits for the standby, 0 where there is none, and
// its transaction.
func waiting(t *testing.T, c *pgx.Conn) (pid int, tx string) {
	t.Helper()
	must.Do(t, c.QueryRow(t.Context(), `SELECT coalesce(max(pid), 0), coalesce(max(xact_start)::text, '') FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND application_name = 'amber'`).Scan(&pid, &tx))
	return pid, tx
}

// TestAWaitThatEndsIsNoSuccess has the standby stand still. An administrator cancels a COMMIT that waits for the
// standby, and PostgreSQL acknowledges the COMMIT: the writer gets its answer once the standby has the write, and not
// before. Another wait has no end in time: the writer gets an error that says that the outcome is unknown, and its
// idempotency key makes the repetition safe.
func TestAWaitThatEndsIsNoSuccess(t *testing.T) {
	t.Parallel()
	primary, standby := pair(t)
	open := func(settle time.Duration) *postgres.Store {
		server := connect(t, pgtest.Hosts("amber", primary, standby), func(o *postgres.ServerOptions) { o.Settle = settle })
		return must.Get(server.Open(t.Context(), amber.DefaultTenant, "waiting", postgres.Options{}))(t)
	}
	patient, hasty := open(time.Minute), open(time.Second)
	must.Do(t, standby.Suspend())
	cancelled := cancelWaits(t, primary, standby, patient)

	must.Do(t, standby.Suspend())
	r := amber.WriteRequest{Content: "perhaps", IdempotencyKey: "once"}
	_, err := hasty.Write(t.Context(), r)
	must.Kind(t, "a write without a standby", err, amber.KindUnreachable)
	must.Hold(t, errors.Is(err, pgdb.ErrUnknown), "the error is %v, want that the outcome is not known", err)
	must.Do(t, standby.Resume())
	first := must.Get(hasty.Write(t.Context(), r))(t)

	must.Do(t, primary.Kill())
	must.Do(t, standby.Promote(t.Context()))
	var again amber.WriteAck
	for {
		if again, err = hasty.Write(t.Context(), r); err == nil {
			break
		}
		must.Kind(t, "a write while the primary changes", err, amber.KindUnreachable)
	}
	must.Equal(t, "the same memory", again.ID, first.ID)
	must.Equal(t, "memories of the new primary", everything(t, hasty), map[string][]string{"only here so far": {string(cancelled)}, "perhaps": {string(first.ID)}})
	gapless(t, standby.TCP("amber"))
}

// cancelWaits cancels the waits of a write for a standby that stands still, until the standby may go on.
func cancelWaits(t *testing.T, primary, standby *pgtest.Server, s *postgres.Store) amber.MemoryID {
	t.Helper()
	admin := dial(t, primary.DSN("amber"))
	type answer struct {
		ack amber.WriteAck
		err error
	}
	told := make(chan answer, 1)
	go func() {
		ack, err := s.Write(t.Context(), amber.WriteRequest{Content: "only here so far"})
		told <- answer{ack, err}
	}()
	cancelled := 0
	for seen := ""; cancelled < 3; { // the first COMMIT, and those that are to find out
		if pid, tx := waiting(t, admin); pid != 0 && tx != seen {
			must.Do(t, must.Err(admin.Exec(t.Context(), `SELECT pg_cancel_backend($1)`, pid)))
			cancelled, seen = cancelled+1, tx
		}
		select {
		case a := <-told:
			must.Do(t, standby.Resume())
			t.Fatalf("after %d cancelled waits the write was told as %s, %v, and the standby does not have it", cancelled, a.ack.ID, a.err)
		case <-time.After(5 * time.Millisecond):
		}
	}
	must.Do(t, standby.Resume())
	a := <-told
	must.Do(t, a.err)
	return a.ack.ID
}

// TestAnOldPrimaryComesBack: servers can reach the old primary and write to it, and it is on its old timeline. A server
// that has seen its successor neither reads nor writes there.
func TestAnOldPrimaryComesBack(t *testing.T) {
	t.Parallel()
	primary, standby := pair(t)
	proxy := pgtest.NewProxy(t, primary.Addr())
	bouncer := pgtest.NewBouncer(t, primary, pgtest.BouncerOptions{})
	pooled := func(o *postgres.ServerOptions) { o.Pooled = true }
	stores := map[string]*postgres.Store{}
	for name, server := range map[string]*postgres.Server{
		"proxy": connect(t, proxy.DSN("amber")), "pooler": connect(t, bouncer.DSN("amber"), pooled), "hosts": connect(t, pgtest.Hosts("amber", primary, standby)),
	} {
		stores[name] = must.Get(server.Open(t.Context(), amber.DefaultTenant, "lost", postgres.Options{}))(t)
		must.Do(t, must.Err(stores[name].Write(t.Context(), amber.WriteRequest{Content: "before, by " + name})))
	}
	must.Do(t, primary.Kill())
	must.Do(t, standby.Promote(t.Context()))
	proxy.Point(standby.Addr())
	proxy.Cut()
	must.Do(t, bouncer.Point(t.Context(), standby))
	for name, s := range stores {
		for { // each tries until it has noticed
			_, err := s.Write(t.Context(), amber.WriteRequest{Content: "behind, by " + name, IdempotencyKey: name})
			if err == nil {
				break
			}
			must.Kind(t, name, err, amber.KindUnreachable)
		}
	}

	must.Do(t, primary.Restart(t.Context()))
	must.Do(t, primary.Alter(t.Context(), "synchronous_standby_names", "")) // it takes writes, and acknowledges them
	proxy.Point(primary.Addr())
	proxy.Cut()
	must.Do(t, bouncer.Point(t.Context(), primary))
	must.Do(t, bouncer.Console(t.Context(), "RECONNECT"))
	killSessions(t, standby)
	for name, s := range stores {
		var err error
		for range 2 { // what was begun on a connection that was cut says so first
			_, err = s.Write(t.Context(), amber.WriteRequest{Content: "after, by " + name})
			if amber.KindOf(err) != amber.KindUnreachable {
				break
			}
		}
		_, read := s.List(t.Context(), amber.ListQuery{All: true})
		if name == "hosts" { // the other host is the right one
			must.NoError(t, err)
			must.NoError(t, read)
			continue
		}
		must.Kind(t, "a write by "+name, err, amber.KindDamaged, "old primary")
		must.Kind(t, "a question by "+name, read, amber.KindDamaged, "old primary")
	}
	c := must.Get(pgx.Connect(t.Context(), primary.DSN("amber")))(t)
	defer c.Close(context.WithoutCancel(t.Context()))
	var strays int
	must.Do(t, c.QueryRow(t.Context(), `SELECT count(*) FROM amber.memories WHERE content NOT LIKE 'before%'`).Scan(&strays))
	must.Equal(t, "memories that went to the old primary", strays, 0)

	// Once the way is right again, work goes on.
	proxy.Point(standby.Addr())
	must.Do(t, bouncer.Point(t.Context(), standby))
	must.Do(t, bouncer.Console(t.Context(), "RECONNECT"))
	for name, s := range stores {
		must.Do(t, must.Err(s.Write(t.Context(), amber.WriteRequest{Content: "again, by " + name})))
	}
	must.Equal(t, "contents on the new primary", len(everything(t, stores["hosts"])), 3+3+1+3)
	gapless(t, standby.TCP("amber"))
}

// killSessions ends all sessions of programs.
func killSessions(t *testing.T, s *pgtest.Server) {
	t.Helper()
	c := must.Get(pgx.Connect(t.Context(), s.DSN("amber")))(t)
	defer c.Close(context.WithoutCancel(t.Context()))
	must.Do(t, must.Err(c.Exec(t.Context(), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'amber'`)))
}
