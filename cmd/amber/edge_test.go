//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/capture/journal"
	"github.com/amber-memory/amber/internal/test/must"
)

// newEdge is a user whose memory lies on a server.
func newEdge(t testing.TB, address, token string) *user {
	t.Helper()
	u := newUser(t)
	u.env = append(u.env, "AMBER_SEARCH__MODEL=none")
	u.leads(address, token)
	return u
}

// leads configures where memory lies.
func (u *user) leads(address, token string) {
	u.t.Helper()
	text := "memory:\n  backend: remote\n  backends:\n    remote:\n      url: " + address + "\n"
	if token != "" {
		text += "      token_file: " + u.tokenFile() + "\n"
		must.Do(u.t, os.WriteFile(u.tokenFile(), []byte(token), 0o600))
	}
	u.configure(text)
}

func (u *user) tokenFile() string { return filepath.Join(filepath.Dir(u.home), "token") }

// newToken makes a token in the home of a server.
func (u *user) newToken(args ...string) string {
	u.t.Helper()
	return strings.TrimSpace(u.must("", append([]string{"--quiet", "token", "create"}, args...)...))
}

// exits runs the binary, which ends with an exit code, and returns what it says on stderr.
func (u *user) exits(code int, args ...string) string {
	u.t.Helper()
	out, complaint, got := u.amber("", args...)
	if got != code {
		u.t.Fatalf("amber %s: exit %d, want %d\n%s%s", strings.Join(args, " "), got, code, out, complaint)
	}
	return complaint
}

// told runs a command and reads the JSON on each of its lines.
func toldLines[T any](u *user, args ...string) (items []T) {
	u.t.Helper()
	d := json.NewDecoder(strings.NewReader(u.must("", args...)))
	for d.More() {
		var item T
		must.Do(u.t, d.Decode(&item))
		items = append(items, item)
	}
	return items
}

// waiting counts the entries of the journal that the store does not have.
func (u *user) waiting() (n int64) {
	u.t.Helper()
	var state struct {
		Sessions []struct{ Undrained int64 }
	}
	must.Do(u.t, json.Unmarshal([]byte(u.must("", "--json", "journal", "status")), &state))
	for _, s := range state.Sessions {
		n += s.Undrained
	}
	return n
}

// lived is everything that became of hooks, without what differs from one store to another.
func (u *user) lived() (all []string) {
	u.t.Helper()
	for _, m := range toldLines[amber.Memory](u, "list", "--all", "--jsonl", "-n", "1000") {
		all = append(all, fmt.Sprintf("memory %s %s %q %q %q session %s rev %d tags %v trust %s", m.Kind, m.Scope, m.Title, m.Topic, m.Content, m.SessionID, m.Revision, m.Tags, m.Trust))
	}
	for _, s := range toldLines[amber.Session](u, "session", "list", "--jsonl", "-n", "1000") {
		all = append(all, fmt.Sprintf("session %s %s project %q ended %v %s %q", s.ID, s.Binding, s.Project, !s.EndedAt.IsZero(), s.EndReason, s.Summary))
		for i, turn := range toldLines[amber.Turn](u, "turn", "list", "--session", string(s.ID), "--jsonl", "-n", "1000") {
			all = append(all, fmt.Sprintf("turn %s %03d %s %q", s.ID, i, turn.Role, turn.Content))
		}
		var done struct{ Items []amber.Activity }
		must.Do(u.t, json.Unmarshal([]byte(u.must("", "--json", "session", "activity", string(s.ID))), &done))
		for _, d := range done.Items {
			all = append(all, fmt.Sprintf("did %s %s %q %d", s.ID, d.Kind, d.Name, d.Count))
		}
	}
	slices.Sort(all)
	return all
}

