//go:build linux

package main

import (
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/care"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/internal/test/pgtest"
)

// beside is another machine with the same database and nothing else in common.
func (s *setting) beside() *setting {
	s.Helper()
	other := newSetting(s.T, false)
	must.Do(s, os.WriteFile(other.path("dsn"), must.Get(os.ReadFile(s.path("dsn")))(s), 0o600))
	other.set("AMBER_MEMORY__BACKEND", "postgres")
	other.set("AMBER_MEMORY__BACKENDS__POSTGRES__DSN_FILE", other.path("dsn"))
	return other
}

// names are the agents that a machine lists, each with its state.
func (s *setting) names(args ...string) (names []string) {
	s.Helper()
	for _, i := range told[amber.Page[care.AgentInfo]](s, append([]string{"agent", "list"}, args...)...).Items {
		names = append(names, string(i.Tenant)+"/"+string(i.ID)+" "+string(i.State))
	}
	return names
}

// The agents of a database are those of every machine, whichever has a folder of them.
func TestAgentsOfADatabase(t *testing.T) {
	t.Parallel()
	one := newSetting(t, false)
	c := one.database()
	two := one.beside()
	one.does("remember", "the first one")
	one.does("remember", "the kiln is hot", "--agent", "scout", "--new-agent")
	one.does("remember", "of somebody else", "--tenant", "acme", "--new-agent")

	must.Equal(t, "agents", two.names(), []string{"default/default ready", "default/scout ready"})
	must.Equal(t, "all agents", two.names("--all"), []string{"acme/default ready", "default/default ready", "default/scout ready"})
	must.Equal(t, "tenants", told[amber.Page[care.TenantInfo]](two, "tenant", "list").Items, []care.TenantInfo{{ID: "acme", Agents: 1}, {ID: "default", Agents: 2}})
	shown := told[care.ShownAgent](two, "agent", "show", "scout")
	must.Equal(t, "memories", *shown.Memories, 1)
	must.Equal(t, "folder", shown.Dir, "")
	must.Hold(t, *shown.Bytes > 0, "the rows take %d bytes", *shown.Bytes)
	must.Says(t, "words after agent show", two.does("__complete", "agent", "show", "s"), "scout")
	must.Says(t, "words after --tenant", two.does("__complete", "list", "--tenant", "a"), "acme")
	_, complaint, code := two.amber("", "recall", "x", "--agent", "scot")
	must.Equal(t, "exit", code, 3)
	must.Says(t, "a name that is not there", complaint, "agents are: scout, default")

	w := must.Get(two.tryToServe("--listen", "127.0.0.1:0", "--accept-unsafe-database"))(t)
	must.Equal(t, "agents of a server", strings.Count(w.expect("GET", "/v1/agents", ""), `"agent"`), 3)

	must.Equal(t, "plan", told[care.DeletedAgent](two, "agent", "delete", "scout", "--dry-run").DryRun, true)
	must.Equal(t, "agents", two.names(), []string{"default/default ready", "default/scout ready"})
	gone := told[care.DeletedAgent](one, "agent", "delete", "scout", "--yes")
	must.Hold(t, gone.Snapshot != nil, "no last snapshot was taken")
	must.Says(t, "what remains", strings.Join(gone.Remains, "\n"), "until they are vacuumed")
	must.Says(t, "what remains", strings.Join(gone.Remains, "\n"), "write-ahead log")
	must.Equal(t, "folder", one.exists("tenants", "default", "agents", "scout"), false)
	must.Equal(t, "recall", two.exit("recall", "kiln", "--agent", "scout"), "exit 3")
	must.Equal(t, "delete again", two.exit("agent", "delete", "scout", "--yes"), "exit 3")
	must.Equal(t, "agents of a server", strings.Count(w.expect("GET", "/v1/agents", ""), `"agent"`), 2)
	var rows int
	must.Do(t, c.QueryRow(t.Context(), "SELECT count(*) FROM amber_meta.generations WHERE agent = 'scout'").Scan(&rows))
	must.Equal(t, "rows of it", rows, 0)
	one.does("snapshot", "restore", string(*gone.Snapshot), "--agent", "scout", "--yes")
	must.Says(t, "what the last snapshot holds", two.does("recall", "kiln", "--agent", "scout"), "the kiln is hot")
	two.does("agent", "delete", "scout", "--no-snapshot", "--yes")

	id := strings.TrimSpace(one.does("remember", "a secret thing"))
	must.Says(t, "what remains of an erased memory", one.does("forget", id, "--erase", "--yes"), "write-ahead log")

	// A deletion that was interrupted is shown, and finished when the command is repeated.
	must.Get(c.Exec(t.Context(), `UPDATE amber_meta.agents SET state = 'deleting', live_gen = NULL WHERE tenant = 'acme';
UPDATE amber_meta.generations SET state = 'dropping' WHERE tenant = 'acme'`))(t)
	must.Equal(t, "agents", two.names("--tenant", "acme"), []string{"acme/default deleting"})
	must.Equal(t, "use of it", two.exit("remember", "x", "--tenant", "acme", "--new-agent"), "exit 4")
	two.does("agent", "delete", "default", "--tenant", "acme", "--yes")
	must.Equal(t, "tenants", told[amber.Page[care.TenantInfo]](one, "tenant", "list").Items, []care.TenantInfo{{ID: "default", Agents: 1}})

	// A tenant goes with all its agents, and no other.
	one.does("remember", "x", "--tenant", "acme", "--new-agent")
	one.does("remember", "y", "--tenant", "acme", "--agent", "second", "--new-agent")
	must.Equal(t, "without being sure", two.exit("tenant", "delete", "acme", "--no-snapshot"), "exit 6")
	must.Equal(t, "agents that go", len(told[care.DeletedTenant](two, "tenant", "delete", "acme", "--no-snapshot", "--yes").Agents), 2)
	must.Equal(t, "a tenant that is gone", two.exit("tenant", "delete", "acme", "--no-snapshot", "--yes"), "exit 3")
	must.Equal(t, "all agents", one.names("--all"), []string{"default/default ready"})

	// An agent in a folder is no agent of the database: it is neither listed nor deleted there.
	three := one.beside()
	three.set("AMBER_MEMORY__BACKEND", "sqlite")
	three.does("remember", "in a folder", "--agent", "folder", "--new-agent")
	three.set("AMBER_MEMORY__BACKEND", "postgres")
	must.Equal(t, "agents", three.names(), []string{"default/default ready"})
	must.Equal(t, "delete", three.exit("agent", "delete", "folder", "--no-snapshot", "--yes"), "exit 3")
	must.Equal(t, "folder", three.exists("tenants", "default", "agents", "folder", "CURRENT"), true)
}

