//go:build linux

package main

import (
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/internal/test/pgtest"
)

var (
	replicasCuts   = flag.Int("replicas.cuts", 4, "how often a server is killed in the middle of requests with a key")
	replicasStride = flag.Int("replicas.stride", 20, "how many messages to the database, or a twentieth as many commits, later every fourth time")
)

// keyed is a request that carries a key.
type keyed struct {
	name, method, path, body, key string
	done                          string // a question to the database: how often it was done
	args                          []any

	first reply // of the server that is killed
}

// reply is what a client got; the status is 0 for nothing.
type reply struct {
	status   int
	body     string
	replayed bool
}

// send sends a request to a server.
func (k *keyed) send(c *http.Client, at, key string) (r reply) {
	req, err := http.NewRequest(k.method, at+ofDefault+k.path, strings.NewReader(k.body))
	if err != nil {
		return r
	}
	if k.body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("Idempotency-Key", key)
	resp, err := c.Do(req)
	if err != nil {
		return r
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return r
	}
	return reply{resp.StatusCode, string(b), resp.Header.Get("Idempotent-Replayed") != ""}
}

// insist sends it until the server says something that stays.
func (k *keyed) insist(t *testing.T, c *http.Client, at, key string) (r reply, busy bool) {
	t.Helper()
	for limit := time.Now().Add(giveUp); time.Now().Before(limit); time.Sleep(50 * time.Millisecond) {
		r = k.send(c, at, key)
		if r.status != 0 && r.status < 500 && !strings.Contains(r.body, `"busy"`) {
			return r, busy
		}
		busy = busy || strings.Contains(r.body, `"busy"`)
	}
	t.Errorf("%s: given up after %s: %d %s", k.name, giveUp, r.status, r.body)
	return r, busy
}

// cutRound are the requests that are cut off together, on things that are there.
func cutRound(t *testing.T, n int, at func(method, path, body string) string) []*keyed {
	t.Helper()
	text := func(what string) string { return fmt.Sprintf("%s of round %d", what, n) }
	remember := func(what string) string {
		return parsed[struct{ ID string }](t, at("POST", "/memories", fmt.Sprintf(`{"content":%q}`, text(what)))).ID
	}
	old, doomed, task := remember("what is edited"), remember("what is forgotten"), fmt.Sprintf("task-%d", n)
	at("PUT", "/tasks/"+task, `{"goal":"go on","state":"queued"}`)
	all := []*keyed{
		{
			name: "memory.write", method: "POST", path: "/memories", body: fmt.Sprintf(`{"content":%q}`, text("written")),
			done: "SELECT count(*) FROM amber.memories WHERE content = $1", args: []any{text("written")},
		},
		{
			name: "memory.write_batch", method: "POST", path: "/memories/batch", body: fmt.Sprintf(`{"items":[{"content":%q}]}`, text("in a batch")),
			done: "SELECT count(*) FROM amber.memories WHERE content = $1", args: []any{text("in a batch")},
		},
		{
			name: "memory.edit", method: "PATCH", path: "/memories/" + old, body: fmt.Sprintf(`{"content":%q}`, text("edited")),
			done: "SELECT count(*) FROM amber.changes WHERE key = $1 AND op = 'update'", args: []any{old},
		},
		{
			name: "memory.forget", method: "DELETE", path: "/memories/" + doomed,
			done: "SELECT count(*) FROM amber.changes WHERE key = $1 AND op = 'delete'", args: []any{doomed},
		},
		{
			name: "task.save", method: "PUT", path: "/tasks/new-" + task, body: `{"goal":"go on","state":"queued"}`,
			done: "SELECT coalesce(max(version), 0) FROM amber_control.tasks WHERE id = $1", args: []any{"new-" + task},
		},
		{
			name: "task.event", method: "POST", path: "/tasks/" + task + "/events", body: `{"from":"queued","to":"planning","reason":"begun"}`,
			done: "SELECT count(*) FROM amber_control.events WHERE task_id = $1", args: []any{task},
		},
		{
			name: "queue.publish", method: "POST", path: "/queue", body: fmt.Sprintf(`{"entry_id":%q,"task_id":%q,"node_id":"n"}`, "entry-"+task, task),
			done: "SELECT count(*) FROM amber_control.queue WHERE entry_id = $1", args: []any{"entry-" + task},
		},
	}
	for _, k := range all {
		k.key = fmt.Sprintf("%s-%d", k.name, n)
	}
	return all
}

