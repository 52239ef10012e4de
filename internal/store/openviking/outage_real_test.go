//go:build linux

package openviking_test

import (
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/amber-memory/amber/internal/store/openviking/ovtest"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/internal/test/ovfake"
)

var embedderAway = flag.Duration("embedder.away", 20*time.Second, "how long the embedder of a real server is away")

// gateway stands before a real server, and answers for it.
type gateway struct {
	real http.Handler

	mu     sync.Mutex
	answer func(w http.ResponseWriter, r *http.Request, real http.Handler)
}

func (g *gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	answer := g.answer
	g.mu.Unlock()
	if answer == nil {
		g.real.ServeHTTP(w, r)
		return
	}
	answer(w, r, g.real)
}

func (g *gateway) set(answer func(w http.ResponseWriter, r *http.Request, real http.Handler)) func(*testing.T) {
	return func(*testing.T) {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.answer = answer
	}
}

// fails answers with an error of OpenViking.
func fails(status int, code string) func(http.ResponseWriter, *http.Request, http.Handler) {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = fmt.Fprintf(w, `{"status":"error","error":{"code":%q,"message":"a gateway","details":{}}}`, code)
	}
}

func slow(w http.ResponseWriter, r *http.Request, real http.Handler) {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(strings.NewReader(string(body)))
	time.Sleep(2 * time.Second)
	real.ServeHTTP(w, r)
}

func page(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
	_, _ = io.WriteString(w, "<!doctype html><title>Welcome</title>")
}

// otherVersion changes the version that the server tells.
func otherVersion(w http.ResponseWriter, r *http.Request, real http.Handler) {
	heard := httptest.NewRecorder()
	real.ServeHTTP(heard, r)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(heard.Code)
	_, _ = io.WriteString(w, strings.Replace(heard.Body.String(), `"0.5.2"`, `"0.6.0"`, 1))
}

// TestRealOutages is TestOutages with a real server: it is stopped, killed and halted as a
// process, its disk is full, and its embedder goes away.
func TestRealOutages(t *testing.T) {
	venv := realVenv(t)
	stub := &ovfake.Stub{Embedder: ovfake.Embedder{Dimensions: 1024}}
	embedder := httptest.NewServer(stub)
	t.Cleanup(embedder.Close)
	server := must.Get(ovtest.Start(t.Context(), ovtest.Setup{Venv: venv, Dir: t.TempDir(), Embedder: embedder.URL, Dimensions: 1024}))(t)
	t.Cleanup(func() { server.Stop() })
	target := must.Get(url.Parse(server.URL))(t)
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.Transport = &http.Transport{DialContext: (&net.Dialer{Timeout: time.Second}).DialContext}
	proxy.ErrorHandler = func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) }
	g := &gateway{real: proxy}
	front := httptest.NewServer(g)
	t.Cleanup(front.Close)

	key, renew := campaignKey(t, server.URL, server.RootKey)
	c := newCampaign(t, front.URL, key.key, &swiftClock{longest: time.Second})
	c.workspace, c.steps, c.idle = server.Workspace, 20, 10*time.Second
	signal := func(s syscall.Signal) func(*testing.T) {
		return func(t *testing.T) { must.Do(t, syscall.Kill(-server.Process().Pid, s)) }
	}
	all := t.Context() // a server lives longer than the part of the test that started it
	again := func(t *testing.T) { must.Do(t, server.Again(all)) }
	limit := func(bytes uint64) func(*testing.T) {
		return func(t *testing.T) {
			must.Do(t, unix.Prlimit(server.Process().Pid, unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: bytes, Max: unix.RLIM_INFINITY}, nil))
		}
	}
	var fresh string
	calm := g.set(nil)
	c.run(t, []trouble{
		{name: "stopped", begin: func(t *testing.T) {
			signal(syscall.SIGTERM)(t)
			must.Do(t, server.Wait(t.Context()))
		}, end: again},
		{name: "killed", begin: func(*testing.T) { server.Stop() }, end: again},
		{name: "halted", begin: signal(syscall.SIGSTOP), end: signal(syscall.SIGCONT)},
		{name: "slow", begin: g.set(slow), end: calm, fed: true},
		{name: "500", begin: g.set(fails(500, "INTERNAL")), end: calm},
		{name: "503", begin: g.set(fails(503, "UNAVAILABLE")), end: calm},
		{name: "full disk", begin: limit(0), end: limit(unix.RLIM_INFINITY), asked: true},
		{name: "embedder away", begin: func(*testing.T) { stub.Fail(503) }, end: func(*testing.T) { stub.Fail(0) }, wall: *embedderAway, fed: true},
		{name: "key revoked", begin: func(*testing.T) { fresh = renew() }, end: func(*testing.T) { key.Store(fresh) }},
		{name: "another version", begin: g.set(otherVersion), end: calm},
		{name: "a page", begin: g.set(page), end: calm},
	})
}
