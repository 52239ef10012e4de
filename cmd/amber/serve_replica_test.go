//go:build linux

package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"iter"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/postgres"
	"github.com/amber-memory/amber/internal/store/postgres/mirror"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/internal/test/pgtest"
	"github.com/amber-memory/amber/wire"
)

// replicas returns users of as many machines, each with a home of its own, who share a new database.
func replicas(t *testing.T, n int) (all []*setting, dsn string) {
	t.Helper()
	server := pgtest.Shared(t)
	dsn = server.DSN(server.Database(t))
	for range n {
		s := newSetting(t, false)
		s.set("AMBER_MEMORY__BACKENDS__POSTGRES__DSN_FILE", s.onPostgres(dsn))
		all = append(all, s)
	}
	return all, dsn
}

// replica serves in this process; tests need no fsync.
func (s *setting) replica(args ...string) *waiter {
	s.Helper()
	return must.Get(s.tryToServe(append([]string{"--listen", "127.0.0.1:0", "--accept-unsafe-database", "--drain", "0s"}, args...)...))(s)
}

// as asks with a token and a key, "" for none.
func (w *waiter) as(token, key, method, path, body string) (status int, answer string, replayed bool) {
	w.Helper()
	req := must.Get(http.NewRequestWithContext(w.Context(), method, w.url+path, strings.NewReader(body)))(w)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	resp := must.Get(w.client.Do(req))(w)
	defer resp.Body.Close()
	b := must.Get(io.ReadAll(resp.Body))(w)
	return resp.StatusCode, string(b), resp.Header.Get("Idempotent-Replayed") != ""
}

const ofDefault = "/v1/tenants/default/agents/default"

// Servers of one database have tokens, answers and the audit log in common.
func TestReplicasShareTheLedger(t *testing.T) {
	t.Parallel()
	homes, _ := replicas(t, 2)
	root := homes[0].does("--quiet", "token", "create", "root", "--all-tenants", "--scope", "read", "--scope", "write", "--scope", "admin")
	a, b := homes[0].replica(), homes[1].replica()
	for _, w := range []*waiter{a, b} {
		status, _, _ := w.as("", "", "GET", ofDefault+"/memories", "")
		must.Equal(t, "asked without a token", status, 401)
	}

	// Each says who else is there.
	for i, w := range []*waiter{a, b} {
		_, text, _ := w.as(root, "", "GET", "/health", "")
		servers := parsed[wire.ServerHealth](t, text).Servers
		must.Equal(t, "servers in "+text, len(servers), 2)
		for j, p := range servers {
			must.Equal(t, "alive", p.Alive, true)
			must.Equal(t, "itself", p.Self, i == j)
			must.Equal(t, "address", p.Address, []*waiter{a, b}[j].url)
		}
	}

	// A token that one server made is known to the other at once, and unknown once it was revoked.
	status, text, _ := a.as(root, "make", "POST", "/v1/tokens", `{"name":"writer","scopes":["read","write"]}`)
	must.Equal(t, "made at one: "+text, status, 201)
	made := parsed[wire.NewToken](t, text)
	status, text, _ = b.as(made.Secret, "", "POST", ofDefault+"/memories", `{"content":"The staging database is called heron"}`)
	must.Equal(t, "used at the other: "+text, status, 201)
	status, again, replayed := b.as(root, "make", "POST", "/v1/tokens", `{"name":"writer","scopes":["read","write"]}`)
	must.Equal(t, "sent again to the other: "+again, status, 201)
	must.Equal(t, "answered from what was kept", replayed, true)
	must.Equal(t, "token", parsed[wire.NewToken](t, again).ID, made.ID)

	status, text, _ = b.as(root, "", "DELETE", "/v1/tokens/"+string(made.ID), "")
	must.Equal(t, "revoked at the other: "+text, status/100, 2)
	status, _, _ = a.as(made.Secret, "", "GET", ofDefault+"/memories", "")
	must.Equal(t, "asked with it", status, 401)

	// A memory that is sent again to the other server is the same one.
	status, first, _ := a.as(root, "once", "POST", ofDefault+"/memories", `{"content":"sent twice"}`)
	must.Equal(t, "sent: "+first, status, 201)
	_, second, _ := b.as(root, "once", "POST", ofDefault+"/memories", `{"content":"sent twice"}`)
	must.Equal(t, "memory", b.idOf(second), a.idOf(first))

	// The commands of either home look at the same log.
	report := told[wire.AuditReport](homes[1], "audit", "verify")
	must.Equal(t, "damage", report.Damaged, []string{})
	entries := told[struct{ Items []wire.AuditEntry }](homes[0], "audit", "list", "-n", "100").Items
	must.Equal(t, "entries", report.Entries, int64(len(entries)))
	seen := map[string]int{}
	for _, e := range entries {
		seen[e.Action]++
	}
	must.Equal(t, "tokens made", seen["token.create"], 2)
	must.Equal(t, "tokens revoked", seen["token.revoke"], 1)
	must.Hold(t, seen["memory.write"] == 3, "the log lacks what was remembered at either server: %v", seen)
}