// copies is a user with a store of their own who was told the same.
func (u *user) copies() *user {
	u.t.Helper()
	local := newUser(u.t)
	local.env = append(local.env, "AMBER_SEARCH__MODEL=none")
	must.Do(u.t, os.MkdirAll(local.spool(), 0o700))
	must.Do(u.t, os.CopyFS(local.spool(), os.DirFS(u.spool())))
	must.Do(u.t, filepath.WalkDir(local.home, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		mode := os.FileMode(0o600)
		if d.IsDir() {
			mode = 0o700
		}
		return os.Chmod(path, mode)
	}))
	return local
}

// works appends what hosts say in so many sessions to the journal: every third of them goes on.
func (u *user) works(sessions int) {
	u.t.Helper()
	j, now := u.journal(), amber.At(time.Now())
	must.Do(u.t, j.Make())
	for s := range sessions {
		of := journal.Session{Host: "claude-code", ID: amber.SessionID(fmt.Sprintf("s-%02d", s))}
		event := func(n int, kind journal.EventKind) journal.HostEvent {
			return journal.HostEvent{
				Schema: journal.HostEventSchema, EventID: fmt.Sprintf("%016x%016x", s, n), Native: true, Host: of.Host, SessionID: of.ID,
				Kind: kind, ObservedAt: now, Project: "acme/shop", Directory: "/src/shop",
			}
		}
		ask, tool, answer := event(1, journal.HostPrompt), event(2, journal.HostToolAfter), event(3, journal.HostTurnEnd)
		ask.Prompt = fmt.Sprintf("why do the tests of part %d fail?", s)
		tool.Tool, tool.Files = &journal.HostTool{Name: "Edit"}, []journal.HostFile{{Path: fmt.Sprintf("/src/shop/part%d.go", s), Action: journal.FileModified}}
		answer.Answer = fmt.Sprintf("Fixed.\n\n## Key Learnings\n- The tests of part %d need PostgreSQL %d\n", s, s)
		events := []journal.HostEvent{event(0, journal.HostSessionStart), ask, tool, answer}
		if s%3 != 2 {
			events = append(events, event(4, journal.HostSessionEnd))
		}
		for _, ev := range events {
			must.Get(j.Append(context.Background(), of, journal.Entry{Payload: must.Get(json.Marshal(ev))(u.t)}))(u.t)
		}
	}
}

// A host's events go from the hook into the spool of its machine, from there to the server, and
// what is known there comes back as context.
func TestEdge(t *testing.T) {
	t.Parallel()
	srv := newUser(t)
	r := srv.serve()
	srv.must("", "remember", "--scope", "global", "The coupon rounding is done in cents")
	u := newEdge(t, r.url, srv.newToken("edge", "--scope", "read,write"))
	u.env = append(u.env, "HOME="+filepath.Dir(u.home)) // which is in no project
	hook := func(event string) string {
		t.Helper()
		said, complaint, code := u.amber(event, "hook", "claude-code", "--no-drain", "--timeout", "1m", "--context-timeout", "1m")
		must.Equal(t, "exit code", code, 0)
		must.Equal(t, "complaint", complaint, "")
		return said
	}
	must.Says(t, "hook", hook(`{"session_id":"s1","hook_event_name":"UserPromptSubmit","prompt":"is the coupon rounding done in cents?"}`), "The coupon rounding is done in cents", "additionalContext")
	must.Equal(t, "shown again", hook(`{"session_id":"s1","hook_event_name":"UserPromptSubmit","prompt":"is the coupon rounding really done in cents?"}`), "")
	hook(`{"session_id":"s1","hook_event_name":"Stop","last_assistant_message":"Yes.\n\n## Key Learnings\n- Integration tests need PostgreSQL 16\n"}`)
	hook(`{"session_id":"s1","hook_event_name":"SessionEnd","reason":"exit"}`)
	must.Says(t, "what waits", u.must("", "doctor"), "ok    server ", "ok    server.token", "5 entries wait to be drained")
	must.Equal(t, "sessions before the drain", len(toldLines[amber.Session](srv, "session", "list", "--jsonl")), 0)
	must.Says(t, "drain", u.must("", "journal", "drain"), "5 events of 1 session: 5 applied")
	must.Equal(t, "entries that wait", u.waiting(), 0)
	must.Says(t, "a second drain", u.must("", "journal", "drain"), "0 events")
	must.Equal(t, "what the server knows, asked from here and there", u.lived(), srv.lived())
	must.Says(t, "turns", u.must("", "turn", "list", "--session", "s1"), "is the coupon rounding done in cents?", "Yes.")
	must.Says(t, "learnt", u.must("", "recall", "--session", "s1", "integration tests"), "PostgreSQL 16")
	must.Says(t, "context", u.must("", "context", "coupon rounding"), "done in cents")
	id := strings.TrimSpace(u.must("", "--quiet", "remember", "--scope", "global", "We deploy on Fridays"))
	must.Says(t, "remembered there", srv.must("", "get", id), "We deploy on Fridays")
	must.Equal(t, "files beside the spool", u.filesBeside(), nil)
	r.stop()
}

