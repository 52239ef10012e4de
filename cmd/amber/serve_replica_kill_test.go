//go:build linux

package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

var (
	replicasCount   = flag.Int("replicas.count", 2, "servers of one database")
	replicasClients = flag.Int("replicas.clients", 8, "clients who write to them")
	replicasFor     = flag.Duration("replicas.for", 4*time.Second, "how long the clients write")
	replicasEvery   = flag.Duration("replicas.every", 1500*time.Millisecond, "how often a server is killed")
	replicasKills   = flag.Int("replicas.kills", 2, "how often at most")
)

// giveUp is how long a client sends a request again. Nothing here takes as long.
const giveUp = time.Minute

// fleet is several servers, as processes, behind a proxy that gives each request to the next one.
type fleet struct {
	*testing.T
	homes []*setting
	next  atomic.Int64

	mu   sync.Mutex
	cmds []*exec.Cmd
	urls []*url.URL // nil for one that does not listen
}

// start starts a server and returns when it listens.
func (f *fleet) start(i int) {
	f.Helper()
	var log logBuffer
	cmd := exec.Command("amber", "serve", "--listen", "127.0.0.1:0", "--accept-unsafe-database", "--drain", "0s", "--log-level", "warn")
	cmd.Dir, cmd.Env, cmd.Stderr = f.homes[i].dir, f.homes[i].env, &log
	out := must.Get(cmd.StdoutPipe())(f)
	must.Do(f, cmd.Start())
	f.mu.Lock()
	f.cmds[i] = cmd
	f.mu.Unlock()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		f.Fatalf("server %d does not listen: %v\n%s", i, err, log.String())
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.urls[i] = must.Get(url.Parse(strings.TrimSpace(line)))(f)
}

// kill kills a server. Clients find that out by themselves.
func (f *fleet) kill(i int) {
	f.mu.Lock()
	cmd := f.cmds[i]
	f.cmds[i] = nil
	f.mu.Unlock()
	if cmd != nil {
		_ = cmd.Process.Kill() // or it has ended
		_ = cmd.Wait()
	}
}

// choose returns the next server that was started.
func (f *fleet) choose() *url.URL {
	f.mu.Lock()
	defer f.mu.Unlock()
	for range f.urls {
		if u := f.urls[int(f.next.Add(1))%len(f.urls)]; u != nil {
			return u
		}
	}
	return nil
}

// proxy is where clients ask.
func (f *fleet) proxy() string {
	p := &httputil.ReverseProxy{
		Rewrite:      func(r *httputil.ProxyRequest) { r.SetURL(f.choose()) },
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
		Transport:    &http.Transport{MaxIdleConnsPerHost: *replicasClients},
	}
	s := httptest.NewServer(p)
	f.Cleanup(s.Close)
	return s.URL
}

// sent is what a client has written, and how long that took with every time it was sent again.
type sent struct {
	mu    sync.Mutex
	took  []time.Duration
	texts map[string]bool // that were acknowledged
	again int
}

