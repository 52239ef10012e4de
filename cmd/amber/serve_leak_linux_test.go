package main

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/amber-memory/amber/internal/test/must"
)

// descriptors counts the open files of a server.
func (r *running) descriptors() int {
	r.t.Helper()
	entries := must.Get(os.ReadDir(fmt.Sprintf("/proc/%d/fd", r.cmd.Process.Pid)))(r.t)
	return len(entries)
}

// goroutines reads a metric.
func (r *running) goroutines() (n int) {
	r.t.Helper()
	status, b, err := r.ask(http.MethodGet, "/metrics", "")
	if err != nil || status != http.StatusOK {
		r.t.Fatalf("%d %v", status, err)
	}
	for lines := bufio.NewScanner(strings.NewReader(string(b))); lines.Scan(); {
		if _, err := fmt.Sscanf(lines.Text(), "go_goroutines %d", &n); err == nil {
			return n
		}
	}
	r.t.Fatalf("there are no go_goroutines in %s", b)
	return 0
}

// TestRequestsLeaveNothingOpen sends 500 requests of every sort, of which some
// are given up, and looks at what the server holds afterwards.
func TestRequestsLeaveNothingOpen(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	r := u.serve()
	const clients = 8
	volley(t, r, clients, 0, 5) // whatever is opened once is open after this
	r.client.CloseIdleConnections()
	files, routines := r.descriptors(), r.goroutines()
	volley(t, r, clients, 5, 500/clients)
	// One connection asks; a few readers of databases may have been opened since.
	r.await("it lets go", func() bool {
		r.client.CloseIdleConnections()
		f, g := r.descriptors(), r.goroutines()
		t.Logf("%d descriptors, %d before; %d goroutines, %d before", f, files, g, routines)
		return f <= files+8 && g <= routines+8
	})
	r.stop()
}

// volley sends requests from several clients.
func volley(t *testing.T, r *running, clients, from, to int) {
	t.Helper()
	var wg sync.WaitGroup
	for c := range clients {
		wg.Go(func() {
			for i := from; i < to; i++ {
				must.NoError(t, one(t.Context(), r, c, i))
			}
		})
	}
	wg.Wait()
}

// one sends a request, every third one of which is given up, or asks for
// something that does not exist, or listens for a moment.
func one(ctx context.Context, r *running, c, i int) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	method, path, body := http.MethodPost, agentURL+"/memories", remembering("request %d of %d", i, c)
	switch i % 5 {
	case 1:
		path, body = agentURL+"/recall", `{"text":"request"}`
	case 2:
		method, path, body = http.MethodGet, agentURL+"/memories/none", ""
	case 3:
		method, path, body = http.MethodGet, agentURL+"/events", ""
	}
	req, err := http.NewRequestWithContext(ctx, method, r.url+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	if i%5 == 4 {
		req.Body = endless{cancel}
		req.ContentLength = 1000
	}
	resp, err := r.client.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return nil // given up, as it was meant
		}
		return err
	}
	return resp.Body.Close()
}

// endless is a body that is given up when it has begun.
type endless struct{ cancel context.CancelFunc }

func (e endless) Read(p []byte) (int, error) {
	e.cancel()
	return copy(p, `{"content":"`), context.Canceled
}

func (e endless) Close() error { return nil }
