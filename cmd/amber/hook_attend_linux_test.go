package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/serve/hooksocket"
	"github.com/amber-memory/amber/internal/serve/localsock"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// attended is a user behind whose hooks a process stays.
func attended(t *testing.T, stay string) *user {
	t.Helper()
	u := shortUser(t)
	u.stays(stay)
	return u
}

// stays lets the process behind hooks stay, with its sockets in a folder of the user.
func (u *user) stays(stay string) {
	u.env = append(u.env, "AMBER_CONTEXT__STAY="+stay, "XDG_RUNTIME_DIR=", "TMPDIR="+filepath.Dir(u.home))
	u.t.Cleanup(u.leaves) // before the test waits for it
}

func (u *user) getenv(name string) (value string) {
	for _, kv := range u.environ() {
		if k, v, _ := strings.Cut(kv, "="); k == name {
			value = v
		}
	}
	return value
}

// holder is the socket of the process that drains the journal; "" where there is none.
func (u *user) holder() string {
	socket, err := hooksocket.OfHolder(filepath.Join(u.spool(), "background.lock"), u.getenv, false)
	if err != nil || !hooksocket.Answers(context.Background(), socket) {
		return ""
	}
	return socket
}

// arrives waits until a process answers hooks.
func (u *user) arrives() string {
	u.t.Helper()
	for range 6000 {
		if socket := u.holder(); socket != "" {
			return socket
		}
		time.Sleep(10 * time.Millisecond)
	}
	u.t.Fatal("no process answers hooks")
	return ""
}

// question is what a hook of the user asks.
func (u *user) question() wire.NearRequest {
	u.t.Helper()
	build := struct{ Version, Commit string }{}
	must.Do(u.t, json.Unmarshal([]byte(u.must("", "version", "--json")), &build))
	return wire.NearRequest{
		Build: hooksocket.Build(build.Version, build.Commit), Settings: config.Default().ContextDigest(), Tenant: "default", Agent: "default",
		Request: wire.ContextRequest{Occasion: wire.OccasionPrompt, MaxBytes: 4096, RecallInput: amber.RecallInput{Goal: "is the coupon rounding done in cents?"}},
	}
}

func (u *user) consults(socket string, q wire.NearRequest) (wire.ContextBlock, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	return hooksocket.Ask(ctx, socket, q, make(chan struct{}))
}

// leaves makes the process go, as a hook of another version does.
func (u *user) leaves() {
	if socket := u.holder(); socket != "" {
		_, _ = u.consults(socket, wire.NearRequest{Build: "other", Tenant: "default", Agent: "default"})
	}
}

// process is the process that drains the journal.
func (u *user) process() int {
	u.t.Helper()
	files := must.Get(filepath.Glob("/proc/[0-9]*/cmdline"))(u.t)
	for _, file := range files {
		if b, err := os.ReadFile(file); err == nil && bytes.Contains(b, []byte("--detached\x00--home\x00"+u.home+"\x00")) {
			return must.Get(strconv.Atoi(filepath.Base(filepath.Dir(file))))(u.t)
		}
	}
	u.t.Fatal("no process drains the journal")
	return 0
}

// turns is how many turns the store has.
func (u *user) turns() int {
	u.t.Helper()
	var out struct {
		Turns int `json:"turns"`
	}
	must.Do(u.t, json.Unmarshal([]byte(u.must("", "stats", "--json")), &out))
	return out.Turns
}

// The process that a hook starts to drain the journal stays, answers hooks of its agent and no
// other, and has the database in one file while it waits.
func TestTheProcessBehindHooksAnswersThem(t *testing.T) {
	t.Parallel()
	u := attended(t, "1h")
	u.hears("s1", "--context-timeout", "1m")
	socket, q := u.arrives(), u.question()
	block := must.Get(u.consults(socket, q))(t)
	must.Says(t, "answer", block.Text, "The coupon rounding is done in cents")
	must.Equal(t, "named", len(block.Items), 1)
	for name, change := range map[string]func(*wire.NearRequest){
		"another agent":  func(r *wire.NearRequest) { r.Agent = "other" },
		"another tenant": func(r *wire.NearRequest) { r.Tenant = "other" },
	} {
		bad := q
		change(&bad)
		block, err := u.consults(socket, bad)
		must.Hold(t, err != nil && block.Text == "", "%s: %+v, %v", name, block, err)
	}
	must.Equal(t, "agents", len(must.Get(os.ReadDir(filepath.Join(u.home, "tenants", "default", "agents")))(t)), 1)
	said, complaint := u.hears("s2", "--context-timeout", "1m")
	must.Says(t, "hook", said, "The coupon rounding is done in cents")
	inTime(t, complaint)
	pid := u.process()
	u.until("both turns are in the store", func() bool { return u.turns() == 2 })
	u.until("the write-ahead logs are empty", func() bool {
		for _, name := range []string{"memory.db-wal", "control.db-wal"} {
			if info, err := os.Stat(filepath.Join(filepath.Dir(u.spool()), "gen", "1", name)); err == nil && info.Size() > 0 {
				return false
			}
		}
		return true
	})
	must.Equal(t, "process", u.process(), pid)
	for _, name := range []string{u.home, u.spool()} {
		for _, e := range must.Get(os.ReadDir(name))(t) {
			must.Hold(t, e.Type() != fs.ModeSocket, "%s is a socket in the home", e.Name())
		}
	}
}