// remember writes until it is acknowledged. The error is what a client that sends again sees.
func (s *sent) remember(c *http.Client, at, text, key string) error {
	begun := time.Now()
	for last := ""; ; s.count() {
		if time.Since(begun) > giveUp {
			return fmt.Errorf("%s: given up after %s: %s", text, giveUp, last)
		}
		req, err := http.NewRequest(http.MethodPost, at+ofDefault+"/memories", strings.NewReader(fmt.Sprintf(`{"content":%q}`, text)))
		if err != nil {
			return err
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Idempotency-Key", key)
		resp, err := c.Do(req)
		if err != nil {
			last = err.Error()
			continue
		}
		b, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		switch last = fmt.Sprint(resp.StatusCode, " ", string(b)); {
		case err != nil:
		case resp.StatusCode/100 == 2:
			s.mu.Lock()
			defer s.mu.Unlock()
			s.took, s.texts[text] = append(s.took, time.Since(begun)), true
			return nil
		case resp.StatusCode < 500 && !strings.Contains(string(b), `"busy"`):
			return fmt.Errorf("%s: %s", text, last)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func (s *sent) count() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.again++
}

// Servers of one database are killed while clients write. A client that sends a request again with its key sees no error, nothing
// that was acknowledged is lost, and nothing is there twice.
func TestReplicasAreKilled(t *testing.T) {
	t.Parallel()
	homes, dsn := replicas(t, *replicasCount)
	f := &fleet{T: t, homes: homes, cmds: make([]*exec.Cmd, len(homes)), urls: make([]*url.URL, len(homes))}
	t.Cleanup(func() {
		for i := range homes {
			f.kill(i)
		}
	})
	for i, h := range homes {
		h.set("AMBER_SERVER__REPLICA__LEASE", "2s")
		f.start(i)
	}
	at, all := f.proxy(), &sent{texts: map[string]bool{}}
	stop := make(chan struct{})
	var clients sync.WaitGroup
	begun := time.Now()
	for c := range *replicasClients {
		clients.Go(func() {
			client := &http.Client{Timeout: giveUp / 2, Transport: &http.Transport{}}
			defer client.CloseIdleConnections()
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				text := fmt.Sprintf("client %d wrote fact %d", c, n)
				must.NoError(t, all.remember(client, at, text, fmt.Sprintf("key-%d-%d", c, n)))
			}
		})
	}
	kills := 0
	for time.Since(begun) < *replicasFor || kills == 0 {
		time.Sleep(*replicasEvery)
		if kills < *replicasKills {
			i := kills % len(homes)
			f.kill(i)
			f.start(i)
			kills++
		}
	}
	close(stop)
	clients.Wait()
	took := time.Since(begun)

	conn := must.Get(pgx.Connect(t.Context(), dsn))(t)
	defer func() { _ = conn.Close(t.Context()) }()
	rows := must.Get(conn.Query(t.Context(), "SELECT content FROM amber.memories"))(t)
	there := map[string]int{}
	for _, text := range must.Get(pgx.CollectRows(rows, pgx.RowTo[string]))(t) {
		there[text]++
	}
	lost, doubled := 0, 0
	for text := range all.texts {
		if there[text] == 0 {
			lost++
		}
	}
	for _, n := range there {
		if n > 1 {
			doubled++
		}
	}
	must.Equal(t, "acknowledged and lost", lost, 0)
	must.Equal(t, "there twice", doubled, 0)
	must.Equal(t, "memories", len(there), len(all.texts))
	var entries, first, last, head int64
	must.Do(t, conn.QueryRow(t.Context(), "SELECT count(*), min(seq), max(seq), (SELECT seq FROM amber.heads WHERE log = 'memory') FROM amber.changes").Scan(&entries, &first, &last, &head))
	must.Equal(t, "the change log has gaps: entries", entries, last-first+1)
	must.Equal(t, "the head of the change log", head, last)
	// An entry is written with its change. A request that is sent again and changes nothing has one of its own.
	var changes, audited, without, wrong int
	must.Do(t, conn.QueryRow(t.Context(), `WITH e AS (SELECT subject FROM (SELECT action, subject, outcome FROM amber_home.audit UNION ALL SELECT action, subject, outcome FROM amber_home.audit_unchained) u
  WHERE action = 'memory.write' AND outcome = 'ok')
SELECT (SELECT count(*) FROM amber.memories), (SELECT count(*) FROM e), (SELECT count(*) FROM amber.memories m WHERE m.id NOT IN (SELECT subject FROM e)),
  (SELECT count(*) FROM e WHERE subject NOT IN (SELECT id FROM amber.memories))`).Scan(&changes, &audited, &without, &wrong))
	must.Equal(t, "changes without an entry", without, 0)
	must.Equal(t, "entries without a change", wrong, 0)
	must.Hold(t, audited-changes <= all.again, "%d changes have %d entries, and requests were sent again %d times", changes, audited, all.again)
	must.Equal(t, "damage of the audit log", told[wire.AuditReport](homes[0], "audit", "verify").Damaged, []string{})

	// Other servers have taken over the work of those that were killed.
	for _, kind := range []string{"seal audit log", "complete index"} {
		f.takenOver(conn, kind)
	}
	slices.Sort(all.took)
	t.Logf("%d servers, %d clients, %d killed: %d writes in %s, %.0f a second, p50 %s, p99 %s, longest %s; sent again %d times",
		len(homes), *replicasClients, kills, len(all.took), took.Round(time.Millisecond), float64(len(all.took))/took.Seconds(),
		all.took[len(all.took)/2], all.took[len(all.took)*99/100], all.took[len(all.took)-1], all.again)
}

// takenOver waits until a server that lives has the work.
func (f *fleet) takenOver(conn *pgx.Conn, kind string) {
	f.Helper()
	client := &http.Client{Timeout: giveUp}
	defer client.CloseIdleConnections()
	at := f.choose().String()
	for i := range 300 {
		var n int
		must.Do(f, conn.QueryRow(f.Context(), `SELECT count(*) FROM amber_meta.work w JOIN amber_meta.servers s ON s.id = w.holder
WHERE w.kind = $1 AND w.until > clock_timestamp() AND s.seen_at > clock_timestamp() - interval '2 seconds'`, kind).Scan(&n))
		if n > 0 {
			return
		}
		if i%20 == 0 { // something to do
			must.NoError(f, (&sent{texts: map[string]bool{}}).remember(client, at, fmt.Sprintf("%s %d", kind, i), fmt.Sprintf("%s-%d", strings.ReplaceAll(kind, " ", "-"), i)))
		}
		time.Sleep(100 * time.Millisecond)
	}
	f.Errorf("no server that lives does the work %q", kind)
}
