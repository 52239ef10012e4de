//go:build unix

package main

import (
	"bytes"
	"crypto/rand"
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/fsx"
	"github.com/amber-memory/amber/internal/must"
)

// caller is a user of a served Amber, who has no home.
type caller struct {
	t     *testing.T
	url   string
	env   []string
	at    bool // at a terminal
	input string
}

func (c *caller) run(args ...string) (code int, stdout, stderr string) {
	c.t.Helper()
	var out, errs bytes.Buffer
	dir := c.t.TempDir()
	code = run(c.t.Context(), args, cli.World{
		Stdin: strings.NewReader(c.input), Stdout: &out, Stderr: &errs,
		Environ:   append([]string{"AMBER_HOME=" + filepath.Join(dir, "never"), "HOME=" + dir, "AMBER_REMOTE=" + c.url}, c.env...),
		Directory: func() (string, error) { return dir, nil },
		Clock:     time.Now, Random: rand.Reader, FSInfo: fsx.Info,
		Terminal: func() bool { return c.at },
	})
	if entries, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(entries) > 0 {
		c.t.Errorf("%q makes %v, %v", args, entries, err)
	}
	return code, out.String(), errs.String()
}

// must runs a command that exits with 0 and returns the line it prints.
func (c *caller) must(args ...string) string {
	c.t.Helper()
	code, stdout, stderr := c.run(args...)
	if code != 0 {
		c.t.Fatalf("%q exits %d: %s", args, code, stderr)
	}
	return strings.TrimSpace(stdout)
}

// newCaller serves a home that needs no token.
func newCaller(t *testing.T) *caller {
	t.Helper()
	dir := t.TempDir()
	s := &scriptServer{environ: []string{"AMBER_HOME=" + filepath.Join(dir, "home"), "HOME=" + dir, "XDG_CONFIG_HOME=" + dir}, dir: dir}
	url := must.Get(s.start(s.environ))(t)
	t.Cleanup(func() {
		if err := s.stop(); err != nil {
			t.Error(err)
		}
	})
	return &caller{t: t, url: url}
}

// People are asked here before the server is told.
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
		if code, _, stderr := c.run(args...); code != 6 || !strings.Contains(stderr, "--yes") {
			t.Errorf("%q without a terminal: exit code %d: %s", args, code, stderr)
		}
		if code, _, stderr := c.run(append(args, "--dry-run")...); code != 0 {
			t.Errorf("%q --dry-run: exit code %d: %s", args, code, stderr)
		}
		c.at, c.input = true, "n\n"
		if code, _, stderr := c.run(args...); code != 6 || !strings.Contains(stderr, "? [y/N]") {
			t.Errorf("%q, and no: exit code %d: %s", args, code, stderr)
		}
	}
	if got := c.must("get", memory); !strings.Contains(got, "we chose MySQL") {
		t.Errorf("nobody said yes, and it is %q", got)
	}
	if code, _, stderr := c.run("forget", memory, "--erase"); code != 6 {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	c.input = "y\n"
	c.must("snapshot", "restore", snapshot, "--memory", memory)
	if got := c.must("get", memory); !strings.Contains(got, "we chose PostgreSQL") {
		t.Errorf("it was restored, and is %q", got)
	}
	c.must("forget", memory, "--erase")
	if code, _, _ := c.run("get", memory); code != 3 {
		t.Errorf("it was erased: exit code %d, want 3", code)
	}
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
	if got := strings.Fields(c.must("--quiet", "remember", "--jsonl", "-")); len(got) != 10 {
		t.Errorf("got %d ids, want 10", len(got))
	}
	c.input = ""
	if got := strings.Count(c.must("list", "--jsonl"), "\n") + 1; got != 10 {
		t.Errorf("got %d lines, want 10", got)
	}
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
	if code, _, stderr := c.run("stats"); code != 7 || !strings.Contains(stderr, "certificate") {
		t.Errorf("unknown authority: exit code %d: %s", code, stderr)
	}
	if code, stdout, stderr := c.run("--remote-ca", ca, "stats"); code != 0 || !strings.Contains(stdout, "42") {
		t.Errorf("exit code %d: %s%s", code, stdout, stderr)
	}
	c.env = append(c.env, "AMBER_REMOTE_CA="+ca)
	if code, stdout, stderr := c.run("stats"); code != 0 || !strings.Contains(stdout, "42") {
		t.Errorf("from the environment: exit code %d: %s%s", code, stdout, stderr)
	}
}
