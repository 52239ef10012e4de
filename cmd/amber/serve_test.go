//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// agentURL is where the default agent is served.
const agentURL = "/v1/tenants/default/agents/default"

// running is a real server of a user's home.
type running struct {
	t      testing.TB
	url    string
	token  string // shown with every request; "": none
	client *http.Client
	cmd    *exec.Cmd
	log    *logBuffer
	ended  chan struct{} // closed when the process has
}

// logBuffer is what a process writes to stderr while others read it.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// serve starts a server on any free port and returns once it listens.
func (u *user) serve(args ...string) *running {
	u.t.Helper()
	r := &running{t: u.t, log: &logBuffer{}, ended: make(chan struct{}), client: &http.Client{Transport: &http.Transport{}, Timeout: time.Minute}}
	r.cmd = u.server(context.Background(), args...) // kill ends it
	r.cmd.Stderr = r.log
	out := must.Get(r.cmd.StdoutPipe())(u.t)
	must.Do(u.t, r.cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	r.url = strings.TrimSpace(line)
	go func() {
		_ = r.cmd.Wait() // the exit code tells
		close(r.ended)
	}()
	u.t.Cleanup(r.kill)
	if err != nil {
		r.kill()
		u.t.Fatalf("it does not listen: %v\n%s", err, r.log)
	}
	return r
}

// cannotServe runs a server that is expected not to start.
func (u *user) cannotServe(args ...string) (stderr string, code int) {
	u.t.Helper()
	ctx, cancel := context.WithTimeout(u.t.Context(), time.Minute)
	defer cancel()
	var errs bytes.Buffer
	cmd := u.server(ctx, args...)
	cmd.Stderr = &errs
	_ = cmd.Run() // the exit code tells; one that had to be killed has none
	return errs.String(), cmd.ProcessState.ExitCode()
}

// server is a server that is not started yet.
func (u *user) server(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "amber", append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...)
	cmd.Env = u.environ()
	cmd.Dir = filepath.Dir(u.home)
	return cmd
}

// configure writes the configuration of a user.
func (u *user) configure(text string) {
	u.t.Helper()
	path := filepath.Join(filepath.Dir(u.home), "amber", "config.yaml")
	must.Do(u.t, os.MkdirAll(filepath.Dir(path), 0o700))
	must.Do(u.t, fsx.Replace(fsx.OS(), path, 0o600, []byte(text)))
}

// kill ends the process as a power cut would.
func (r *running) kill() {
	_ = r.cmd.Process.Kill() // or it has ended
	<-r.ended
	r.client.CloseIdleConnections()
}

// stop ends the process as a supervisor does; its exit code has to be 0.
func (r *running) stop() {
	r.t.Helper()
	r.client.CloseIdleConnections()
	must.Do(r.t, r.cmd.Process.Signal(syscall.SIGTERM))
	r.exits(0)
}

// exits checks the exit code of a process that got the signal to end.
func (r *running) exits(want int) {
	r.t.Helper()
	select {
	case <-r.ended:
	case <-time.After(time.Minute):
		r.t.Fatalf("it does not end\n%s", r.log)
	}
	if code := r.cmd.ProcessState.ExitCode(); code != want {
		r.t.Errorf("exit code %d, want %d\n%s", code, want, r.log)
	}
}

// ask sends a request and returns the status and the body of the answer. It may
// be called from any goroutine.
func (r *running) ask(method, path, body string) (int, []byte, error) {
	req, err := http.NewRequestWithContext(r.t.Context(), method, r.url+path, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if r.token != "" {
		req.Header.Set("Authorization", "Bearer "+r.token)
	}
	resp, err := r.client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp.StatusCode, b, err
}

// get expects an answer and reads its JSON.
func (r *running) get(path string, into any) {
	r.t.Helper()
	r.answer(http.MethodGet, path, "", into)
}

// answer expects a request to succeed and reads the JSON of the answer.
func (r *running) answer(method, path, body string, into any) {
	r.t.Helper()
	status, b, err := r.ask(method, path, body)
	if err != nil || status/100 != 2 {
		r.t.Fatalf("%s %s: %d %s %v\n%s", method, path, status, b, err, r.log)
	}
	if into == nil {
		return
	}
	if err := json.Unmarshal(b, into); err != nil {
		r.t.Fatalf("%s %s: %v in %s", method, path, err, b)
	}
}

// refuses expects a request to fail with a kind of error.
func (r *running) refuses(kind amber.Kind, method, path, body string) {
	r.t.Helper()
	status, b, err := r.ask(method, path, body)
	must.Do(r.t, err)
	var e struct {
		Error struct{ Kind amber.Kind }
	}
	if err := json.Unmarshal(b, &e); err != nil || e.Error.Kind != kind || status < 400 {
		r.t.Errorf("%s %s: %d %s, want %s", method, path, status, b, kind)
	}
}

// worker returns how a worker is doing.
func (r *running) worker(name string) wire.WorkerHealth {
	r.t.Helper()
	var h wire.ServerHealth
	r.get("/health", &h)
	for _, w := range h.Workers {
		if w.Name == name {
			return w
		}
	}
	r.t.Fatalf("there is no worker %q in %+v", name, h)
	return wire.WorkerHealth{}
}

// await waits until something is so.
func (r *running) await(what string, so func() bool) {
	r.t.Helper()
	deadline := time.NewTimer(time.Minute)
	defer deadline.Stop()
	for !so() {
		select {
		case <-deadline.C:
			r.t.Fatalf("it does not happen: %s\n%s", what, r.log)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// remembering is the body of a write.
func remembering(format string, args ...any) string {
	b, err := json.Marshal(map[string]string{"content": fmt.Sprintf(format, args...), "scope": "global"})
	if err != nil {
		panic(err) // strings
	}
	return string(b)
}

// contents returns the text of every memory, of every writer.
func (r *running) contents() map[string]amber.MemoryID {
	r.t.Helper()
	all := map[string]amber.MemoryID{}
	for cursor := ""; ; {
		var page amber.Page[amber.Memory]
		r.get(agentURL+"/memories?limit=200&cursor="+cursor, &page)
		for _, m := range page.Items {
			all[m.Content] = m.ID
		}
		if cursor = string(page.Next); cursor == "" {
			return all
		}
	}
}