// filesBeside lists the files of the home that are not in a spool.
func (u *user) filesBeside() (files []string) {
	u.t.Helper()
	must.Do(u.t, filepath.WalkDir(u.home, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && !strings.HasPrefix(path, u.spool()) {
			files = append(files, path)
		}
		return err
	}))
	return files
}

// cutting is a way to a server that is killed while it works. It stands between an edge and
// the server.
type cutting struct {
	u    *user
	mu   sync.Mutex
	now  *running // under mu
	cuts []string // how the server dies with the ingestions to come, "" for not at all; under mu
	url  string
}

func newCutting(u *user, cuts ...string) *cutting {
	c := &cutting{u: u, now: u.serve(), cuts: cuts}
	srv := httptest.NewServer(c)
	u.t.Cleanup(srv.Close)
	c.url = srv.URL
	return c
}

// next tells how the server dies with an ingestion.
func (c *cutting) next() (how string, left int) {
	if len(c.cuts) == 0 {
		return "", 0
	}
	how, c.cuts = c.cuts[0], c.cuts[1:]
	return how, len(c.cuts)
}

func (c *cutting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock() // a drain asks for one thing after the other
	to := must.Get(url.Parse(c.now.url))(c.u.t)
	proxy := httputil.NewSingleHostReverseProxy(to)
	how := ""
	if strings.HasSuffix(r.URL.Path, "/journal/ingest") {
		how, _ = c.next()
	}
	switch how {
	case "":
		proxy.ServeHTTP(w, r)
		return
	case "before":
	case "after": // it has stored everything, and the drain gets no answer
		proxy.ServeHTTP(httptest.NewRecorder(), r)
	case "while":
		killed := make(chan struct{})
		go func() {
			defer close(killed)
			<-time.After(2 * time.Millisecond)
			c.now.kill()
		}()
		proxy.ErrorHandler = func(http.ResponseWriter, *http.Request, error) {}
		proxy.ServeHTTP(httptest.NewRecorder(), r)
		<-killed
	}
	c.now.kill()
	c.now = c.u.serve()
	panic(http.ErrAbortHandler) // the connection ends without an answer
}

// TestAKilledServerIsDrainedIntoExactlyOnce kills the server before, while and after it stores
// what an edge drains, and drains again until nothing waits. The outcome is that of a drain into
// a store on this machine.
func TestAKilledServerIsDrainedIntoExactlyOnce(t *testing.T) {
	t.Parallel()
	srv := newUser(t)
	srv.env = append(srv.env, "AMBER_SEARCH__MODEL=none")
	token := srv.newToken("edge", "--scope", "read,write")
	c := newCutting(srv, "before", "", "after", "", "", "while", "after", "", "after", "before", "", "", "while", "", "while", "after")
	u := newEdge(t, c.url, token)
	u.works(12)
	local := u.copies()
	drains, failed := 0, 0
	for ; ; drains++ {
		out, complaint, code := u.amber("", "journal", "drain")
		if code == 0 && u.waiting() == 0 {
			break
		}
		if code != 0 && code != 7 || drains > 40 {
			t.Fatalf("drain %d: exit %d\n%s%s", drains, code, out, complaint)
		}
		failed++
	}
	c.mu.Lock()
	left := len(c.cuts)
	c.mu.Unlock()
	must.Equal(t, "deaths that did not come", left, 0)
	must.Hold(t, failed >= 8, "only %d drains met a server that died", failed)
	local.must("", "journal", "drain")
	must.Equal(t, "what was drained into the server", u.lived(), local.lived())
	must.Hold(t, len(local.lived()) > 60, "only %d records were compared", len(local.lived()))
	must.Equal(t, "set aside", len(toldQuarantine(u)), 0)
	c.now.stop()
	srv.must("", "doctor")
}