// A server is killed in the middle of requests that carry a key, before or after the database got a statement.
// A client that sends them to the other server gets the first answer, or one of its own, or the error that it
// is not known whether the request was done. After that error it looks, and sends what is not there with
// another key. Everything is done once.
func TestAServerIsKilledWhileItAnswers(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	homes, dsn := replicas(t, 2)
	conn := must.Get(pgx.Connect(t.Context(), dsn))(t)
	defer func() { _ = conn.Close(t.Context()) }()
	proxy := pgtest.NewProxy(t, server.Addr())
	homes[0].onPostgres(proxy.DSN(conn.Config().Database))
	f := &fleet{T: t, homes: homes, cmds: make([]*exec.Cmd, 2), urls: make([]*url.URL, 2)}
	t.Cleanup(func() { f.kill(0); f.kill(1) })
	for _, h := range homes {
		h.set("AMBER_SERVER__REPLICA__LEASE", "2s")
	}
	f.start(1)
	client := &http.Client{Timeout: giveUp / 2, Transport: &http.Transport{MaxIdleConnsPerHost: 8}}
	defer client.CloseIdleConnections()
	other := f.urls[1].String()
	ended := map[string]int{}
	for n := range *replicasCuts {
		f.start(0)
		// It has the agent open, and connections.
		warm := &keyed{name: "warm", method: "POST", path: "/memories/batch", body: fmt.Sprintf(`{"items":[{"content":"warm %d"}]}`, n)}
		warm.insist(t, client, f.urls[0].String(), fmt.Sprint("warm-", n))
		all := cutRound(t, n, func(method, path, body string) string {
			r := (&keyed{method: method, path: path, body: body}).send(client, other, fmt.Sprint("before-", n, path, len(body)))
			must.Hold(t, r.status/100 == 2, "%s %s: %d %s", method, path, r.status, r.body)
			return r.body
		})
		at := cut{commits: n%4 < 2, passed: n%2 == 0, after: 1 + n/4**replicasStride}
		if at.commits {
			at.after = 1 + n/4**replicasStride/20
		}
		f.cutOff(proxy, client, all, at)
		for _, k := range all {
			ended[f.sendAgain(conn, client, other, k)]++
		}
		if t.Failed() {
			t.Fatalf("round %d: %+v", n, at)
		}
	}
	t.Logf("%d kills: %v", *replicasCuts, ended)
}

// cut is where a server is killed.
type cut struct {
	commits bool // counts those alone, else all messages to the database
	after   int
	passed  bool // the database gets the last one, and what it answers is lost
}

// cutOff sends requests to the first server, and kills it meanwhile.
func (f *fleet) cutOff(proxy *pgtest.Proxy, client *http.Client, all []*keyed, where cut) {
	f.Helper()
	f.mu.Lock()
	process, at := f.cmds[0].Process, f.urls[0].String()
	f.mu.Unlock()
	var left atomic.Int64
	left.Store(int64(where.after))
	proxy.OnFrontend(func(m pgtest.Message) pgtest.Action {
		counts := !where.commits || m.IsCommit()
		n := left.Load()
		if counts {
			n = left.Add(-1)
		}
		switch {
		case n > 0:
			return pgtest.Forward
		case n == 0 && counts:
			_ = process.Kill() // or it has ended
			if where.passed {
				return pgtest.Swallow
			}
		}
		return pgtest.Cut
	})
	var sending sync.WaitGroup
	for _, k := range all {
		sending.Go(func() { k.first = k.send(client, at, k.key) })
	}
	sending.Wait()
	f.kill(0)
	proxy.OnFrontend(nil)
}

// sendAgain sends a request to the other server until it is answered. Where the answer is that it is not known
// whether the request was done, it looks, and sends it with another key if it was not. It returns how that
// went.
func (f *fleet) sendAgain(conn *pgx.Conn, client *http.Client, at string, k *keyed) (how string) {
	f.Helper()
	count := func() (n int) {
		must.Do(f, conn.QueryRow(f.Context(), k.done, k.args...).Scan(&n))
		return n
	}
	before := count()
	r, busy := k.insist(f.T, client, at, k.key)
	switch {
	case r.status/100 == 2 && k.first.status/100 == 2:
		must.Equal(f, k.name+": answered twice", r.body, k.first.body)
		how = "answered before and again the same"
	case r.status/100 == 2 && r.replayed:
		how = "the answer was kept"
	case r.status/100 == 2:
		how = fmt.Sprintf("answered by the other, %d before", before)
	case r.status == http.StatusConflict && strings.Contains(r.body, "whether it was done is not known"):
		how = fmt.Sprintf("nobody knows, done %d", count())
		if count() == 0 {
			again, _ := k.insist(f.T, client, at, k.key+"-again")
			must.Hold(f, again.status/100 == 2, "%s with another key: %d %s", k.name, again.status, again.body)
		}
	default:
		f.Errorf("%s: %d %s, first %d %s", k.name, r.status, r.body, k.first.status, k.first.body)
	}
	if busy {
		how += ", busy at first"
	}
	must.Equal(f, k.name+": done", count(), 1)
	return how
}