// inTime checks that a hook has found everything; that a vector is being made is no fault.
func inTime(t *testing.T, complaint string) {
	t.Helper()
	for _, fault := range []string{"not kept", "used up", "in time", "no memories"} {
		must.Hides(t, "complaint", complaint, fault)
	}
}

// until waits for something.
func (u *user) until(what string, holds func() bool) {
	u.t.Helper()
	for range 1200 {
		if holds() {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	u.t.Fatalf("it is never so: %s", what)
}

// It makes room for another that answers better, and ends with its agent.
func TestTheProcessBehindHooksLeaves(t *testing.T) {
	t.Parallel()
	for name, one := range map[string]struct {
		stay   string
		reason func(t *testing.T, u *user, socket string)
	}{
		"nobody asks": {"1s", func(*testing.T, *user, string) {}},
		"a server":    {"1h", func(_ *testing.T, u *user, _ string) { u.serve() }},
		"another version asks": {"1h", func(t *testing.T, u *user, socket string) {
			q := u.question()
			q.Build += "+"
			must.Kind(t, "ask", must.Err(u.consults(socket, q)), amber.KindRefused, "of build")
		}},
		"a version that says more asks": {"1h", func(t *testing.T, u *user, socket string) {
			c := http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				return localsock.Dial(ctx, socket)
			}}}
			answer := must.Get(c.Post("http://amber"+wire.NearPath, "application/json", strings.NewReader(`{"build":"2","mood":"good"}`)))(t)
			must.Equal(t, "status", answer.StatusCode, http.StatusConflict)
			must.Do(t, answer.Body.Close())
		}},
		"its socket was removed": {"1h", func(t *testing.T, _ *user, socket string) { must.Do(t, os.Remove(socket)) }},
		"a hook with other settings": {"1h", func(t *testing.T, u *user, _ string) {
			u.env = append(u.env, "AMBER_CONTEXT__MIN_SCORE=0.4")
			said, complaint := u.hears("s3", "--no-drain", "--context-timeout", "1m")
			must.Says(t, "hook", said+complaint, "The coupon rounding is done in cents")
		}},
		"another configuration": {"1h", func(_ *testing.T, u *user, _ string) { u.configure("digest: {timeout: 7s}\n") }},
		"the home is gone": {"1h", func(_ *testing.T, u *user, _ string) {
			// The process may write while its home is deleted: then a directory is not empty at first.
			u.until("the home can be deleted", func() bool { return os.RemoveAll(u.home) == nil })
		}},
		"the agent is deleted": {"1h", func(_ *testing.T, u *user, _ string) { u.must("", "agent", "delete", "default", "--yes") }},
		"a signal":             {"1h", func(t *testing.T, u *user, _ string) { must.Do(t, syscall.Kill(u.process(), syscall.SIGTERM)) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := attended(t, one.stay)
			u.hears("s1", "--context-timeout", "1m")
			socket := u.arrives()
			one.reason(t, u, socket)
			u.until("the socket is gone", func() bool {
				_, err := os.Lstat(socket)
				return errors.Is(err, os.ErrNotExist)
			})
			u.settle()
			if strings.Contains(name, "gone") || strings.Contains(name, "deleted") {
				_, err := os.Lstat(u.spool())
				must.Hold(t, errors.Is(err, os.ErrNotExist), "what was deleted is there again: %v", err)
				return
			}
			u.must("", "journal", "drain") // what a signal has left
			must.Hold(t, u.turns() > 0, "the turn is lost")
		})
	}
}

// The hook asks the process that holds the lock of its agent, and starts no other.
func TestHookAsksTheProcessBehindIt(t *testing.T) {
	t.Parallel()
	u := attended(t, "1h")
	must.Do(t, os.MkdirAll(u.spool(), 0o700))
	path := filepath.Join(u.spool(), "background.lock")
	lock := must.Get(fsx.TryLock(path, fsx.Exclusive))(t)
	defer lock.Unlock()
	l := must.Get(localsock.Listen(must.Get(hooksocket.OfHolder(path, u.getenv, true))(t)))(t)
	s := &http.Server{Handler: answers(wire.NearAnswer{Text: "from the process"})}
	go func() { _ = s.Serve(l) }()
	defer s.Close()
	said, complaint := u.hears("s1", "--context-timeout", "1m")
	must.Says(t, "hook", said, "from the process")
	must.Equal(t, "complaint", complaint, "")
	u.pretends(answers(wire.NearAnswer{Text: "from the server"}))
	said, _ = u.hears("s1", "--context-timeout", "1m")
	must.Says(t, "hook beside a server", said, "from the server")
}