func toldQuarantine(u *user) []json.RawMessage {
	u.t.Helper()
	var q struct{ Items []json.RawMessage }
	must.Do(u.t, json.Unmarshal([]byte(u.must("", "--json", "journal", "quarantine")), &q))
	return q.Items
}

// freePort returns an address at which no process listens.
func freePort(t testing.TB) string {
	t.Helper()
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer l.Close()
	return l.Addr().String()
}

// While the server is away everything waits in the spool, and a caller gets the error that the
// server is away, not that nothing is known.
func TestEdgeWithoutItsServer(t *testing.T) {
	t.Parallel()
	srv, at := newUser(t), freePort(t)
	token := srv.newToken("edge", "--scope", "read,write")
	u := newEdge(t, "http://"+at, token)
	for n, prompt := range []string{"is the coupon rounding done in cents?", "and the shipping?"} {
		said, complaint, code := u.asProcess(`{"session_id":"s1","hook_event_name":"UserPromptSubmit","prompt":"`+prompt+`"}`, "hook", "claude-code", "--timeout", "1m", "--context-timeout", "1m")
		must.Equal(t, "exit code", code, 0)
		must.Equal(t, "said", said, "")
		must.Says(t, "complaint", complaint, "no memories were found for the agent", "connection refused")
		must.Equal(t, "events", len(u.entries()["s1"]), n+1)
	}
	u.settle()
	for _, args := range [][]string{{"recall", "coupon"}, {"context", "coupon"}, {"list"}, {"remember", "x"}, {"journal", "drain"}, {"snapshot", "list"}} {
		must.Says(t, strings.Join(args, " "), u.exits(7, args...), "connection refused")
	}
	var answer struct {
		Error struct{ Kind amber.Kind }
	}
	out, _, _ := u.amber("", "--json", "recall", "coupon")
	must.Do(t, json.Unmarshal([]byte(out), &answer))
	must.Equal(t, "kind", answer.Error.Kind, amber.KindUnreachable)
	report, _, code := u.amber("", "doctor")
	must.Equal(t, "exit code of the doctor", code, 7)
	must.Says(t, "doctor", report, "FAIL  server ", "connection refused", "ok    spool.writable", "2 entries are in the journal; how many of them the server has is not known")
	must.Says(t, "journal status", u.exits(0, "journal", "status"), "it is not known what is drained")
	must.Equal(t, "events that wait", len(u.entries()["s1"]), 2)

	r := srv.serve("--listen", at)
	must.Says(t, "drain", u.must("", "journal", "drain"), "2 applied")
	must.Equal(t, "turns", len(toldLines[amber.Turn](u, "turn", "list", "--session", "s1", "--jsonl")), 2)
	r.stop()
}