// A file that a vault client has put at one server is there at the other, also for a client that has exchanged
// its key at the first, and goes with the agent.
func TestReplicasShareVaults(t *testing.T) {
	t.Parallel()
	homes, _ := replicas(t, 2)
	key := homes[0].does("--quiet", "token", "create", "python", "--scope", "read,write")
	a, b := homes[0].replica(), homes[1].replica()
	status, text, _ := a.as("", "", "POST", "/api/v1/auth/token", `{"api_key":"`+key+`"}`)
	must.Equal(t, "exchanged: "+text, status, 200)
	token := parsed[struct {
		AccessToken string `json:"access_token"`
	}](t, text).AccessToken
	status, text, _ = b.as(token, "", "GET", "/api/v1/vault/files/plan.md", "")
	must.Equal(t, "before there is anything: "+text, status, 404)
	status, text, _ = a.as(token, "", "PUT", "/api/v1/vault/files/plan.md", `{"content":"written at one"}`)
	must.Equal(t, "put: "+text, status/100, 2)
	status, text, _ = b.as(token, "", "GET", "/api/v1/vault/files/plan.md", "")
	must.Equal(t, "read at the other: "+text, status, 200)
	must.Says(t, "content", text, "written at one")
	status, text, _ = b.as(token, "", "POST", "/api/v1/vault/files/plan.md/append", `{"content":", and at the other"}`)
	must.Equal(t, "appended: "+text, status/100, 2)
	_, text, _ = a.as(token, "", "GET", "/api/v1/vault/files/plan.md", "")
	must.Says(t, "content", text, "written at one, and at the other")
	_, text, _ = a.as(token, "", "GET", "/api/v1/vault/status", "")
	must.Says(t, "status", text, `"file_count":1`)
	seen, _, _ := homes[0].amber("", "doctor") // which warns of the database of tests
	must.Says(t, "doctor", seen, "1 file, whole")

	// A snapshot has the file, and a restore brings it back at both.
	id := told[wire.SnapshotMeta](homes[0], "snapshot", "create").ID
	status, text, _ = b.as(token, "", "DELETE", "/api/v1/vault/files/plan.md", "")
	must.Equal(t, "deleted: "+text, status/100, 2)
	status, _, _ = a.as(token, "", "GET", "/api/v1/vault/files/plan.md", "")
	must.Equal(t, "deleted at the other", status, 404)
	homes[0].does("snapshot", "restore", string(id), "--yes")
	for _, w := range []*waiter{a, b} {
		_, text, _ = w.as(token, "", "GET", "/api/v1/vault/files/plan.md", "")
		must.Says(t, "after the restore", text, "written at one, and at the other")
	}
	homes[1].does("agent", "delete", "default", "--no-snapshot", "--yes")
	_, text, _ = a.as(token, "", "GET", "/api/v1/vault/status", "")
	must.Says(t, "status without an agent", text, `"file_count":0`)
}

