//go:build unix

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/serve"
	"github.com/amber-memory/amber/internal/test/must"
)

// private is a server that a program started for itself.
type private struct {
	*running
	serve.Served
	stdin io.WriteCloser
}

// privateCommand is a private server that is not started yet.
func (u *user) privateCommand(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "amber", append([]string{"serve", "--private", "--json"}, args...)...)
	cmd.Env = u.environ()
	cmd.Dir = filepath.Dir(u.home)
	return cmd
}

// servePrivately starts a private server and returns once it has said where it is.
func (u *user) servePrivately() *private {
	u.t.Helper()
	p := &private{running: &running{t: u.t, log: &logBuffer{}, ended: make(chan struct{})}}
	p.cmd = u.privateCommand(context.Background()) // kill ends it
	p.cmd.Stderr = p.log
	out := must.Get(p.cmd.StdoutPipe())(u.t)
	p.stdin = must.Get(p.cmd.StdinPipe())(u.t)
	must.Do(u.t, p.cmd.Start())
	err := json.NewDecoder(bufio.NewReader(out)).Decode(&p.Served)
	p.over(p.Socket)
	go func() {
		_ = p.cmd.Wait() // the exit code tells
		close(p.ended)
	}()
	u.t.Cleanup(p.kill)
	if err != nil {
		p.kill()
		u.t.Fatalf("it does not say where it is: %v\n%s", err, p.log)
	}
	return p
}

// over makes requests go over a socket.
func (r *running) over(socket string) {
	r.url = "http://localhost"
	r.client = &http.Client{Timeout: time.Minute, Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}}}
}

// whereOf is what the home says about its server.
func whereOf(u *user) (w struct{ URL, Page, Socket, Key string }) {
	u.t.Helper()
	must.Do(u.t, json.Unmarshal(must.Get(os.ReadFile(filepath.Join(u.home, "serve.json")))(u.t), &w))
	return w
}

func TestAPrivateServerEndsWithItsProgram(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	p := u.servePrivately()
	must.Hold(t, p.Started && p.Private && p.Page == "" && p.Key == "" && p.URL == "unix://"+p.Socket, "it says %+v", p.Served)
	p.answer(http.MethodPost, agentURL+"/memories", remembering("kept"), nil)
	info := must.Get(os.Lstat(p.Socket))(t)
	must.Equal(t, "mode of the socket", info.Mode().Perm(), 0o600)
	must.Equal(t, "mode of its folder", must.Get(os.Stat(filepath.Dir(p.Socket)))(t).Mode().Perm(), 0o700)
	must.Do(t, p.stdin.Close())
	p.exits(0)
	for _, path := range []string{p.Socket, filepath.Join(u.home, "serve.json")} {
		if _, err := os.Lstat(path); !os.IsNotExist(err) {
			t.Errorf("%s is left behind: %v", path, err)
		}
	}
	again := u.servePrivately()
	must.Hold(t, again.contents()["kept"] != "", "the memory is gone")
}

// The log goes to a program that is gone; the server ends as it should.
func TestAPrivateServerEndsWithoutAReader(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	cmd := u.privateCommand(context.Background())
	in := must.Get(cmd.StdinPipe())(t)
	out, log := must.Get(cmd.StdoutPipe())(t), must.Get(cmd.StderrPipe())(t)
	must.Do(t, cmd.Start())
	var s serve.Served
	must.Do(t, json.NewDecoder(out).Decode(&s))
	must.Do(t, errors.Join(out.Close(), log.Close(), in.Close()))
	must.Do(t, cmd.Wait())
	if _, err := os.Lstat(filepath.Join(u.home, "serve.json")); !os.IsNotExist(err) {
		t.Errorf("the file that says where it listens is left behind: %v", err)
	}
}

// Programs of one home share one server, and one that was killed is no hindrance.
func TestProgramsShareAPrivateServer(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.servePrivately().kill()
	const programs = 5
	all := make(chan serve.Served, programs)
	ends := make(chan func(), programs)
	for range programs {
		go func() {
			var s serve.Served
			cmd := u.privateCommand(context.Background())
			in, _ := cmd.StdinPipe()
			out, _ := cmd.StdoutPipe()
			if err := cmd.Start(); err == nil {
				_ = json.NewDecoder(out).Decode(&s) // what was not said is seen below
			}
			ends <- func() { _ = in.Close(); _ = cmd.Wait() }
			all <- s
		}()
	}
	started, sockets := 0, map[string]bool{}
	for range programs {
		s := <-all
		sockets[s.Socket] = true
		if s.Started {
			started++
		}
	}
	for range programs {
		(<-ends)()
	}
	must.Equal(t, "servers that were started", started, 1)
	must.Hold(t, len(sockets) == 1 && !sockets[""], "sockets are %v", sockets)
}