// The drain behind a hook waits for a server that is away, and the next event makes it look.
func TestTheDrainBehindHooksWaitsForTheServer(t *testing.T) {
	t.Parallel()
	srv, at := newUser(t), freePort(t)
	token := srv.newToken("edge", "--scope", "read,write")
	u := newEdge(t, "http://"+at, token)
	u.env = append(u.env, "AMBER_CONTEXT__STAY=1m")
	hook := func(prompt string, flags ...string) {
		t.Helper()
		_, _, code := u.asProcess(`{"session_id":"s1","hook_event_name":"UserPromptSubmit","prompt":"`+prompt+`"}`, append([]string{"hook", "claude-code", "--timeout", "1m"}, flags...)...)
		must.Equal(t, "exit code", code, 0)
	}
	hook("first")
	await := func(what string, so func() bool) {
		t.Helper()
		(&running{t: t, log: &logBuffer{}}).await(what, so)
	}
	await("a drain runs", func() bool {
		_, err := os.Lstat(filepath.Join(u.spool(), "drain.lock"))
		return err == nil
	})
	r := srv.serve("--listen", at)
	hook("second", "--no-drain") // the one that waits drains it
	await("both are drained", func() bool { return u.waiting() == 0 })
	must.Equal(t, "turns", len(toldLines[amber.Turn](u, "turn", "list", "--session", "s1", "--jsonl")), 2)
	u.settle()
	r.stop()
}

// Drains that run at once, of one machine and of two, store everything once.
func TestEdgesDrainAtOnce(t *testing.T) {
	t.Parallel()
	srv := newUser(t)
	srv.env = append(srv.env, "AMBER_SEARCH__MODEL=none")
	r := srv.serve()
	token := srv.newToken("edge", "--scope", "read,write")
	u := newEdge(t, r.url, token)
	u.works(9)
	local, second := u.copies(), u.copies() // two machines report the events of one host
	second.leads(r.url, token)
	var wg sync.WaitGroup
	for _, of := range []*user{u, u, u, second, second} {
		wg.Go(func() { must.NoError(t, of.drains()) })
	}
	wg.Wait()
	must.Equal(t, "entries that wait", u.waiting()+second.waiting(), 0)
	local.must("", "journal", "drain")
	must.Equal(t, "what was drained into the server", u.lived(), local.lived())
	r.stop()
}

// An event that fits into the journal fits into the requests of a drain.
func TestEdgeDrainsLargeEvents(t *testing.T) {
	t.Parallel()
	srv := newUser(t)
	srv.env = append(srv.env, "AMBER_SEARCH__MODEL=none")
	r := srv.serve()
	u := newEdge(t, r.url, srv.newToken("edge", "--scope", "read,write"))
	j, of := u.journal(), journal.Session{Host: "claude-code", ID: "large"}
	must.Do(t, j.Make())
	for n := range 5 {
		ev := journal.HostEvent{
			Schema: journal.HostEventSchema, EventID: fmt.Sprintf("%032x", n), Native: true, Host: of.Host, SessionID: of.ID,
			Kind: journal.HostTurnEnd, ObservedAt: amber.At(time.Now()), Project: "acme/shop",
		}
		ev.Answer = "Done.\n\n## Key Learnings\n" + strings.Repeat(fmt.Sprintf("- The \"part %d\" needs <PostgreSQL> & patience, so much is certain by now\n", n), 9_000)
		must.Get(j.Append(t.Context(), of, journal.Entry{Payload: must.Get(json.Marshal(ev))(t)}))(t)
	}
	local := u.copies()
	u.must("", "journal", "drain")
	local.must("", "journal", "drain")
	must.Equal(t, "set aside", len(toldQuarantine(u)), 0)
	must.Equal(t, "entries that wait", u.waiting(), 0)
	must.Equal(t, "what was drained into the server", u.lived(), local.lived())
	r.stop()
}

// drains runs a drain until it ends well; two machines may be in each other's way.
func (u *user) drains() error {
	var out bytes.Buffer
	for range 20 {
		cmd := exec.Command("amber", "journal", "drain")
		cmd.Env, cmd.Dir = u.environ(), filepath.Dir(u.home)
		out.Reset()
		cmd.Stdout, cmd.Stderr = &out, &out
		if cmd.Run() == nil {
			return nil
		}
	}
	return errors.New(out.String())
}