// A process that was killed, or that hangs, is in the way of no hook, and nothing is lost with it.
func TestTheProcessBehindHooksMayDie(t *testing.T) {
	t.Parallel()
	for name, signal := range map[string]syscall.Signal{"killed": syscall.SIGKILL, "hangs": syscall.SIGSTOP} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := attended(t, "1h")
			u.hears("s1", "--context-timeout", "1m")
			u.arrives()
			pid := u.process()
			must.Do(t, syscall.Kill(pid, signal))
			if signal == syscall.SIGKILL {
				u.until("the process is dead", func() bool { return u.holder() == "" })
			} else {
				defer func() { _ = syscall.Kill(pid, syscall.SIGKILL) }()
			}
			said, complaint := u.hears("s2", "--context-timeout", "9s")
			must.Says(t, "hook", said, "The coupon rounding is done in cents")
			inTime(t, complaint)
			if signal == syscall.SIGSTOP {
				must.Do(t, syscall.Kill(pid, syscall.SIGCONT))
			}
			u.arrives()
			u.until("both turns are in the store", func() bool { return u.turns() == 2 })
		})
	}
}

// Whatever process comes and goes behind hooks, each event reaches the store once.
func TestNothingIsLostWhenTheProcessLeaves(t *testing.T) {
	t.Parallel()
	u := attended(t, "1ms")
	const hosts, prompts = 3, 4
	var all sync.WaitGroup
	for h := range hosts {
		all.Go(func() {
			for p := range prompts {
				u.hears(fmt.Sprintf("s%d-%d", h, p), "--context-timeout", "1m")
				time.Sleep(time.Duration(2500+h*250+p*300) * time.Millisecond) // about as long as it stays
			}
		})
	}
	all.Wait()
	u.settle()
	must.Equal(t, "turns", u.turns(), hosts*prompts)
}

// The process does not hold what the host had open: a reader may wait for the end of a pipe.
func TestTheProcessBehindHooksHoldsNothingOfTheHost(t *testing.T) {
	t.Parallel()
	u := attended(t, "1h")
	r, w, err := os.Pipe()
	must.NoError(t, err)
	cmd := exec.Command("amber", "hook", "claude-code")
	cmd.Env, cmd.Dir, cmd.ExtraFiles = u.environ(), filepath.Dir(u.home), []*os.File{w}
	cmd.Stdin = strings.NewReader(`{"session_id":"s1","hook_event_name":"PostToolUse","tool_name":"Bash"}`)
	must.Do(t, cmd.Run())
	must.Do(t, w.Close())
	u.arrives()
	must.Do(t, r.SetReadDeadline(time.Now().Add(2*time.Minute)))
	_, err = r.Read(make([]byte, 1))
	must.Hold(t, errors.Is(err, io.EOF), "the pipe does not end: %v", err)
}

// A memory that is erased, or gone with a restore, is in no file while the process stays, and the process does
// not answer with it.
func TestTheProcessBehindHooksForgets(t *testing.T) {
	t.Parallel()
	u := attended(t, "1h")
	taken := strings.TrimSpace(u.must("", "snapshot", "create", "--quiet"))
	id := strings.TrimSpace(u.must("", "remember", "--scope", "global", "The coupon rounding of zanzibar is done in cents"))
	u.hears("s1", "--context-timeout", "1m")
	socket, q := u.arrives(), u.question()
	q.Request.Goal = "is the coupon rounding of zanzibar done in cents?"
	must.Says(t, "answer", must.Get(u.consults(socket, q))(t).Text, "zanzibar")
	u.must("", "forget", "--erase", "--yes", id)
	must.Hides(t, "answer after the erasure", must.Get(u.consults(socket, q))(t).Text, "zanzibar")
	err := filepath.WalkDir(filepath.Dir(u.spool()), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		must.Hold(t, !bytes.Contains(b, []byte("zanzibar")), "%s tells of it", path)
		return err
	})
	must.NoError(t, err)
	u.must("", "remember", "--scope", "global", "The coupon rounding of madagascar is done in cents")
	q.Request.Goal = "is the coupon rounding of madagascar done in cents?"
	must.Says(t, "answer", must.Get(u.consults(socket, q))(t).Text, "madagascar")
	u.must("", "snapshot", "restore", taken, "--yes")
	must.Hides(t, "answer after the restore", must.Get(u.consults(socket, q))(t).Text, "madagascar")
}
