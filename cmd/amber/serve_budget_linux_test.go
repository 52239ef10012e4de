package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/amber-memory/amber/internal/share/foreign/foreigntest"
	"github.com/amber-memory/amber/internal/test/must"
)

var (
	budgetMemories = flag.Int("budget.memories", 24, "large memories of the attacked server")
	budgetFor      = flag.Duration("budget.for", 10*time.Second, "how long the server is attacked")
)

// mostResident bounds what the server may take under the attack, in kB.
const mostResident = 200_000

// A server under 100 callers that ask for large listings and hardly read them, 20 hostile imports and batches of the
// largest size stays small, and goes on answering another tenant.
func TestAServerUnderSlowReadersStaysSmall(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	evil, good := u.tenantToken("evil"), u.tenantToken("good")
	r := u.serve()
	a := &attack{t: t, r: r, token: evil, path: "/v1/tenants/evil/agents/default"}
	a.seed(*budgetMemories)
	idle := a.resident("VmRSS")
	ctx, stop := context.WithTimeout(t.Context(), *budgetFor)
	defer stop()
	var wg sync.WaitGroup
	a.begin(ctx, &wg)
	took := a.others(ctx, good)
	wg.Wait()
	peak := a.resident("VmHWM")
	slices.Sort(took)
	if len(took) == 0 {
		t.Fatalf("%d kB at the peak; another tenant had no answer at all", peak)
	}
	p99 := took[len(took)*99/100]
	t.Logf("%d kB before the attack, %d kB at its peak; another tenant: %d answers, middle %v, p99 %v; of the attack %d answered, %d refused with 503, %d cut off",
		idle, peak, len(took), took[len(took)/2], p99, a.answered.Load(), a.refused.Load(), a.broken.Load())
	if peak > mostResident {
		t.Errorf("the server took %d kB, want at most %d", peak, mostResident)
	}
	if a.refused.Load()+a.answered.Load() == 0 {
		t.Error("nothing of the attack reached the server")
	}
	r.stop()
}

// tenantToken makes a token of one tenant that may do everything there.
func (u *user) tenantToken(tenant string) string {
	u.t.Helper()
	var made struct{ Secret string }
	out := u.must("", "token", "create", tenant, "--tenant", tenant, "--scope", "read", "--scope", "write", "--scope", "snapshot", "--json")
	must.Do(u.t, json.Unmarshal([]byte(out), &made))
	return made.Secret
}

// attack is what one hostile tenant does.
type attack struct {
	t           *testing.T
	r           *running
	token, path string
	snapshot    string
	databases   [][]byte // to import, made to take time and memory without end

	answered, refused, broken atomic.Int64
}

// resident reads a line of the memory of the server, in kB.
func (a *attack) resident(name string) (kb int) {
	a.t.Helper()
	for line := range strings.Lines(string(must.Get(os.ReadFile(fmt.Sprintf("/proc/%d/status", a.r.cmd.Process.Pid)))(a.t))) {
		if _, err := fmt.Sscanf(line, name+": %d kB", &kb); err == nil {
			return kb
		}
	}
	a.t.Fatalf("the system does not tell %s", name)
	return 0
}

func largeMemory(i int) string {
	return fmt.Sprintf(`{"title":"large %d","content":"number%d %s"}`, i, i, strings.Repeat("the same words again ", 1_000_000/21))
}

// do sends a request and reads the answer.
func (a *attack) do(ctx context.Context, token, method, path, kind string, body []byte) (int, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, a.r.url+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	resp, err := a.r.client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, 8<<20))
	return resp.StatusCode, b, err
}

func (a *attack) must(method, path, body string) []byte {
	a.t.Helper()
	status, b, err := a.do(a.t.Context(), a.token, method, a.path+path, "application/json", []byte(body))
	if err != nil || status/100 != 2 {
		a.t.Fatalf("%s %s: %d %.300s %v", method, path, status, b, err)
	}
	return b
}

// seed stores large memories, a long history, a conversation and a snapshot of all that.
func (a *attack) seed(n int) {
	a.t.Helper()
	for i := range n {
		a.must("POST", "/memories", largeMemory(i))
	}
	for i := range n / 4 {
		var b strings.Builder
		must.Do(a.t, json.NewEncoder(&b).Encode(map[string]string{"role": "user", "content": fmt.Sprintf("turn%d ", i) + strings.Repeat("said the same ", 70_000)}))
		a.must("POST", "/sessions/talk/turns", b.String())
		a.must("PUT", fmt.Sprintf("/tasks/t%d", i), fmt.Sprintf(`{"id":"t%d","goal":"g","session_id":"talk","extra":{"x":"%s"}}`, i, strings.Repeat("y", 3_000_000)))
	}
	var s struct {
		ID       string
		Manifest struct{ ID string }
	}
	b := a.must("POST", "/snapshots", `{}`)
	must.Do(a.t, json.Unmarshal(b, &s))
	a.snapshot = s.ID + s.Manifest.ID
	for _, h := range foreigntest.Hostile(a.t) {
		a.databases = append(a.databases, h.File)
	}
}