// A server that asked for tokens does not stop to do so because its agents move to a database.
func TestTokensOfTheHomeAreNotForgotten(t *testing.T) {
	t.Parallel()
	homes, dsn := replicas(t, 1)
	old := newSetting(t, false)
	old.does("--quiet", "token", "create", "root")
	old.set("AMBER_MEMORY__BACKENDS__POSTGRES__DSN_FILE", old.onPostgres(dsn))
	_, err := old.tryToServe("--listen", "127.0.0.1:0", "--accept-unsafe-database")
	must.Says(t, "complaint", err.Error(), "amber token create NAME")
	homes[0].does("--quiet", "token", "create", "root")
	old.replica()
}

// A stream at one server reports what is written at the other, and a restore there.
func TestReplicasHearOfEachOther(t *testing.T) {
	t.Parallel()
	homes, dsn := replicas(t, 2)
	a, b := homes[0].replica(), homes[1].replica()
	b.ofAgent("POST", "/memories", `{"content":"before anybody listens"}`)
	server := must.Get(postgres.Connect(t.Context(), postgres.ServerOptions{DSN: dsn, Clock: time.Now, Random: rand.Reader}))(t)
	defer server.Close()
	agent := mirror.Agent{Server: server, Tenant: "default", ID: "default"}
	dir := t.TempDir()
	must.Get(mirror.Export(t.Context(), agent, dir, mirror.ExportOptions{}))(t)

	heard := a.listen("/events")
	id := b.idOf(b.ofAgent("POST", "/memories", `{"content":"The staging database is called heron"}`))
	for line := range heard {
		if strings.Contains(line, id) {
			break
		}
	}

	// The export from before that becomes another generation.
	built := must.Get(mirror.Import(t.Context(), agent, mirror.Files{Memory: filepath.Join(dir, "memory.db"), Control: filepath.Join(dir, "control.db")}, mirror.ImportOptions{}))(t)
	must.Get(built.Switch(t.Context(), mirror.SwitchOptions{}))(t)
	for line := range heard {
		if line == "event: restored" {
			return
		}
	}
	t.Error("the stream ended before it told of the restore")
}

// listen returns the lines of a stream of the default agent until the test ends.
func (w *waiter) listen(path string) <-chan string {
	w.Helper()
	return w.listenTo(ofDefault + path)
}

// listenTo returns the lines of a stream until the test ends.
func (w *waiter) listenTo(path string) <-chan string {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), time.Minute)
	req := must.Get(http.NewRequestWithContext(ctx, "GET", w.url+path, http.NoBody))(w)
	resp := must.Get(w.client.Do(req))(w)
	lines, done := make(chan string), make(chan struct{})
	go func() {
		defer close(done)
		defer close(lines)
		defer resp.Body.Close()
		for s := bufio.NewScanner(resp.Body); s.Scan(); {
			select {
			case lines <- s.Text():
			case <-ctx.Done():
				return
			}
		}
	}()
	w.Cleanup(func() { cancel(); <-done })
	return lines
}

// parsed reads JSON.
func parsed[T any](t testing.TB, text string) (v T) {
	t.Helper()
	must.Do(t, json.Unmarshal([]byte(text), &v))
	return v
}