// exists reports whether the home has a file.
func (s *setting) exists(elem ...string) bool {
	_, err := os.Stat(s.path(append([]string{"home"}, elem...)...))
	return err == nil
}

// A command that finds out whether the agent is there and then works on it connects once.
func TestOneConnectionForACommand(t *testing.T) {
	t.Parallel()
	s, server := newSetting(t, false), pgtest.Shared(t)
	p := pgtest.NewProxy(t, server.Addr())
	s.set("AMBER_MEMORY__BACKENDS__POSTGRES__DSN_FILE", s.onPostgres(p.DSN(server.Database(t))))
	s.set("AMBER_MEMORY__BACKENDS__POSTGRES__CONNECTIONS", "1")
	var connected atomic.Int64
	p.OnFrontend(func(m pgtest.Message) pgtest.Action {
		if m.N == 0 {
			connected.Add(1)
		}
		return pgtest.Forward
	})
	for _, command := range [][]string{{"remember", "x"}, {"recall", "x"}, {"agent", "show"}, {"note", "list"}} {
		connected.Store(0)
		s.does(command...)
		must.Equal(t, "connections of "+command[0], connected.Load(), 1)
	}
}

// status asks, and returns the status of the answer; 0 for none.
func (w *waiter) status(token, path string) int {
	req, err := http.NewRequestWithContext(w.Context(), http.MethodGet, w.url+path, http.NoBody)
	if err != nil {
		return 0
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := w.client.Do(req)
	if err != nil {
		return 0
	}
	defer resp.Body.Close()
	return resp.StatusCode
}

// Tenants with a database of their own have all their agents there, and no other tenant gets that far.
func TestADatabaseForATenant(t *testing.T) {
	t.Parallel()
	s, server := newSetting(t, false), pgtest.Shared(t)
	all := s.database()
	p, name := pgtest.NewProxy(t, server.Addr()), server.Database(t)
	s.set("AMBER_MEMORY__BACKENDS__POSTGRES__TENANTS__UMBRELLA__DSN_FILE", s.file("own", p.DSN(name)+"\n"))
	var asked atomic.Int64
	p.OnFrontend(func(pgtest.Message) pgtest.Action {
		asked.Add(1)
		return pgtest.Forward
	})
	s.does("remember", "of acme", "--tenant", "acme", "--new-agent")
	must.Equal(t, "questions to the database of another tenant", asked.Load(), 0)
	s.does("remember", "of the umbrella", "--tenant", "umbrella", "--new-agent")
	must.Hold(t, asked.Load() > 0, "its database was not asked")
	must.Says(t, "recall", s.does("recall", "umbrella", "--tenant", "umbrella"), "of the umbrella")
	var tenants string
	must.Do(t, all.QueryRow(t.Context(), "SELECT string_agg(tenant, ',') FROM amber_meta.agents").Scan(&tenants))
	must.Equal(t, "tenants in the database of all", tenants, "acme")
	must.Equal(t, "all agents", s.names("--all"), []string{"acme/default ready", "umbrella/default ready"})
	must.Equal(t, "agents of a tenant", s.names("--tenant", "umbrella"), []string{"umbrella/default ready"})
	must.Equal(t, "tenants", told[amber.Page[care.TenantInfo]](s, "tenant", "list").Items, []care.TenantInfo{{ID: "acme", Agents: 1}, {ID: "umbrella", Agents: 1}})

	// A server of another machine, which has no folder of either agent.
	root := s.token("--all-tenants", "--scope", "admin")
	token := s.token("--tenant", "acme", "--all-agents", "--scope", "admin")
	must.Do(t, os.RemoveAll(s.path("home", "tenants")))
	w := must.Get(s.tryToServe("--listen", "127.0.0.1:0", "--accept-unsafe-database"))(t)
	must.Equal(t, "agents of the operator", strings.Count(w.says(root, "GET", "/v1/agents", "").Body, `"agent"`), 2)
	// The background work of the server goes to the database of the tenant, too, so counting messages proves
	// nothing. The proxy holds them back instead: a request that needs an answer of that database waits, and
	// gives up in the end.
	routes := w.routes(root)
	free, overdue := make(chan struct{}), make(chan struct{})
	late := time.AfterFunc(giveUp, func() { close(overdue) })
	defer late.Stop()
	release := sync.OnceFunc(func() { close(free) })
	defer release()
	p.OnFrontend(func(pgtest.Message) pgtest.Action {
		select {
		case <-free:
			return pgtest.Forward
		case <-overdue:
			return pgtest.Cut
		}
	})
	waiting := make(chan int, 1)
	go func() { waiting <- w.status(root, "/v1/tenants/umbrella/agents/default/memories") }()
	for _, r := range routes {
		must.Equal(t, r.id, w.says(token, r.method, r.in("umbrella", "default", nil), `{}`).Status, 404)
	}
	must.Equal(t, "own agents", strings.Count(w.says(token, "GET", "/v1/agents?tenant=acme", "").Body, `"agent"`), 1)
	must.Equal(t, "own memories", w.says(token, "GET", "/v1/tenants/acme/agents/default/memories", "").Status, 200)
	select {
	case <-overdue:
		t.Errorf("a request of another tenant waited for its database")
	case status := <-waiting:
		must.Hold(t, status == 0 || status >= 500, "the answer to who may ask was %d while its database says nothing", status)
		waiting <- status
	default:
	}
	release()
	<-waiting
	p.OnFrontend(func(pgtest.Message) pgtest.Action {
		asked.Add(1)
		return pgtest.Forward
	})
	asked.Store(0)
	must.Equal(t, "memories", w.says(root, "GET", "/v1/tenants/umbrella/agents/default/memories", "").Status, 200)
	must.Hold(t, asked.Load() > 0, "its database was not asked")

	// Deleting reaches the right one.
	s.does("tenant", "delete", "umbrella", "--no-snapshot", "--yes")
	must.Equal(t, "all agents", s.names("--all"), []string{"acme/default ready"})
}

// copied reports whether this machine has a copy of the default agent for snapshots.
func (s *setting) copied() bool {
	return s.exists("cache", "postgres", "tenants", "default", "agents", "default", "gen")
}

// The remains of a move are not taken for the agent, and a deletion leaves no copy behind that it does not
// name.
func TestDeleteBesideMoves(t *testing.T) {
	t.Parallel()
	one := newSetting(t, false)
	one.database()
	two := one.beside()
	one.set("AMBER_MEMORY__BACKEND", "sqlite")
	one.does("remember", "The staging database is called heron")
	one.does("move", "--to", "postgres")
	must.Equal(t, "agents of the home", one.names(), []string{"default/default moved"})
	one.set("AMBER_MEMORY__BACKEND", "postgres")
	must.Equal(t, "agents of the database", one.names(), []string{"default/default ready"})
	one.does("snapshot", "create")
	must.Equal(t, "a copy after a snapshot", one.copied(), true)
	one.does("move", "--to", "sqlite")
	must.Equal(t, "a copy after the agent has left", one.copied(), false)

	// The agent lives in the home of the first machine: Amber deletes nothing that no snapshot holds, unless
	// the caller gives --no-snapshot.
	must.Equal(t, "agents of the database", two.names(), []string{"default/default moved"})
	must.Equal(t, "tenants of the database", len(told[amber.Page[care.TenantInfo]](two, "tenant", "list").Items), 0)
	_, complaint, code := two.amber("", "agent", "delete", "default", "--yes")
	must.Equal(t, "exit", code, 6)
	must.Says(t, "complaint", complaint, "has moved to the home", "--no-snapshot")
	must.Equal(t, "agents of the database", two.names(), []string{"default/default moved"})
	must.Equal(t, "the tenant", two.exit("tenant", "delete", "default", "--yes"), "exit 6")
	gone := told[care.DeletedAgent](two, "agent", "delete", "default", "--no-snapshot", "--yes")
	must.Says(t, "what remains", strings.Join(gone.Remains, "\n"), "the agent itself, which has moved to the home "+one.path("home"))
	one.set("AMBER_MEMORY__BACKEND", "sqlite")
	must.Says(t, "the agent in the home", one.does("recall", "staging"), "heron")

	one.does("move", "--to", "postgres")
	one.set("AMBER_MEMORY__BACKEND", "postgres")
	two.does("snapshot", "create")
	gone = told[care.DeletedAgent](two, "agent", "delete", "default", "--yes")
	must.Hold(t, gone.Snapshot != nil, "no last snapshot was taken")
	must.Equal(t, "a copy after the deletion", two.copied(), false)
	must.Says(t, "what remains", strings.Join(gone.Remains, "\n"), "the copy that a move has left in the home "+one.path("home"), "cache/postgres of other machines")
	must.Says(t, "forgotten in the home", one.does("move", "--forget", "--yes"), "erased")
}
