//go:build unix

package main

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/amber-memory/amber/internal/test/must"
)

// slowRequest is a write whose body is still to come.
type slowRequest struct {
	t    testing.TB
	conn net.Conn
	in   *bufio.Reader
	body string
}

// beginSlowly sends the head of a write and returns once the server waits for
// the body.
func (r *running) beginSlowly(body string) *slowRequest {
	r.t.Helper()
	conn := must.Get(net.Dial("tcp", strings.TrimPrefix(r.url, "http://")))(r.t)
	r.t.Cleanup(func() { _ = conn.Close() })
	s := &slowRequest{t: r.t, conn: conn, in: bufio.NewReader(conn), body: body}
	fmt.Fprintf(conn, "POST %s/memories HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n", agentURL, len(body))
	line, err := s.in.ReadString('\n')
	if err != nil || !strings.Contains(line, "100") {
		r.t.Fatalf("the server says %q, %v", line, err)
	}
	must.Get(s.in.ReadString('\n'))(r.t)
	return s
}

// finish sends the body and returns the status of the answer.
func (s *slowRequest) finish() int {
	s.t.Helper()
	fmt.Fprint(s.conn, s.body)
	resp := must.Get(http.ReadResponse(s.in, nil))(s.t)
	defer resp.Body.Close()
	return resp.StatusCode
}

// terminate tells the server to end and returns once it lets no new client in.
func (r *running) terminate() {
	r.t.Helper()
	must.Do(r.t, r.cmd.Process.Signal(syscall.SIGTERM))
	r.await("nobody is let in", func() bool {
		conn, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
		if err == nil {
			_ = conn.Close()
		}
		return err != nil
	})
}

// checkpointed expects that no database has a log of its own any more.
func checkpointed(t *testing.T, home string) {
	t.Helper()
	err := filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "-wal") {
			return err
		}
		if info, err := d.Info(); err == nil && info.Size() > 0 {
			t.Errorf("%s has %d bytes", path, info.Size())
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// A request that has begun is finished after SIGTERM, and a stream of events
// ends by itself.
func TestAServerThatEndsFinishesWhatWasBegun(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	r := u.serve()
	r.answer(http.MethodPost, agentURL+"/memories", remembering("before"), nil)
	stream := must.Get(r.client.Get(r.url + agentURL + "/events"))(t)
	defer stream.Body.Close()
	slow := r.beginSlowly(remembering("begun before the end"))
	r.terminate()
	select {
	case <-r.ended:
		t.Fatalf("it did not wait\n%s", r.log)
	default:
	}
	if status := slow.finish(); status != http.StatusCreated {
		t.Errorf("status %d", status)
	}
	r.exits(0)
	checkpointed(t, u.home)
	again := u.serve()
	if there := again.contents(); there["begun before the end"] == "" || there["before"] == "" {
		t.Errorf("there is only %v", there)
	}
	again.stop()
}

// A request that does not end is cut off when the time is over; nothing of it
// stays, and the home can be served again at once.
func TestAServerThatEndsWaitsOnlySoLong(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	r := u.serve("--shutdown-timeout", "300ms")
	r.answer(http.MethodPost, agentURL+"/memories", remembering("before"), nil)
	r.beginSlowly(remembering("never ends"))
	r.terminate()
	r.exits(7)
	says(t, "stderr", r.log.String(), "requests were cut off")
	checkpointed(t, u.home)
	there := u.serve().contents()
	if _, ok := there["never ends"]; ok || len(there) != 1 {
		t.Errorf("there is %v", there)
	}
	u.must("", "audit", "verify")
}

// A second signal stops the server at once, and nothing is lost.
func TestASecondSignalEndsAServerAtOnce(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	r := u.serve("--shutdown-timeout", "1h")
	r.answer(http.MethodPost, agentURL+"/memories", remembering("before"), nil)
	r.beginSlowly(remembering("never ends"))
	r.terminate()
	must.Do(t, r.cmd.Process.Signal(syscall.SIGTERM))
	r.exits(-1) // of a process that a signal has ended
	present(t, u.serve().contents(), "before")
}

// Two servers would publish everything twice; and a port belongs to one. A server that could not start leaves
// nothing behind that keeps the next one from starting.
func TestOneServerForAHome(t *testing.T) {
	t.Parallel()
	u, other := newUser(t), newUser(t)
	r := u.serve()
	errs, code := u.cannotServe()
	if code != 4 {
		t.Errorf("exit code %d", code)
	}
	says(t, "a second server", errs, "another process serves this home")
	errs, code = other.cannotServe("--listen", strings.TrimPrefix(r.url, "http://"))
	if code != 4 {
		t.Errorf("exit code %d", code)
	}
	says(t, "a port in use", errs, "in use", "hint: ")
	third := other.serve()
	third.get("/readyz", nil)
	if _, err := os.Stat(filepath.Join(other.home, "serve.lock")); errors.Is(err, fs.ErrNotExist) {
		t.Error("there is no lock")
	}
	r.kill()
	u.serve().get("/livez", nil)
}