// A token that the server does not take, or that is for something else, moves nothing.
func TestEdgeWithTheWrongToken(t *testing.T) {
	t.Parallel()
	srv := newUser(t)
	r := srv.serve()
	srv.must("", "remember", "--scope", "global", "The coupon rounding is done in cents")
	good := srv.newToken("edge", "--scope", "read,write")
	u := newEdge(t, r.url, "amber_wrong_token")
	u.works(2)
	for _, c := range []struct {
		name, token string
		code        int
		words       []string
	}{
		{"wrong", "amber_wrong_token", 6, nil},
		{"of another tenant", srv.newToken("other", "--tenant", "acme", "--all-agents", "--scope", "read,write"), 3, nil},
		{"for another agent", srv.newToken("writer", "--agent", "writer", "--scope", "read,write"), 3, nil},
		{"for reading only", srv.newToken("reader", "--scope", "read"), 6, []string{"write"}},
	} {
		u.leads(r.url, c.token)
		out, complaint, code := u.amber("", "journal", "drain")
		must.Equal(t, c.name+": exit code", code, c.code)
		must.Says(t, c.name, out+complaint, c.words...)
		must.Hides(t, c.name, out+complaint, c.token)
		must.Equal(t, c.name+": sessions in the spool", len(u.entries()), 2)
		must.Equal(t, c.name+": set aside", len(toldQuarantine(u)), 0)
		said, complaint, code := u.amber(`{"session_id":"h1","hook_event_name":"SessionStart"}`, "hook", "claude-code", "--no-drain", "--timeout", "1m", "--context-timeout", "1m")
		must.Equal(t, c.name+": exit code of a hook", code, 0)
		if c.name != "for reading only" {
			must.Equal(t, c.name+": said", said, "")
			must.Says(t, c.name, complaint, "no memories were found for the agent")
			report, _, _ := u.amber("", "doctor")
			must.Says(t, c.name, report, "ok    server ", "FAIL  server.token")
			u.exits(c.code, "recall", "x")
		}
		must.Do(t, os.RemoveAll(filepath.Join(u.spool(), string(journal.Session{Host: "claude-code", ID: "h1"}.Key()))))
	}
	u.leads(r.url, good)
	must.Do(t, os.Chmod(u.tokenFile(), 0o644))
	for _, args := range [][]string{{"journal", "drain"}, {"recall", "x"}} {
		must.Says(t, "a token that others can read", u.exits(6, args...), "0644", "chmod 600")
	}
	report, _, _ := u.amber("", "doctor")
	must.Says(t, "doctor", report, "FAIL  server.token", "0644")
	must.Do(t, os.Chmod(u.tokenFile(), 0o600))
	must.Hides(t, "config show", u.must("", "config", "show"), good)
	must.Says(t, "drain", u.must("", "journal", "drain"), "10 applied")
	r.stop()
}