// Listeners at one server hear of notes, documents of runtime state and snapshots that were written at another
// one, or by a command of another machine. A listener that comes back later hears also of those in a change
// log.
func TestReplicasHearOfNotesDocumentsAndSnapshots(t *testing.T) {
	t.Parallel()
	homes, _ := replicas(t, 3)
	a, b, far := homes[0].replica(), homes[1].replica(), homes[2]
	b.ofAgent("POST", "/memories", `{"content":"before anybody listens"}`)
	heard := a.listen("/events")
	var first string
	hears := func(what, name string, texts ...string) {
		t.Helper()
		for e := range streamed(heard) {
			if e.name == name && !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(e.data, text) }) {
				if first == "" {
					first = e.id
				}
				return
			}
		}
		t.Fatalf("the stream ended before it told of %s", what)
	}
	note := func(scope, op, key string) []string {
		return []string{`"scope":"` + scope + `"`, `"op":"` + op + `"`, `"key":"` + key}
	}
	b.ofAgent("POST", "/memories", `{"content":"the first that is heard"}`)
	hears("a memory", "mutated", `"scope":"memory"`)
	b.ofAgent("PUT", "/notes/plans", `{"content":"one"}`)
	hears("a note", "mutated", append(note("note", "insert", "plans"), amber.ContentDigest("one"))...)
	hears("its commit", "mutated", note("git", "insert", "")...)
	far.does("note", "write", "plans", "two")
	hears("a note that was changed", "mutated", append(note("note", "update", "plans"), amber.ContentDigest("one"), amber.ContentDigest("two"))...)
	b.ofAgent("DELETE", "/notes/plans", "")
	hears("a note that was deleted", "mutated", append(note("note", "delete", "plans"), amber.ContentDigest("two"))...)
	b.ofAgent("PUT", "/state/extract_cursor", `{"document":{"at":1}}`)
	hears("a document", "mutated", note("state", "insert", "extract_cursor")...)
	b.ofAgent("DELETE", "/state/extract_cursor", "")
	hears("a document that was deleted", "mutated", note("state", "delete", "extract_cursor")...)
	id := b.idOf(b.ofAgent("POST", "/snapshots", `{"label":"by the other server"}`))
	hears("a snapshot", "created", id, "by the other server")
	b.ofAgent("POST", "/snapshots", `{}`) // the last one stays
	far.does("snapshot", "create", "--label", "by a command")
	hears("a snapshot of a command", "created", "by a command")
	b.ofAgent("DELETE", "/snapshots/"+id, "")
	hears("its end", "deleted", id)

	heard = a.listen("/events?after=" + url.QueryEscape(first))
	hears("the note, again", "mutated", note("note", "insert", "plans")...)
	hears("the document, again", "mutated", note("state", "delete", "extract_cursor")...)
}

// streamedEvent is an event of a stream.
type streamedEvent struct{ name, id, data string }

// streamed are the events of a stream, as they come.
func streamed(lines <-chan string) iter.Seq[streamedEvent] {
	return func(yield func(streamedEvent) bool) {
		e := streamedEvent{}
		for line := range lines {
			switch key, value, _ := strings.Cut(line, ": "); key {
			case "event":
				e.name = value
			case "id":
				e.id = value
			case "data":
				e.data = value
			case "":
				if e.name != "" && !yield(e) {
					return
				}
				e = streamedEvent{}
			}
		}
	}
}

// The timeline shows a note once, though it is in the change log of a database too, and a document of runtime state as none of a session.
func TestTimelineOfADatabase(t *testing.T) {
	t.Parallel()
	homes, _ := replicas(t, 1)
	w := homes[0].replica()
	w.ofAgent("POST", "/sessions", `{"id":"s1"}`)
	w.ofAgent("PUT", "/sessions/s1/state", `{"document":{}}`)
	w.ofAgent("PUT", "/notes/plans", `{"content":"one"}`)
	w.ofAgent("PUT", "/state/extract_cursor", `{"document":{"at":1}}`)
	status, page := w.ask("GET", "/ui/default/default/", "")
	must.Equal(t, "status", status, 200)
	for text, want := range map[string]bool{"notes/plans": true, "extract_cursor": true, "sessions/s1": true, "sessions/extract_cursor": false, "session t_cursor": false, ">git<": false} {
		must.Equal(t, "the page says "+text, strings.Contains(page, text), want)
	}
	must.Equal(t, "rows about the note", strings.Count(page, "notes/plans"), 1)
}
