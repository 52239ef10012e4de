//go:build linux

package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/internal/test/pgtest"
	"github.com/amber-memory/amber/wire"
)

// onPostgres makes agents live in a database, and names the file with its address.
func (s *setting) onPostgres(dsn string) (file string) {
	s.Helper()
	s.set("AMBER_MEMORY__BACKEND", "postgres")
	must.Do(s, os.WriteFile(s.path("dsn"), []byte(dsn+"\n"), 0o600))
	return s.path("dsn")
}

// database makes agents live in a new database, and returns a connection to it.
func (s *setting) database() *pgx.Conn {
	s.Helper()
	server := pgtest.Shared(s)
	dsn := server.DSN(server.Database(s))
	s.set("AMBER_MEMORY__BACKENDS__POSTGRES__DSN_FILE", s.onPostgres(dsn))
	c := must.Get(pgx.Connect(s.Context(), dsn))(s)
	s.Cleanup(func() { _ = c.Close(s.Context()) })
	return c
}

// postgresEffects are those of the database that agents live in.
func postgresEffects() map[string]effect {
	const at = "memory.backends.postgres."
	var conn sync.Map // of a setting
	inDatabase := func(v string) func(*setting) string {
		return func(s *setting) string {
			conn.Store(s, s.database())
			return v
		}
	}
	of := func(s *setting) *pgx.Conn {
		c, _ := conn.Load(s)
		return c.(*pgx.Conn)
	}
	return map[string]effect{
		at + "dsn_file": {func(s *setting) string {
			server := pgtest.Shared(s)
			return s.onPostgres(server.DSN(server.Database(s)))
		}, func(s *setting) string { return s.exit("list") }, "exit 2", "exit 0"},
		at + "plain": {func(s *setting) string {
			s.set("AMBER_MEMORY__BACKENDS__POSTGRES__DSN_FILE", s.onPostgres("postgres://amber@192.0.2.1/amber?sslmode=disable&connect_timeout=1"))
			return "true"
		}, func(s *setting) string { return s.exit("list") }, "exit 6", "exit 7"},
		at + "connections": {inDatabase("1"), func(s *setting) string { return connectionsSeen(s, of(s)) }, "several", "one"},
		at + "lock_timeout": {inDatabase("50ms"), func(s *setting) string {
			s.does("remember", "x")
			return s.whileLocked(func() func() {
				must.Get(of(s).Exec(s.Context(), "BEGIN; SELECT 1 FROM amber.heads FOR UPDATE"))(s)
				return func() { must.Get(of(s).Exec(s.Context(), "ROLLBACK"))(s) }
			}, "remember", "y")
		}, "exit 0", "exit 4"},
		at + "migrate": {inDatabase("auto"), func(s *setting) string {
			older := `ALTER TABLE amber.memories DROP COLUMN author; DROP INDEX amber.memories_waiting; ALTER TABLE amber.relations DROP COLUMN trust, DROP COLUMN author; DROP SCHEMA amber_home CASCADE; DROP FUNCTION amber_meta.ends; DELETE FROM amber_meta.migrations WHERE number > 1; UPDATE amber_meta.version SET number = 1, needs = 1`
			s.does("remember", "x")
			must.Get(of(s).Exec(s.Context(), older))(s)
			return s.exit("recall", "x")
		}, "exit 4", "exit 0"},
		"server.replica.name": {inDatabase("east"), func(s *setting) string { return servedBy(s, of(s), "name = 'east'") }, "false", "true"},
		// A server says that it lives three times in a lease: one that was left by a server which was killed is over soon.
		"server.replica.lease": {inDatabase("1s"), func(s *setting) string {
			w := s.replica()
			must.Get(of(s).Exec(s.Context(), "INSERT INTO amber_meta.servers (id, name, schema_known, seen_at) VALUES ('killed', 'killed', 0, now() - interval '5 s')"))(s)
			for _, p := range parsed[wire.ServerHealth](s, w.expect("GET", "/health", "")).Servers {
				if p.ID == "killed" {
					return fmt.Sprint(p.Alive)
				}
			}
			return "not listed"
		}, "true", "false"},
		at + "tenants.<name>.dsn_file": {func(s *setting) string {
			s.database()
			server := pgtest.Shared(s)
			return s.file("own", server.DSN(server.Database(s))+"\n")
		}, func(s *setting) string {
			s.does("remember", "x", "--tenant", "tool", "--new-agent")
			s.env = slices.DeleteFunc(s.env, func(v string) bool { return strings.Contains(v, "__TENANTS__") })
			return s.exit("recall", "x", "--tenant", "tool") // in the database of all
		}, "exit 0", "exit 3"},
		at + "settle": {func(s *setting) string { return "100ms" }, settled, "exit 0", "exit 7"},
	}
}

// servedBy serves, and asks for a server of the database.
func servedBy(s *setting, c *pgx.Conn, which string) string {
	s.replica()
	var n int
	must.Do(s, c.QueryRow(s.Context(), "SELECT count(*) FROM amber_meta.servers WHERE "+which).Scan(&n))
	return fmt.Sprint(n == 1)
}

// connectionsSeen asks a server with many at one time, and tells how many connections it has to
// its database.
func connectionsSeen(s *setting, c *pgx.Conn) string {
	w := must.Get(s.tryToServe("--listen", "127.0.0.1:0", "--accept-unsafe-database"))(s)
	w.ofAgent("POST", "/memories", `{"content":"x"}`)
	most := 0
	for range 10 {
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() { w.ofAgent("GET", "/memories", "") })
		}
		var n int
		must.Do(s, c.QueryRow(s.Context(), "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'amber'").Scan(&n))
		most = max(most, n)
		all.Wait()
	}
	if most == 1 {
		return "one"
	}
	return "several"
}

// settled writes while the answer to COMMIT is lost and the database cannot be reached for a
// moment; with the key set, for longer.
func settled(s *setting) string {
	server := pgtest.Shared(s)
	p := pgtest.NewProxy(s, server.Addr())
	s.set("AMBER_MEMORY__BACKENDS__POSTGRES__DSN_FILE", s.onPostgres(p.DSN(server.Database(s))))
	s.does("remember", "x")
	var once sync.Once
	var wrote atomic.Bool
	p.OnFrontend(func(m pgtest.Message) pgtest.Action {
		action := pgtest.Forward
		if strings.Contains(m.Query(), "INSERT INTO amber.commits") {
			wrote.Store(true)
		}
		if m.IsCommit() && wrote.Load() {
			once.Do(func() {
				action = pgtest.Swallow
				p.Point("127.0.0.1:1") // no process listens there
				if !s.with {
					time.AfterFunc(300*time.Millisecond, func() { p.Point(server.Addr()) })
				}
			})
		}
		return action
	})
	return s.exit("remember", "y")
}