// A private server leaves for one that people started, whose socket goes on.
func TestAPrivateServerLeavesForAnother(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	p := u.servePrivately()
	p.answer(http.MethodPost, agentURL+"/memories", remembering("before"), nil)
	r := u.serve()
	p.exits(0)
	must.Hold(t, r.contents()["before"] != "", "the memory is gone")
	must.Equal(t, "page", whereOf(u).Page, r.url+"/ui/")
	q := u.servePrivately()
	must.Hold(t, !q.Started && !q.Private, "it says %+v", q.Served)
	q.exits(0)
	must.Hold(t, q.contents()["before"] != "", "the memory is not there over the socket")
	stderr, code := u.cannotServe()
	must.Hold(t, code == amber.KindBusy.ExitCode() && strings.Contains(stderr, "another process serves"), "a second server: %d %s", code, stderr)
	status, _, err := q.ask(http.MethodPost, "/ui/-/leave", "")
	must.Hold(t, err == nil && status/100 == 4, "a server that people started is told to leave: %d %v", status, err)
}

// The user needs no token at the socket, whatever the port asks for; who shows one has what it allows.
func TestTheSocketIsTheUsers(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	token := u.newToken("reader", "--scope", "read")
	r := u.serve("--host", "memory.example.org")
	status, _, err := r.ask(http.MethodGet, agentURL+"/stats", "")
	must.Hold(t, err == nil && status/100 == 4, "the port without a token and with another name: %d %v", status, err)
	s := &running{t: t, log: r.log}
	s.over(whereOf(u).Socket)
	s.answer(http.MethodPost, agentURL+"/memories", remembering("kept"), nil)
	s.token = token
	s.answer(http.MethodGet, agentURL+"/stats", "", nil)
	s.refuses(amber.KindRefused, http.MethodPost, agentURL+"/memories", remembering("not kept"))
	s.token = "amber_private_guess"
	s.refuses(amber.KindRefused, http.MethodGet, agentURL+"/stats", "")
}

// Where no socket is possible a private server has a port, which asks for a key.
func TestAPrivateServerWithoutASocketHasAKey(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	long := filepath.Join(filepath.Dir(u.home), strings.Repeat("long", 30))
	must.Do(t, os.Mkdir(long, 0o700))
	u.env = append(u.env, "TMPDIR="+long, "XDG_RUNTIME_DIR=")
	p := u.servePrivately()
	must.Hold(t, p.Started && p.Private && p.Socket == "" && p.Key != "" && strings.HasPrefix(p.URL, "http://127.0.0.1:"), "it says %+v", p.Served)
	p.client, p.url = &http.Client{Transport: &http.Transport{}, Timeout: time.Minute}, p.URL
	for _, token := range []string{"", p.Key + "x", "amber_private_guess"} {
		p.token = token
		p.refuses(amber.KindRefused, http.MethodGet, agentURL+"/stats", "")
		status, _, err := p.ask(http.MethodPost, "/ui/-/leave", "")
		must.Hold(t, err == nil && status/100 != 2, "somebody with the key %q ends it: %d %v", token, status, err)
	}
	p.token = p.Key
	p.answer(http.MethodPost, agentURL+"/memories", remembering("kept"), nil)
	must.Equal(t, "key in the home", whereOf(u).Key, p.Key)
	r := u.serve()
	p.exits(0)
	must.Hold(t, r.contents()["kept"] != "", "the memory is gone")
}

func TestAPrivateServerHasNoPort(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	for _, flag := range [][]string{{"--listen", "127.0.0.1:0"}, {"--tls-cert", "x", "--tls-key", "x"}, {"--behind-proxy"}, {"--host", "x"}, {"--allow-origin", "https://example.org"}} {
		out, err := u.privateCommand(t.Context(), flag...).CombinedOutput()
		must.Hold(t, err != nil && strings.Contains(string(out), "--private has no port"), "%v: %s %v", flag, out, err)
	}
}