// begin starts 100 slow readers and 20 senders, which go on until the context ends.
func (a *attack) begin(ctx context.Context, wg *sync.WaitGroup) {
	lists := []string{
		"/memories?limit=1000", "/memories?limit=1000&kind=workspace_fact", "/sessions/talk/conversation?limit=1000", "/sessions/talk/turns?limit=1000",
		"/tasks?limit=1000", "/snapshots/" + a.snapshot + "/memories?limit=1000", "/export?to=amber", "/memories?limit=1000&all=true",
	}
	for i := range 100 {
		wg.Go(func() {
			for ctx.Err() == nil {
				a.readSlowly(ctx, lists[i%len(lists)], i%3 == 0)
			}
		})
	}
	for i := range 20 {
		wg.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				a.send(ctx, i, n)
			}
		})
	}
}

// readSlowly asks for a listing and takes some bytes a second of it.
func (a *attack) readSlowly(ctx context.Context, path string, lines bool) {
	u := must.Get(url.Parse(a.r.url))(a.t)
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", u.Host)
	if err != nil {
		return
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { _ = c.Close() })()
	_ = c.(*net.TCPConn).SetReadBuffer(4 << 10)
	accept := "application/json"
	if lines {
		accept = "application/x-ndjson"
	}
	fmt.Fprintf(c, "GET %s%s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nAccept: %s\r\nConnection: close\r\n\r\n", a.path, path, u.Host, a.token, accept)
	b := bufio.NewReaderSize(c, 1<<10)
	status, err := b.ReadString('\n')
	if err != nil {
		a.broken.Add(1)
		return
	}
	if strings.Contains(status, " 503 ") {
		a.refused.Add(1)
	} else if strings.Contains(status, " 200 ") {
		a.answered.Add(1)
	} else {
		a.t.Logf("%s: %s", path, strings.TrimSpace(status))
	}
	piece := make([]byte, 1<<10)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if _, err := b.Read(piece); err != nil {
			return
		}
	}
}

// send sends a batch of the largest size, or a file to import.
func (a *attack) send(ctx context.Context, i, n int) {
	var status int
	var err error
	switch {
	case i%2 == 0:
		var items []string
		for k := range 7 {
			items = append(items, largeMemory(1000*(i+1)+10*n+k))
		}
		status, _, err = a.do(ctx, a.token, "POST", a.path+"/memories/batch", "application/json", []byte(`{"items":[`+strings.Join(items, ",")+`]}`))
	case i%4 == 1:
		status, _, err = a.do(ctx, a.token, "POST", a.path+"/imports?from=langgraph&dry_run=true", "application/octet-stream", a.databases[n%len(a.databases)])
	default:
		var file strings.Builder
		for k := range 24 {
			file.WriteString(largeMemory(100_000+1000*i+100*n+k) + "\n")
		}
		status, _, err = a.do(ctx, a.token, "POST", a.path+"/imports?from=amber&dry_run=true", "application/octet-stream", []byte(file.String()))
	}
	switch {
	case err != nil:
		a.broken.Add(1)
	case status == http.StatusServiceUnavailable:
		a.refused.Add(1)
	default: // also where the file is none of the format
		a.answered.Add(1)
	}
}

// others recalls and writes for another tenant until the context ends, and returns how long each answer took.
func (a *attack) others(ctx context.Context, token string) (took []time.Duration) {
	a.t.Helper()
	const path = "/v1/tenants/good/agents/default"
	for n := 0; ; n++ {
		call, body := path+"/memories", fmt.Sprintf(`{"content":"note %d of the other tenant"}`, n)
		if n%2 == 1 {
			call, body = path+"/recall", `{"text":"note of the other tenant"}`
		}
		begin := time.Now()
		status, b, err := a.do(ctx, token, "POST", call, "application/json", []byte(body))
		if ctx.Err() != nil {
			return took
		}
		if err != nil || status/100 != 2 {
			a.t.Errorf("another tenant: %d %.200s %v", status, b, err)
			return append(took, time.Since(begin))
		}
		took = append(took, time.Since(begin))
	}
}

// Twenty imports at once of databases that were made to take time and memory without end are answered, and the server stays small.
func TestHostileImportsAtOnceStaySmall(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	token := u.tenantToken("evil")
	a := &attack{t: t, r: u.serve(), token: token, path: "/v1/tenants/evil/agents/default"}
	var names []string
	all := foreigntest.Hostile(t)
	for name := range all {
		names = append(names, name, name, name)
	}
	var wg sync.WaitGroup
	var taken atomic.Int64
	for i := range 20 {
		wg.Go(func() {
			for n := i; n < len(names); n += 20 {
				taken.Add(1)
				for status := http.StatusConflict; status == http.StatusConflict || status == http.StatusServiceUnavailable; { // too many at once
					var b []byte
					var err error
					status, b, err = a.do(t.Context(), token, "POST", a.path+"/imports?from=langgraph", "application/octet-stream", all[names[n]].File)
					if err != nil || status >= 500 && status != http.StatusServiceUnavailable {
						t.Errorf("%s: %d %.200s %v", names[n], status, b, err)
						return
					}
				}
			}
		})
	}
	wg.Wait()
	peak := a.resident("VmHWM")
	t.Logf("%d kB at the peak, %d imports", peak, taken.Load())
	if peak > mostResident {
		t.Errorf("the server took %d kB, want at most %d", peak, mostResident)
	}
	a.r.stop()
}