// A server that is none, or an enemy: what it sends is bounded, the token goes nowhere else,
// and nothing leaves the spool.
func TestEdgeAtAHostileServer(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer elsewhere.Close()
	for name, answer := range map[string]http.HandlerFunc{
		"a page": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>hello</html>")) },
		"garbage": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte("{\"items\":\x00\xff"))
		},
		"null": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte("null"))
		},
		"endless": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			if _, err := w.Write([]byte(`{"text":"`)); err != nil {
				return
			}
			for part := bytes.Repeat([]byte("evil"), 16<<10); r.Context().Err() == nil; {
				if _, err := w.Write(part); err != nil {
					return
				}
			}
		},
		"large text": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"text":"` + strings.Repeat("evil", 256<<10) + `","memories":[],"hits":[]}`))
		},
		"elsewhere": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL+r.URL.Path, http.StatusTemporaryRedirect)
		},
		"cut off": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	} {
		t.Run(name, func(t *testing.T) {
			srv := httptest.NewServer(answer)
			defer srv.Close()
			u := newEdge(t, srv.URL, "amber_secret_token")
			u.works(1)
			out, complaint, code := u.amber("", "journal", "drain")
			must.Hold(t, code == 5 || code == 7, "exit %d\n%s%s", code, out, complaint)
			must.Hides(t, "drain", out+complaint, "amber_secret_token")
			must.Equal(t, "sessions in the spool", len(u.entries()), 1)
			must.Equal(t, "set aside", len(toldQuarantine(u)), 0)
			said, complaint, code := u.amber(`{"session_id":"h1","hook_event_name":"UserPromptSubmit","prompt":"what is known?"}`, "hook", "claude-code", "--no-drain", "--timeout", "1m", "--context-timeout", "1m")
			must.Equal(t, "exit code of a hook", code, 0)
			must.Hides(t, "hook", said, "evil")
			must.Says(t, "hook", complaint, "no memories were found for the agent")
			if name == "large text" { // it is an answer to recall
				return
			}
			_, _, code = u.amber("", "recall", "what is known")
			must.Hold(t, code == 5 || code == 7, "recall: exit %d", code)
		})
	}
	must.Equal(t, "requests that went elsewhere", asked.Load(), 0)
}

// A hook waits for the server as long as it may, and not longer.
func TestEdgeAtASilentServer(t *testing.T) {
	t.Parallel()
	begun, end := make(chan struct{}, 1), make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		begun <- struct{}{}
		select {
		case <-r.Context().Done():
		case <-end:
		}
	}))
	defer srv.Close()
	defer close(end)
	u := newEdge(t, srv.URL, "amber_secret_token")
	said, complaint, code := u.amber(`{"session_id":"h1","hook_event_name":"UserPromptSubmit","prompt":"what is known?"}`, "hook", "claude-code", "--no-drain", "--timeout", "1m", "--context-timeout", "300ms")
	must.Equal(t, "exit code", code, 0)
	must.Equal(t, "said", said, "")
	must.Says(t, "complaint", complaint, "the time of 300ms is used up")
	must.Equal(t, "events", len(u.entries()["h1"]), 1)
	<-begun // it was asked
}

// A verb that needs a store of this machine says so, and what to do.
func TestVerbsThatDoNotWorkAtAnEdge(t *testing.T) {
	t.Parallel()
	u := newEdge(t, "http://127.0.0.1:1", "")
	for _, args := range []string{
		"sync export", "sync status", "vault backup", "bundle export x", "repo list", "index status", "serve",
	} {
		must.Says(t, args, u.exits(6, strings.Fields(args)...), "memory lies on the server at http://127.0.0.1:1", "on the machine of the server")
	}
	must.Says(t, "parked entries", u.exits(6, "journal", "drain", "--from-generation", "3"), "on the machine of the server")
	must.Says(t, "ui", u.exits(6, "ui"), "open http://127.0.0.1:1/ui/ in a browser")
	must.Says(t, "snapshot", u.exits(2, "snapshot", "list", "--repo", "usb"), "--repo", "memory.backend is remote")
	for _, args := range []string{"version", "eval recall --help", "config check", "config show", "redact --help", "key show", "journal status", "journal verify", "setup --list"} {
		_, complaint, _ := u.amber("", strings.Fields(args)...)
		must.Hides(t, args, complaint, "memory lies on the server")
	}
	out, _, _ := u.amber("", "doctor", "--deep")
	must.Says(t, "doctor --deep", out, "amber doctor --deep --remote http://127.0.0.1:1")
	u.configure("memory:\n  backend: remote\n")
	must.Says(t, "no URL", u.exits(2, "list"), "memory.backends.remote.url")
	must.Says(t, "no URL", u.exits(2, "config", "check"), "memory.backends.remote.url")
	u.configure("memory:\n  backend: remote\n  backends:\n    remote:\n      url: http://memory.example.org\n")
	must.Says(t, "plain http to another machine", u.exits(2, "list"), "memory.backends.remote.url")
}

// To erase a memory, or to delete a session, reaches what still waits in the spool.
func TestEdgeErasesWhatWaits(t *testing.T) {
	t.Parallel()
	srv := newUser(t)
	r := srv.serve()
	u := newEdge(t, r.url, srv.newToken("edge", "--scope", "admin"))
	u.works(1)
	u.must("", "journal", "drain")
	kept := toldLines[amber.Memory](u, "list", "--all", "--jsonl", "--kind", "workflow_insight")
	must.Equal(t, "memories", len(kept), 1)
	u.must(`{"session_id":"s-00","hook_event_name":"UserPromptSubmit","prompt":"what does part 0 need?"}`, "hook", "claude-code", "--no-drain", "--timeout", "1m")
	must.Equal(t, "entries that wait", u.waiting() > 0, true)
	must.Hides(t, "erased", u.must("", "forget", "--erase", "--yes", string(kept[0].ID)), "crash journal")
	must.Equal(t, "entries that wait", u.waiting(), 0)
	u.must(`{"session_id":"s-00","hook_event_name":"UserPromptSubmit","prompt":"and part 1?"}`, "hook", "claude-code", "--no-drain", "--timeout", "1m")
	u.must("", "session", "delete", "--yes", "s-00")
	u.must("", "journal", "drain")
	must.Equal(t, "sessions", len(toldLines[amber.Session](u, "session", "list", "--jsonl")), 0)
	r.stop()
}

// A server that was restored knows less than an edge has cleared: what comes from then on is
// stored, and what is still in the spool.
func TestEdgeAtAServerThatWasRestored(t *testing.T) {
	t.Parallel()
	srv := newUser(t)
	r := srv.serve()
	u := newEdge(t, r.url, srv.newToken("edge", "--scope", "admin"))
	says := func(prompt string) {
		t.Helper()
		u.must(`{"session_id":"s1","hook_event_name":"UserPromptSubmit","prompt":"`+prompt+`"}`, "hook", "claude-code", "--no-drain", "--timeout", "1m", "--context-timeout", "0")
	}
	says("first")
	u.must("", "journal", "drain")
	snapshot := strings.TrimSpace(u.must("", "--quiet", "snapshot", "create"))
	says("second")
	u.must("", "journal", "drain")
	says("third")
	u.must("", "snapshot", "restore", "--yes", snapshot)
	says("fourth")
	u.must("", "journal", "drain")
	must.Equal(t, "entries that wait", u.waiting(), 0)
	var said []string
	for _, turn := range toldLines[amber.Turn](u, "turn", "list", "--session", "s1", "--jsonl") {
		said = append(said, turn.Content)
	}
	must.Equal(t, "turns", said, []string{"first", "third", "fourth"})
	r.stop()
}

// The MCP server of an agent host asks the server too.
func TestEdgeOverMCP(t *testing.T) {
	t.Parallel()
	srv := newUser(t)
	r := srv.serve()
	srv.must("", "remember", "--scope", "global", "The coupon rounding is done in cents")
	u := newEdge(t, r.url, srv.newToken("edge", "--scope", "read,write"))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "amber", "mcp")
	cmd.Env, cmd.Dir = u.environ(), filepath.Dir(u.home)
	in, out := must.Get(cmd.StdinPipe())(t), must.Get(cmd.StdoutPipe())(t)
	must.Do(t, cmd.Start())
	answers := json.NewDecoder(out)
	ask := func(id int, method, params string) string {
		t.Helper()
		_, err := fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", id, method, params)
		must.Do(t, err)
		var answer json.RawMessage
		must.Do(t, answers.Decode(&answer))
		return string(answer)
	}
	ask(1, "initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"host","version":"1"}}`)
	must.Says(t, "recall", ask(2, "tools/call", `{"name":"memory_recall","arguments":{"query":"coupon rounding"}}`), "done in cents")
	ask(3, "tools/call", `{"name":"memory_save","arguments":{"content":"We deploy on Fridays","project":"acme/shop"}}`)
	must.Says(t, "context", ask(4, "tools/call", `{"name":"memory_context","arguments":{"goal":"when do we deploy on Fridays","project":"acme/shop"}}`), "We deploy on Fridays")
	must.Do(t, in.Close())
	must.Do(t, cmd.Wait())
	must.Says(t, "saved there", srv.must("", "list", "--all"), "We deploy on Fridays")
	r.stop()
}
