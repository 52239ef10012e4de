package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/internal/serve/hooksocket"
	"github.com/amber-memory/amber/internal/serve/localsock"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// shortUser has a home whose path leaves room for the name of a socket.
func shortUser(t *testing.T) *user {
	t.Helper()
	dir := must.Get(os.MkdirTemp("", "amber"))(t)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	u := &user{t: t, home: filepath.Join(dir, "home")}
	t.Cleanup(u.settle)
	u.must("", "remember", "--scope", "global", "The coupon rounding is done in cents")
	return u
}

func (u *user) socket() string { return filepath.Join(u.home, wire.NearSocket) }

// prompt sends the prompt of a session to the hook.
func (u *user) prompt(session, budget string) (said, complaint string) {
	u.t.Helper()
	return u.hears(session, "--no-drain", "--context-timeout", budget)
}

func (u *user) hears(session string, flags ...string) (said, complaint string) {
	u.t.Helper()
	event := `{"session_id":"` + session + `","hook_event_name":"UserPromptSubmit","prompt":"is the coupon rounding done in cents?"}`
	said, complaint, code := u.asProcess(event, append([]string{"hook", "claude-code", "--timeout", "1m"}, flags...)...)
	must.Equal(u.t, "exit code", code, 0)
	return said, complaint
}

// pretends listens in the place of the server.
func (u *user) pretends(answer http.HandlerFunc) {
	u.t.Helper()
	l := must.Get(localsock.Listen(u.socket()))(u.t)
	s := &http.Server{Handler: answer}
	go func() { _ = s.Serve(l) }()
	u.t.Cleanup(func() { _ = s.Close() })
}

// answers is a server that gives one answer.
func answers(a wire.NearAnswer) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		b, _ := json.Marshal(a)
		_, _ = w.Write(b)
	}
}

// The hook asks the server of its home, tells it what the session has seen, and keeps what
// the server has shown.
func TestHookAsksTheServerOfItsHome(t *testing.T) {
	t.Parallel()
	u := shortUser(t)
	asked := make(chan wire.NearRequest, 2)
	u.pretends(func(w http.ResponseWriter, r *http.Request) {
		var in wire.NearRequest
		must.NoError(t, json.NewDecoder(r.Body).Decode(&in))
		asked <- in
		b, _ := json.Marshal(wire.NearAnswer{Text: "from the server", Items: []wire.ContextItem{{Layer: amber.LayerMemory, Owner: "m1", Digest: "0123456789abcdef"}}})
		_, _ = w.Write(b)
	})
	said, complaint := u.prompt("s1", "1m")
	must.Says(t, "hook", said, "from the server")
	must.Equal(t, "complaint", complaint, "")
	first := <-asked
	must.Equal(t, "occasion", first.Request.Occasion, wire.OccasionPrompt)
	must.Equal(t, "settings", first.Settings, config.Default().ContextDigest())
	must.Equal(t, "known", len(first.Request.Known), 0)
	u.prompt("s1", "1m")
	must.Equal(t, "known with the second prompt", (<-asked).Request.Known, []wire.ContextItem{{Layer: amber.LayerMemory, Owner: "m1", Digest: "0123456789abcdef"}})
}

// A server that has answered drains the journal. Where none has, the hook starts a drain.
func TestHookStartsNoDrainBesideAServer(t *testing.T) {
	t.Parallel()
	for name, a := range map[string]wire.NearAnswer{"started": {Error: "another build"}, "left to the server": {Text: "yes"}, "left to it in silence": {}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := shortUser(t)
			u.pretends(answers(a))
			u.hears("s1", "--context-timeout", "1m")
			_, err := os.Lstat(filepath.Join(u.spool(), "background.lock"))
			must.Equal(t, "a drain was started", err == nil, a.Error != "")
		})
	}
}

// Whatever is wrong with the socket, the hook opens the store itself and says nothing of it.
func TestHookOpensTheStoreWhereNoServerAnswers(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]func(t *testing.T, u *user){
		"a file": func(t *testing.T, u *user) { must.Do(t, os.WriteFile(u.socket(), nil, 0o600)) },
		"a socket that a killed server left": func(t *testing.T, u *user) {
			l := must.Get(net.ListenUnix("unix", &net.UnixAddr{Name: u.socket(), Net: "unix"}))(t)
			l.SetUnlinkOnClose(false)
			must.Do(t, errors.Join(os.Chmod(u.socket(), 0o600), l.Close()))
		},
		"a socket for everybody": func(t *testing.T, u *user) {
			u.pretends(answers(wire.NearAnswer{Text: "evil"}))
			must.Do(t, os.Chmod(u.socket(), 0o666))
		},
		"a server of another version": func(_ *testing.T, u *user) { u.pretends(answers(wire.NearAnswer{Error: "another build"})) },
		"an answer that is too long": func(_ *testing.T, u *user) {
			u.pretends(answers(wire.NearAnswer{Text: strings.Repeat("evil ", 20_000)}))
		},
		"an answer that never ends": func(_ *testing.T, u *user) {
			u.pretends(func(w http.ResponseWriter, _ *http.Request) {
				for {
					if _, err := w.Write(bytes.Repeat([]byte("evil"), 1<<14)); err != nil {
						return
					}
				}
			})
		},
		"an answer with unknown fields": func(_ *testing.T, u *user) {
			u.pretends(func(w http.ResponseWriter, _ *http.Request) {
				_, _ = io.WriteString(w, `{"text":"evil","run":"evil.sh"}`)
			})
		},
		"a redirection": func(_ *testing.T, u *user) {
			u.pretends(func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, "http://evil.invalid/", http.StatusFound)
			})
		},
		"a server that takes the request and hangs": func(_ *testing.T, u *user) {
			u.pretends(func(w http.ResponseWriter, r *http.Request) {
				_ = http.NewResponseController(w).Flush()
				<-r.Context().Done()
			})
		},
		"a server that hangs": func(_ *testing.T, u *user) {
			u.pretends(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := shortUser(t)
			at(t, u)
			said, complaint := u.prompt("s1", "6s")
			must.Says(t, "hook", said, "The coupon rounding is done in cents")
			must.Hides(t, "hook", said, "evil")
			must.Equal(t, "complaint", complaint, "")
		})
	}
}

