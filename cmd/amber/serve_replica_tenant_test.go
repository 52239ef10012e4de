//go:build linux

package main

import (
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/internal/test/pgtest"
)

const ofAcme = "/v1/tenants/acme/agents/default"

// ownDatabase gives the tenant acme a database of its own, and returns connections to that and to the one of all others.
func ownDatabase(t *testing.T, homes []*setting, dsn string) (own, common *pgx.Conn) {
	t.Helper()
	server := pgtest.Shared(t)
	of := server.DSN(server.Database(t))
	for _, s := range homes {
		s.set("AMBER_MEMORY__BACKENDS__POSTGRES__TENANTS__ACME__DSN_FILE", s.file("dsn-acme", of+"\n"))
	}
	connect := func(dsn string) *pgx.Conn {
		c := must.Get(pgx.Connect(t.Context(), dsn))(t)
		t.Cleanup(func() { _ = c.Close(t.Context()) })
		return c
	}
	return connect(of), connect(dsn)
}

// counted asks a database for a number.
func counted(t *testing.T, c *pgx.Conn, query string) (n int) {
	t.Helper()
	must.Do(t, c.QueryRow(t.Context(), query).Scan(&n))
	return n
}

// becomes waits until a database says a number.
func becomes(t *testing.T, what string, c *pgx.Conn, query string, want int) {
	t.Helper()
	got := -1
	for range 1200 {
		if got = counted(t, c, query); got == want {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	must.Equal(t, what, got, want)
}

// Servers share the agents of a tenant with a database of its own, too: a stream at one server reports what is
// written at the other, and work in the background is done under leases in that database.
func TestReplicasShareTheDatabaseOfATenant(t *testing.T) {
	t.Parallel()
	homes, dsn := replicas(t, 2)
	own, common := ownDatabase(t, homes, dsn)
	a, b := homes[0].replica(), homes[1].replica()
	must.Equal(t, "servers in the database of the tenant", counted(t, own, "SELECT count(*) FROM amber_meta.servers WHERE address <> ''"), 2)
	b.expect("POST", ofAcme+"/memories", `{"content":"before anybody listens"}`)
	heard := a.listenTo(ofAcme + "/events")
	id := b.idOf(b.expect("POST", ofAcme+"/memories", `{"content":"The staging database is called heron"}`))
	found := false
	for line := range heard {
		if found = strings.Contains(line, id); found {
			break
		}
	}
	must.Hold(t, found, "the stream ended before it told of the write")

	// The entry is written with the change, and carried to the chain of all.
	becomes(t, "entries of the tenant in the common chain", common, "SELECT count(*) FROM amber_home.audit WHERE tenant = 'acme' AND action = 'memory.write' AND outcome = 'ok'", 2)
	becomes(t, "entries that wait to be carried", own, "SELECT count(*) FROM amber_home.audit_away", 0)
	becomes(t, "notes of entries that were carried", common, "SELECT count(*) FROM amber_home.audit_carried", 0)
	must.Equal(t, "the chain of the tenant's database", counted(t, own, "SELECT count(*) FROM amber_home.audit")+counted(t, own, "SELECT count(*) FROM amber_home.audit_unchained"), 0)

	const work = "SELECT count(*) FROM amber_meta.work WHERE kind = 'complete index' AND tenant = 'acme' AND fence > 0"
	becomes(t, "work on the agent in its own database", own, work, 1)
	must.Equal(t, "work on it in that of others", counted(t, common, work), 0)
}

// A server starts though the database of a tenant does not answer, serves all others, and that tenant once it answers.
func TestReplicaStartsWithoutTheDatabaseOfATenant(t *testing.T) {
	t.Parallel()
	homes, _ := replicas(t, 1)
	s := homes[0]
	server := pgtest.Shared(t)
	if server.Addr() == "" {
		server = pgtest.New(t, pgtest.Options{})
	}
	name := server.Database(t)
	s.set("AMBER_MEMORY__BACKENDS__POSTGRES__TENANTS__ACME__DSN_FILE", s.file("dsn-acme", server.DSN(name)+"\n"))
	s.does("--tenant", "acme", "--new-agent", "remember", "before it was away")

	proxy := pgtest.NewProxy(t, "127.0.0.1:1") // no process listens there
	s.file("dsn-acme", proxy.DSN(name)+"\n")
	w := s.replica()
	w.expect("POST", "/v1/tenants/default/agents/default/memories", `{"content":"of another tenant"}`)
	status, text, _ := w.as("", "", "GET", ofAcme+"/memories", "")
	must.Equal(t, "an agent whose database is away: "+text, status, 503)
	proxy.Point(server.Addr())
	w.expect("POST", ofAcme+"/memories", `{"content":"it is back"}`)
	must.Says(t, "memories", w.expect("GET", ofAcme+"/memories", ""), "before it was away", "it is back")
	s.untilNotedIn("database-acme.json", `"agent":"default"`) // from now on it is noticed where it is set back
}

// A server whose database of a tenant was set back, while it ran or before it started, serves all others, and that tenant once an operator has accepted it.
func TestDatabaseOfATenantSetBack(t *testing.T) {
	t.Parallel()
	homes, _ := replicas(t, 1)
	s := homes[0]
	server := pgtest.New(t, pgtest.Options{})
	must.Do(t, server.CreateDatabase(t.Context(), "acme"))
	s.set("AMBER_MEMORY__BACKENDS__POSTGRES__TENANTS__ACME__DSN_FILE", s.file("dsn-acme", server.TCP("acme")+"\n"))
	s.does("--tenant", "acme", "--new-agent", "remember", "there before the backup")
	file := must.Get(server.Dump(t.Context(), "acme"))(t)
	w := s.process("--accept-unsafe-database", "--drain", "0s")
	w.expect("POST", ofAcme+"/memories", `{"content":"lost with the backup"}`)
	s.untilNotedIn("database-acme.json", `"memory":2`)
	refused := func(when string) {
		t.Helper()
		text := ""
		for limit := time.Now().Add(30 * time.Second); time.Now().Before(limit) && !strings.Contains(text, "amber migrate --restored"); time.Sleep(100 * time.Millisecond) {
			_, text, _ = w.as("", "", "GET", ofAcme+"/memories", "")
		}
		must.Says(t, when, text, "set back", "amber migrate --restored --tenant acme")
		w.expect("GET", "/v1/tenants/default/agents/default/memories", "")
	}
	must.Do(t, server.RestoreDump(t.Context(), "acme", file))
	refused("while it ran")
	w.end()
	w = s.process("--accept-unsafe-database", "--drain", "0s")
	refused("before it started")
	must.Says(t, "what went back", s.does("--tenant", "acme", "migrate", "--restored"), "acme/default went back: memory from change 2 to 1")
	must.Says(t, "memories", w.expect("GET", ofAcme+"/memories", ""), "there before the backup")
	must.Equal(t, "exit code", w.end(), 0)
}
