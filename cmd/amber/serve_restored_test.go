//go:build linux

package main

import (
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/internal/test/pgtest"
	"github.com/amber-memory/amber/wire"
)

// homesOn returns users of as many machines on a database.
func homesOn(t *testing.T, n int, dsn string) (all []*setting) {
	t.Helper()
	for range n {
		s := newSetting(t, false)
		s.set("AMBER_MEMORY__BACKENDS__POSTGRES__DSN_FILE", s.onPostgres(dsn))
		all = append(all, s)
	}
	return all
}

// A database that is set back, by pg_restore or by recovery to a point in time, is used by no server before an operator has accepted that. Then every
// listener hears that its agent was restored, tokens that were revoked are refused, and the operator sees what went back.
func TestDatabaseSetBack(t *testing.T) {
	t.Parallel()
	for _, way := range []string{"pg_restore", "point in time"} {
		t.Run(way, func(t *testing.T) { t.Parallel(); setBack(t, way == "pg_restore") })
	}
}

func setBack(t *testing.T, dumped bool) {
	server := pgtest.New(t, pgtest.Options{Durable: true, Settings: pgtest.Archiving()})
	must.Do(t, server.CreateDatabase(t.Context(), "amber"))
	homes := homesOn(t, 2, server.TCP("amber"))
	root := homes[0].does("--quiet", "token", "create", "root", "--all-tenants", "--scope", "read,write,admin")
	left := homes[0].does("--quiet", "token", "create", "left", "--scope", "read")
	a, b := homes[0].process("--accept-unsafe-database", "--drain", "0s"), homes[1].process("--accept-unsafe-database", "--drain", "0s")
	remember := func(w *waiter, text string) {
		t.Helper()
		status, said, _ := w.as(root, "", "POST", ofDefault+"/memories", fmt.Sprintf(`{"content":%q}`, text))
		must.Equal(t, said, status, 201)
	}
	remember(a, "there before the backup")
	homes[0].does("--agent", "old", "--new-agent", "remember", "of an agent that is deleted later")
	back := backUpDatabase(t, server, dumped)

	for n := range 5 {
		remember(b, fmt.Sprint("lost with the backup ", n))
	}
	status, said, _ := b.as(root, "", "DELETE", "/v1/tokens/"+idOfToken(t, a, root, "left"), "")
	must.Equal(t, said, status/100, 2)
	homes[1].does("agent", "delete", "old", "--no-snapshot", "--yes")
	a.token = root
	heard := a.listen("/events")
	remember(b, "heard by the listener")
	name, last := nextEvent(heard)
	must.Equal(t, "the last event", name, "mutated")
	for _, home := range homes {
		home.untilNoted(`"revoked":["`, `"memory":7`)
	}

	must.Do(t, back())
	for _, w := range []*waiter{a, b} { // they notice by themselves
		must.Says(t, "what a caller is told", w.untilRefused(root), "set back")
	}
	a.end()
	b.end()
	_, err := homes[1].tryToServe("--listen", "127.0.0.1:0", "--accept-unsafe-database", "--drain", "0s")
	must.Error(t, "a server that starts", err)
	must.Says(t, "a server that starts", err.Error(), "amber migrate --restored")
	_, complaint, code := homes[0].amber("", "doctor")
	must.Equal(t, "doctor: "+complaint, code, 5)
	_, complaint, code = homes[1].amber("", "audit", "verify")
	must.Equal(t, "audit verify: "+complaint, code, 5)
	must.Says(t, "audit verify", complaint, "set back", "amber migrate --restored")

	out := homes[0].does("migrate", "--restored")
	must.Says(t, "what went back", out, "default/default went back: memory from change 7 to 1", "default/old is there again", "audit log went back", "(left) was good again, and is revoked")
	a, b = homes[0].process("--accept-unsafe-database", "--drain", "0s"), homes[1].process("--accept-unsafe-database", "--drain", "0s")
	for _, w := range []*waiter{a, b} {
		status, _, _ := w.as(left, "", "GET", ofDefault+"/memories", "")
		must.Equal(t, "with the token that was revoked", status, 401)
		w.token = root
		name, _ := nextEvent(w.listen("/events?after=" + url.QueryEscape(last)))
		must.Equal(t, "the first event", name, "restored")
	}
	remember(b, "written after")
	report := told[wire.AuditReport](homes[1], "audit", "verify")
	must.Equal(t, "damage", report.Damaged, []string{})
}

// nextEvent reads the next event of a stream.
func nextEvent(lines <-chan string) (name, id string) {
	for e := range streamed(lines) {
		return e.name, e.id
	}
	return "", ""
}

