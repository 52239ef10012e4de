//go:build unix

package main

import (
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/test/must"
)

// caller is a user of a served Amber, who has no home.
type caller struct {
	t     *testing.T
	url   string
	env   []string
	at    bool // at a terminal
	input string
}

func (c *caller) run(args ...string) ran {
	c.t.Helper()
	dir := c.t.TempDir()
	w := testWorld(dir, append([]string{"AMBER_HOME=" + filepath.Join(dir, "never"), "HOME=" + dir, "AMBER_REMOTE=" + c.url}, c.env...)...)
	w.Stdin, w.Terminal = strings.NewReader(c.input), func() bool { return c.at }
	r := runIn(c.t.Context(), c.t, w, args...)
	if entries, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(entries) > 0 {
		c.t.Errorf("%q makes %v, %v", args, entries, err)
	}
	return r
}

// must runs a command that exits with 0 and returns the line it prints.
func (c *caller) must(args ...string) string {
	c.t.Helper()
	return c.run(args...).line()
}

// newCaller serves a home that needs no token.
func newCaller(t *testing.T) *caller {
	t.Helper()
	dir := t.TempDir()
	s := &scriptServer{environ: []string{"AMBER_HOME=" + filepath.Join(dir, "home"), "HOME=" + dir, "XDG_CONFIG_HOME=" + dir}, dir: dir}
	url := must.Get(s.start(s.environ))(t)
	t.Cleanup(func() { must.NoError(t, s.stop()) })
	return &caller{t: t, url: url}
}

// The command asks the user here before it sends the request to the server.
func TestRemoteAsks(t *testing.T) {
	t.Parallel()
	c := newCaller(t)
	memory := c.must("--quiet", "remember", "we chose PostgreSQL")
	snapshot := c.must("--quiet", "snapshot", "create")
	c.must("edit", memory, "we chose MySQL")
	c.must("--quiet", "snapshot", "create")
	session := c.must("--quiet", "session", "start")
	for _, args := range [][]string{
		{"snapshot", "restore", snapshot},
		{"snapshot", "restore", snapshot, "--memory", memory},
		{"snapshot", "delete", snapshot},
		{"snapshot", "prune", "--keep-last", "1"},
		{"snapshot", "gc"},
		{"session", "delete", session},
		{"forget", memory, "--erase"},
	} {
		c.at, c.input = false, ""
		c.run(args...).exits(6).warns("--yes")
		c.run(append(args, "--dry-run")...).exits(0)
		c.at, c.input = true, "n\n"
		c.run(args...).exits(6).warns("? [y/N]")
	}
	c.run("get", memory).exits(0).prints("we chose MySQL") // the user did not say yes
	c.run("forget", memory, "--erase").exits(6)
	c.input = "y\n"
	c.must("snapshot", "restore", snapshot, "--memory", memory)
	c.run("get", memory).exits(0).prints("we chose PostgreSQL")
	c.must("forget", memory, "--erase")
	c.run("get", memory).exits(3)
}

// A server that needs no token shows and makes tokens, and needs one from the first
// one on.
func TestTheFirstTokenClosesAnOpenServer(t *testing.T) {
	t.Parallel()
	c := newCaller(t)
	c.must("--quiet", "remember", "we chose PostgreSQL")
	c.run("--json", "token", "list").exits(0).prints(`"items": []`)
	c.run("audit", "list").exits(0).prints("memory.write", "local")
	c.run("audit", "verify").exits(0)
	file := filepath.Join(t.TempDir(), "token")
	must.Do(t, fsx.CreateNew(fsx.OS(), file, 0o600, []byte(c.must("--quiet", "token", "create", "root", "--all-tenants", "--scope", "admin"))))
	c.run("token", "list").exits(6)
	c.run("audit", "list").exits(6)
	c.run("token", "create", "second").exits(6)
	c.env = []string{"AMBER_TOKEN_FILE=" + file}
	c.run("token", "list").exits(0).prints("root", "every tenant", "admin", "good")
	c.run("audit", "list", "--action", "token.create").exits(0).prints("local")
}

// The agents of a server are listed as far as the token reaches.
func TestRemoteAgents(t *testing.T) {
	t.Parallel()
	c := newCaller(t)
	c.run("--json", "agent", "list").exits(0).prints(`"items": []`)
	for _, agent := range []string{"ada", "bob"} {
		c.must("--quiet", "--tenant", "acme", "--agent", agent, "--new-agent", "remember", "we chose PostgreSQL")
	}
	c.must("--quiet", "remember", "we chose PostgreSQL")
	c.run("agent", "list", "--tenant", "acme").exits(0).prints("ada", "bob").omits("default")
	c.run("agent", "list", "--all", "--json").exits(0).prints(`"tenant": "acme"`, `"id": "ada"`, `"id": "default"`)
	c.run("tenant", "list", "--json").exits(0).prints(`"id": "acme",`, `"agents": 2`, `"id": "default"`)
	file := filepath.Join(t.TempDir(), "token")
	must.Do(t, fsx.CreateNew(fsx.OS(), file, 0o600, []byte(c.must("--quiet", "token", "create", "bob", "--tenant", "acme", "--agent", "bob", "--scope", "read"))))
	c.env = []string{"AMBER_TOKEN_FILE=" + file}
	c.run("agent", "list", "--all").exits(0).prints("bob").omits("ada")
	c.run("tenant", "list").exits(0).prints("acme").omits("default")
	c.run("agent", "list").exits(3)
}

// A batch stays below what a server takes at once.
func TestRemoteRememberLargeLines(t *testing.T) {
	t.Parallel()
	c := newCaller(t)
	var lines strings.Builder
	for _, letter := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"} {
		lines.WriteString(`{"content":"` + strings.Repeat(letter, amber.MaxContentBytes) + "\"}\n")
	}
	c.input = lines.String()
	must.Equal(t, "ids", len(strings.Fields(c.must("--quiet", "remember", "--jsonl", "-"))), 10)
	c.input = ""
	must.Equal(t, "lines", strings.Count(c.must("list", "--jsonl"), "\n")+1, 10)
}

func TestRemoteCA(t *testing.T) {
	t.Parallel()
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.Header.Get("Authorization") != "Bearer amber_x" {
			t.Errorf("%s came with %q", r.URL.Path, r.Header.Get("Authorization"))
		}
		if strings.HasSuffix(r.URL.Path, "/capabilities") {
			_, _ = io.WriteString(w, `{"memories":true,"stats":true}`) // a failure shows at the other end
			return
		}
		_, _ = io.WriteString(w, `{"memories":42}`)
	}))
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	srv.StartTLS()
	defer srv.Close()
	dir := t.TempDir()
	ca, token := filepath.Join(dir, "ca.pem"), filepath.Join(dir, "token")
	for path, b := range map[string][]byte{
		ca:    pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw}),
		token: []byte("amber_x\n"),
	} {
		must.Do(t, fsx.Replace(fsx.OS(), path, 0o600, b))
	}
	c := &caller{t: t, url: srv.URL, env: []string{"AMBER_TOKEN_FILE=" + token}}
	c.run("stats").exits(7).warns("certificate")
	c.run("--remote-ca", ca, "stats").exits(0).prints("42")
	c.env = append(c.env, "AMBER_REMOTE_CA="+ca)
	c.run("stats").exits(0).prints("42")
}
