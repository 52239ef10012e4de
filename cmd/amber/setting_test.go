//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// setting is a user with a home and a configuration of their own.
type setting struct {
	*testing.T
	dir  string
	env  []string
	with bool      // the key is set
	now  time.Time // zero: as it is
	at   func() time.Time
	// after is what the schedule of a server waits for; nil: that time has passed.
	after func(time.Duration) <-chan time.Time

	seen      embedded        // what a server of embeddings was sent last
	https     *http.Transport // trusts the certificate there is
	conn      *nats.Conn      // to the broker there is
	heard     chan *nats.Msg  // what it was told
	mutations []*nats.Msg     // those that were taken from it
}

func newSetting(t *testing.T, with bool) *setting {
	t.Helper()
	dir := must.Get(filepath.EvalSymlinks(t.TempDir()))(t)
	s := &setting{T: t, dir: dir, with: with}
	s.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "USER=ann", "AMBER_HOME=" + s.path("home"),
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull,
	}
	return s
}

// path is one below the user's folder.
func (s *setting) path(elem ...string) string {
	return filepath.Join(append([]string{s.dir}, elem...)...)
}

func (s *setting) set(name, value string) { s.env = append(s.env, name+"="+value) }

func (s *setting) world(stdin string, stdout, stderr io.Writer) cli.World {
	w := testWorld(s.dir, s.env...)
	w.Stdin, w.Stdout, w.Stderr = strings.NewReader(stdin), stdout, stderr
	w.Clock, w.After = s.clock, s.after
	return w
}

func (s *setting) clock() time.Time {
	if s.at != nil {
		return s.at()
	}
	if s.now.IsZero() {
		return time.Now()
	}
	return s.now
}

// amber runs a command and returns what it printed and its exit code.
func (s *setting) amber(stdin string, args ...string) (stdout, stderr string, code int) {
	var out, complaint bytes.Buffer
	code = run(s.Context(), args, s.world(stdin, &out, &complaint))
	return out.String(), complaint.String(), code
}

// does expects a command to succeed.
func (s *setting) does(args ...string) string {
	s.Helper()
	out, complaint, code := s.amber("", args...)
	if code != 0 {
		s.Fatalf("amber %s: exit %d\n%s", strings.Join(args, " "), code, complaint)
	}
	return strings.TrimSpace(out)
}

// exit runs a command and tells how it ended.
func (s *setting) exit(args ...string) string {
	_, _, code := s.amber("", args...)
	return fmt.Sprint("exit ", code)
}

// try is exit with one more variable of the environment.
func (s *setting) try(variable string, args ...string) string {
	other := *s
	other.env = append(other.env[:len(other.env):len(other.env)], variable)
	return other.exit(args...)
}

// told reads the JSON of a command.
func told[T any](s *setting, args ...string) (v T) {
	s.Helper()
	out := s.does(append([]string{"--json"}, args...)...)
	if err := json.Unmarshal([]byte(out), &v); err != nil {
		s.Fatalf("%v in %s", err, out)
	}
	return v
}

// items counts what a command lists.
func (s *setting) items(args ...string) string {
	s.Helper()
	return fmt.Sprint(len(told[amber.Page[json.RawMessage]](s, args...).Items))
}

// snapshot takes one and returns its id.
func (s *setting) snapshot(args ...string) string {
	s.Helper()
	return string(told[wire.SnapshotMeta](s, append([]string{"snapshot", "create"}, args...)...).ID)
}

// at is a folder with a file of some text.
func (s *setting) file(name, text string) string {
	s.Helper()
	path := s.path(name)
	must.Do(s, os.MkdirAll(filepath.Dir(path), 0o700))
	must.Do(s, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// waiter is a server in this process.
type waiter struct {
	*setting
	url    string
	client *http.Client
	log    logBuffer

	// For a server that is a process of its own.
	token string // shown with every request; "": none
	trace string // that requests are of
	end   func() (code int)
}

// serve starts one and returns when it listens.
func (s *setting) serve() *waiter {
	s.Helper()
	w := must.Get(s.tryToServe("--listen", "127.0.0.1:0"))(s)
	return w
}

// tryToServe starts a server; the error is what it complained about.
func (s *setting) tryToServe(args ...string) (*waiter, error) {
	s.Helper()
	w := &waiter{setting: s, client: &http.Client{Timeout: time.Minute, Transport: &http.Transport{}}}
	url, end, err := serveIn(s.Context(), s.world("", nil, &w.log), append([]string{"--log-level", "debug"}, args...)...)
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, w.log.String())
	}
	w.url = url
	s.Cleanup(func() {
		w.client.CloseIdleConnections()
		if code := end(); code != 0 {
			s.Errorf("the server ended with %d\n%s", code, w.log.String())
		}
	})
	return w, nil
}

// ask returns the status and the body of an answer.
func (w *waiter) ask(method, path, body string) (int, string) {
	w.Helper()
	req := must.Get(http.NewRequestWithContext(w.Context(), method, w.url+path, strings.NewReader(body)))(w)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp := must.Get(w.client.Do(req))(w)
	defer resp.Body.Close()
	b := must.Get(io.ReadAll(resp.Body))(w)
	return resp.StatusCode, string(b)
}

// ofAgent expects a request about the default agent to succeed.
func (w *waiter) ofAgent(method, path, body string) string {
	w.Helper()
	return w.expect(method, "/v1/tenants/default/agents/default"+path, body)
}

// expect expects a request to succeed.
func (w *waiter) expect(method, path, body string) string {
	w.Helper()
	status, text := w.ask(method, path, body)
	if status/100 != 2 {
		w.Fatalf("%s %s: %d %s", method, path, status, text)
	}
	return text
}

// rounds returns how many rounds a worker has done.
func (w *waiter) rounds(worker string) int64 {
	w.Helper()
	return w.worker(worker).Runs
}

// worker returns what the server says about one of its workers.
func (w *waiter) worker(name string) wire.WorkerHealth {
	w.Helper()
	_, text := w.ask("GET", "/health", "")
	var h wire.ServerHealth
	if err := json.Unmarshal([]byte(text), &h); err != nil {
		w.Fatalf("%v in %s", err, text)
	}
	for _, one := range h.Workers {
		if one.Name == name {
			return one
		}
	}
	w.Fatalf("/health names no worker %q: %s", name, text)
	return wire.WorkerHealth{}
}

// idOf is the id in an answer.
func (s *setting) idOf(answer string) string {
	s.Helper()
	var v struct{ ID string }
	if err := json.Unmarshal([]byte(answer), &v); err != nil || v.ID == "" {
		s.Fatalf("%v in %s", err, answer)
	}
	return v.ID
}