// untilNoted waits until the home has noted of the database what texts say.
func (s *setting) untilNoted(texts ...string) {
	s.Helper()
	s.untilNotedIn("database.json", texts...)
}

// untilNotedIn is untilNoted for a file of the folder keys.
func (s *setting) untilNotedIn(name string, texts ...string) {
	s.Helper()
	noted := ""
	for limit := time.Now().Add(time.Minute); time.Now().Before(limit); time.Sleep(100 * time.Millisecond) {
		if b, err := os.ReadFile(s.path("home", "keys", name)); err == nil {
			noted = string(b)
		}
		if !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(noted, text) }) {
			return
		}
	}
	s.Fatalf("noted is %s, want %v in it", noted, texts)
}

// backUpDatabase makes a backup, and returns what sets the database back to it.
func backUpDatabase(t *testing.T, server *pgtest.Server, dumped bool) func() error {
	t.Helper()
	if dumped {
		file := must.Get(server.Dump(t.Context(), "amber"))(t)
		return func() error { return server.RestoreDump(t.Context(), "amber", file) }
	}
	base := must.Get(server.BaseBackup(t.Context()))(t)
	must.Do(t, server.Mark(t.Context(), "before"))
	return func() error {
		must.Do(t, server.Mark(t.Context(), "after")) // the log of before is in the archive
		return base.Recover(t.Context(), "before")
	}
}

// idOfToken finds a token by its name.
func idOfToken(t *testing.T, w *waiter, root, name string) string {
	t.Helper()
	_, text, _ := w.as(root, "", "GET", "/v1/tokens", "")
	for _, one := range parsed[struct{ Items []wire.Token }](t, text).Items {
		if one.Name == name {
			return string(one.ID)
		}
	}
	t.Fatalf("no token %s in %s", name, text)
	return ""
}

// untilRefused asks until the server refuses to, and returns what it says.
func (w *waiter) untilRefused(token string) string {
	w.Helper()
	for limit := time.Now().Add(30 * time.Second); time.Now().Before(limit); time.Sleep(100 * time.Millisecond) {
		if status, said, _ := w.as(token, "", "GET", ofDefault+"/memories", ""); status != 200 && strings.Contains(said, "set back") {
			return said
		}
	}
	w.Fatalf("the server does not notice\n%s", w.log.String())
	return ""
}

// A server that gets the signal to end says first that it is not ready, and goes on to answer meanwhile.
func TestServerDrains(t *testing.T) {
	t.Parallel()
	s := newSetting(t, false)
	token := s.does("--quiet", "token", "create", "root", "--all-tenants", "--scope", "read,write,admin")
	w := s.process("--behind-proxy", "--drain", "3s")
	w.token = token
	status, _ := w.ask("GET", "/readyz", "")
	must.Equal(t, "before", status, 200)
	go w.end()
	for limit := time.Now().Add(30 * time.Second); status == 200 && time.Now().Before(limit); time.Sleep(20 * time.Millisecond) {
		status, _ = w.ask("GET", "/readyz", "")
	}
	must.Equal(t, "when it was told", status, 503)
	status, said := w.ask("POST", ofDefault+"/memories", `{"content":"sent while it drains"}`)
	must.Equal(t, said, status, 201)
	must.Equal(t, "exit code", w.end(), 0)
}

// A server whose database takes no writes is ready to be read.
func TestReadyToRead(t *testing.T) {
	t.Parallel()
	s := newSetting(t, false)
	db := s.database()
	token := s.does("--quiet", "token", "create", "root", "--all-tenants", "--scope", "read,write,admin")
	w := s.replica()
	ask := func(path string) int {
		status, _, _ := w.as(token, "", "GET", path, "")
		return status
	}
	must.Equal(t, "writes, before", ask("/readyz?writes"), 200)
	status, text, _ := w.as(token, "", "GET", "/metrics", "")
	must.Equal(t, "metrics", status, 200)
	must.Says(t, "metrics", text, `amber_database_connections{state="most"} 16`, "amber_database_set_back 0", "amber_database_servers 1",
		`amber_database_agents{class="thousand"} `, "amber_database_writes_total ", "amber_database_oldest_view_seconds ")
	must.Do(t, db.PgConn().Exec(t.Context(), `CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$;
CREATE TRIGGER no_room BEFORE UPDATE ON amber_home.tokens EXECUTE FUNCTION no_room()`).Close())
	must.Equal(t, "writes", ask("/readyz?writes"), 500)
	must.Equal(t, "reads", ask("/readyz"), 200)
	must.Equal(t, "a question", ask(ofDefault+"/memories"), 200)
}