// asks sends a request over the socket of a home.
func (u *user) asks(method, path string, in any) (int, wire.NearAnswer) {
	u.t.Helper()
	c := http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return localsock.Dial(ctx, u.socket())
	}}}
	r := must.Get(http.NewRequestWithContext(u.t.Context(), method, "http://amber"+path, bytes.NewReader(must.Get(json.Marshal(in))(u.t))))(u.t)
	a := must.Get(c.Do(r))(u.t)
	defer a.Body.Close()
	var out wire.NearAnswer
	_ = json.NewDecoder(a.Body).Decode(&out)
	return a.StatusCode, out
}

// A server answers hooks of its own build and settings, about context alone.
func TestServerAnswersHooksOfItsHome(t *testing.T) {
	t.Parallel()
	u := shortUser(t)
	build := struct{ Version, Commit string }{}
	must.Do(t, json.Unmarshal([]byte(u.must("", "version", "--json")), &build))
	r := u.serve()
	good := wire.NearRequest{
		Build: hooksocket.Build(build.Version, build.Commit), Settings: config.Default().ContextDigest(), Tenant: "default", Agent: "default", BudgetMS: 60_000,
		Request: wire.ContextRequest{Occasion: wire.OccasionPrompt, RecallInput: amber.RecallInput{Goal: "is the coupon rounding done in cents?"}},
	}
	status, out := u.asks("POST", wire.NearPath, good)
	must.Equal(t, "status", status, http.StatusOK)
	must.Says(t, "answer", out.Text, "The coupon rounding is done in cents")
	must.Equal(t, "named", len(out.Items), 1)
	for name, change := range map[string]func(*wire.NearRequest){
		"another build":       func(r *wire.NearRequest) { r.Build = "other" },
		"other settings":      func(r *wire.NearRequest) { r.Settings = "other" },
		"no budget":           func(r *wire.NearRequest) { r.BudgetMS = 0 },
		"a long budget":       func(r *wire.NearRequest) { r.BudgetMS = 1 << 40 },
		"another agent":       func(r *wire.NearRequest) { r.Agent = "nobody" },
		"no name of a folder": func(r *wire.NearRequest) { r.Tenant = "../x" },
		"too much":            func(r *wire.NearRequest) { r.Request.Goal = strings.Repeat("x", wire.MaxNearRequest) },
		"too many known":      func(r *wire.NearRequest) { r.Request.Known = make([]wire.ContextItem, wire.MaxKnown+1) },
	} {
		bad := good
		change(&bad)
		status, out := u.asks("POST", wire.NearPath, bad)
		must.Hold(t, (status == http.StatusConflict || name == "another agent" || name == "too many known") && out.Text == "" && out.Error != "", "%s: status %d, %+v", name, status, out)
	}
	must.Equal(t, "no agent was made", len(must.Get(os.ReadDir(filepath.Join(u.home, "tenants", "default", "agents")))(t)), 1)
	for _, path := range []string{"/v1/tenants/default/agents/default/memories", "/health", "/mcp"} {
		status, _ := u.asks("GET", path, nil)
		must.Equal(t, path, status, http.StatusNotFound)
	}
	said, complaint := u.prompt("s1", "1m")
	must.Says(t, "hook", said, "The coupon rounding is done in cents")
	must.Equal(t, "complaint", complaint, "")
	r.stop()
	_, err := os.Lstat(u.socket())
	must.Hold(t, errors.Is(err, os.ErrNotExist), "the socket is left behind: %v", err)
}

// A server that was killed leaves its socket, and the next one takes its place.
func TestServerTakesThePlaceOfAKilledOne(t *testing.T) {
	t.Parallel()
	u := shortUser(t)
	u.serve().kill()
	must.Do(t, must.Err(os.Lstat(u.socket())))
	u.serve()
	must.Do(t, must.Get(localsock.Dial(t.Context(), u.socket()))(t).Close())
}
