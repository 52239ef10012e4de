package vaultapi_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/serve/vaultapi"
	"github.com/amber-memory/amber/internal/test/must"
)

// limited checks that an answer says that a bound is reached, and for how long.
func (r reply) limited(most, wait int, reset time.Time) {
	r.t.Helper()
	r.fails(429, "RATE_LIMIT")
	h := r.header
	if h.Get("Retry-After") != strconv.Itoa(wait) || h.Get("X-RateLimit-Limit") != strconv.Itoa(most) || h.Get("X-RateLimit-Remaining") != "0" ||
		h.Get("X-RateLimit-Reset") != strconv.FormatInt(reset.Unix(), 10) {
		r.t.Errorf("wait %d until %d: %v", wait, reset.Unix(), h)
	}
}

// TestOperationsShareOneBucket: all changes count together, those of every token
// of the agent, and reading does not.
func TestOperationsShareOneBucket(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	token, reader := w.login(ada), w.login(adaRead)
	w.set(func() { w.rates = vaultapi.Rates{OperationsPerHour: 5} })
	start := w.clock.Read()
	for i, q := range []ask{
		{method: "PUT", path: "/vault/files/a.md", body: document("content", "x")},
		{method: "POST", path: "/vault/files/a.md/append", body: document("content", "y")},
		{method: "POST", path: "/vault/files/a.md/copy", body: document("destination", "b.md")},
		{method: "POST", path: "/vault/files/a.md/move", body: document("destination", "c.md")},
		{method: "DELETE", path: "/vault/files/b.md"},
	} {
		q.token = token
		r := w.do(q)
		must.Equal(t, "class of the status", r.status/100, 2)
		must.Equal(t, "X-RateLimit-Remaining", r.header.Get("X-RateLimit-Remaining"), fmt.Sprint(4-i))
		w.put(reader, "a.md", "x").fails(403, "FORBIDDEN") // a caller that may not write uses up nothing
		w.clock.Forward(10 * time.Minute)
	}
	w.put(token, "d.md", "x").limited(5, 600, start.Add(time.Hour))
	w.clock.Forward(10*time.Minute - time.Millisecond)
	w.put(token, "d.md", "x").limited(5, 1, start.Add(time.Hour))
	w.do(ask{method: "GET", path: "/vault/files/c.md", token: token}).want(200)
	w.put(w.login(twin), "d.md", "x").want(200)
	w.clock.Forward(time.Millisecond)
	w.put(token, "d.md", "x").want(200)
	w.put(token, "d.md", "x").limited(5, 600, start.Add(70*time.Minute))
	w.clock.Forward(-24 * time.Hour) // a clock that was set back locks no caller out
	token = w.login(ada)
	w.put(token, "d.md", "x").want(200)
	w.set(func() { w.rates = vaultapi.Rates{} })
	for range 6 {
		w.put(token, "d.md", "x").want(200)
	}
	must.Equal(t, "entries of the audit log", len(w.audit()), 20)
}

func TestOtherRates(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	token := w.login(ada)
	w.set(func() { w.rates = vaultapi.Rates{SearchesPerHour: 2, ExportsPerHour: 1, RequestsPerMinute: 7} })
	get := func(path string) reply { return w.do(ask{method: "GET", path: path, token: token}) }
	now := w.clock.Read()
	get("/vault/search?q=aa").want(200)
	get("/vault/search?q=aa").want(200)
	get("/vault/search?q=aa").limited(2, 3600, now.Add(time.Hour))
	get("/vault/export").want(200)
	get("/vault/export").limited(1, 3600, now.Add(time.Hour))
	get("/vault/status").want(200)
	get("/me/capabilities").want(200)
	get("/vault/status").limited(7, 60, now.Add(time.Minute))
	w.put(token, "a.md", "x").limited(7, 60, now.Add(time.Minute))
	w.login(ada) // a key is still exchanged
	w.do(ask{method: "GET", path: "/vault/status", token: w.login(bob)}).want(200)
	w.clock.Forward(time.Minute)
	get("/vault/status").want(200)
	w.put(token, "a.md", "x").want(200)
}

// TestManyAgents: those who have not asked for long are forgotten, and the others
// are counted as before.
func TestManyAgents(t *testing.T) {
	t.Parallel()
	var c vaultapi.Counter
	now := time.Date(2026, 8, 21, 0, 0, 0, 0, time.UTC)
	for i := range 4000 {
		c.Take(amber.AgentID(fmt.Sprint("old", i)), 5, now)
	}
	c.Take("busy", 3, now)
	now = now.Add(30 * time.Minute)
	c.Take("busy", 3, now)
	now = now.Add(31 * time.Minute)
	for i := range 200 {
		c.Take(amber.AgentID(fmt.Sprint("new", i)), 5, now)
	}
	must.Equal(t, "agents remembered", c.Agents(), 201)
	for _, want := range []int{1, 0, -1} {
		left, wait := c.Take("busy", 3, now)
		must.Equal(t, "left", left, want)
		must.Equal(t, "wait", wait, 29*time.Minute)
	}
}
