//go:build linux

package main

import (
	"bufio"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	pb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/amber-memory/amber/internal/test/must"
)

// station is a collector of traces.
type station struct {
	*httptest.Server
	mu     sync.Mutex
	traces map[string]string // the first trace of each name of spans
}

func newStation(t *testing.T) *station {
	t.Helper()
	s := &station{traces: map[string]string{}}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		var m pb.TracesData
		if err == nil {
			err = proto.Unmarshal(b, &m)
		}
		if err != nil {
			t.Error(err)
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		s.take(&m)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *station) take(m *pb.TracesData) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, rs := range m.GetResourceSpans() {
		for _, ss := range rs.GetScopeSpans() {
			for _, span := range ss.GetSpans() {
				if name := span.GetName(); s.traces[name] == "" {
					s.traces[name] = hex.EncodeToString(span.GetTraceId())
				}
			}
		}
	}
}

// process starts a server as a process of its own.
func (s *setting) process(args ...string) *waiter {
	s.Helper()
	w := &waiter{setting: s, client: &http.Client{Timeout: time.Minute, Transport: &http.Transport{}}}
	w.client.Transport = teller{w.client.Transport, w}
	cmd := exec.Command("amber", append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...)
	cmd.Dir, cmd.Env, cmd.Stderr = s.dir, s.env, &w.log
	out := must.Get(cmd.StdoutPipe())(s)
	must.Do(s, cmd.Start())
	w.end = sync.OnceValue(func() int {
		late := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
		defer late.Stop()
		_ = cmd.Process.Signal(syscall.SIGTERM) // or it has ended
		_ = cmd.Wait()                          // the exit code tells
		return cmd.ProcessState.ExitCode()
	})
	s.Cleanup(func() { w.end() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		w.end()
		s.Fatalf("it does not listen: %v\n%s", err, w.log.String())
	}
	w.url = strings.TrimSpace(line)
	return w
}

// teller adds an id, and the token and the trace of its waiter, to every request.
type teller struct {
	next http.RoundTripper
	w    *waiter
}

func (c teller) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("X-Request-Id", requestName)
	if c.w.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.w.token)
	}
	if c.w.trace != "" {
		r.Header.Set("Traceparent", c.w.trace)
	}
	return c.next.RoundTrip(r)
}
