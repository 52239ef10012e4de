package home_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/home"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestMain(m *testing.M) {
	if job := os.Getenv(childJob); job != "" {
		os.Exit(child(job, os.Getenv(childHome)))
	}
	os.Exit(m.Run())
}

// today is a clock that stands still.
func today() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC) }

func options(fsys fsx.FS) home.Options {
	return home.Options{Clock: today, Random: rand.Reader, FS: fsys}
}

// handle returns a handle of its own of the agent in the home dir, as another process would have it.
func handle(t testing.TB, dir string, o home.Options) *home.Agent {
	t.Helper()
	return must.Get(openAgent(dir, o))(t)
}

func openAgent(dir string, o home.Options) (*home.Agent, error) {
	h, _, err := home.Open(dir, o)
	if err != nil {
		return nil, err
	}
	return h.Agent(amber.DefaultTenant, amber.DefaultAgent)
}

// agentDir is the folder of the agent that handle returns.
func agentDir(dir string) string {
	return filepath.Join(dir, "tenants", "default", "agents", "default")
}

// homeDir returns the path of a home that is not there yet.
func homeDir(t *testing.T) string { return filepath.Join(t.TempDir(), "home") }

// madeHome returns a home on the real file system whose agent exists, and the agent's generation.
func madeHome(t *testing.T) (string, home.Current) {
	t.Helper()
	dir := homeDir(t)
	return dir, makeAgent(t, fsx.OS(), handle(t, dir, options(nil)))
}

// makeAgent creates an agent, which has to be made now and whole.
func makeAgent(t *testing.T, fsys fsx.FS, a *home.Agent) home.Current {
	t.Helper()
	c, created, err := a.Create(t.Context(), build(fsys))
	if err != nil || !created {
		t.Fatalf("create: made now %v, %v", created, err)
	}
	checkBuilt(t, fsys, a, c)
	return c
}

// parts are the files build makes.
var parts = []string{filepath.Join("memdir", "note.md"), "memory.db"}

// content is longer than one block, so that a cut can tear it, and names the incarnation and the file, so
// that nothing of an earlier attempt passes for it.
func content(part string, c home.Current) []byte {
	return bytes.Repeat([]byte(part+" "+c.Incarnation+"\n"), 100)
}

// build returns what fills a new generation through fsys. It leaves the name of the last file for Create
// to sync.
func build(fsys fsx.FS) func(string, home.Current) error {
	return func(dir string, c home.Current) error {
		note := filepath.Join(dir, parts[0])
		if err := fsx.MkdirAll(fsys, filepath.Dir(note), 0o700); err != nil {
			return err
		}
		if err := fsx.CreateNew(fsys, note, 0o600, content(parts[0], c)); err != nil {
			return err
		}
		return writeSynced(fsys, filepath.Join(dir, parts[1]), content(parts[1], c))
	}
}

// writeSynced makes a file whose content is durable and whose name is not, as a database library does.
func writeSynced(fsys fsx.FS, path string, data []byte) error {
	f, err := fsys.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Write(data); err != nil {
		return err
	}
	return f.Sync()
}

// checkBuilt checks that the generation c holds all that build wrote.
func checkBuilt(t *testing.T, fsys fsx.FS, a *home.Agent, c home.Current) {
	t.Helper()
	for _, part := range parts {
		got, err := fsx.ReadFile(fsys, filepath.Join(a.GenDir(c), part), 1<<20)
		if err != nil {
			t.Errorf("generation %d lacks %s: %v", c.Generation, part, err)
		} else if !bytes.Equal(got, content(part, c)) {
			t.Errorf("%s is not what was built: %.60q…", part, got)
		}
	}
}

// listing describes every file and folder below dir: name, mode, size, time of change, content.
func listing(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	must.Do(t, filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s %v %v", filepath.ToSlash(rel), info.Mode(), info.ModTime().UnixNano())
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, " %q", data)
		}
		b.WriteByte('\n')
		return nil
	}))
	return b.String()
}

const (
	childJob  = "AMBER_HOME_TEST_JOB"
	childHome = "AMBER_HOME_TEST_HOME"
)

// child is the test binary as another process. It does its job in the agent's folder, says "inside" when it
// is in the middle of it, and stays there until its standard input ends.
func child(job, dir string) int {
	a, err := openAgent(dir, options(nil))
	if err != nil {
		fmt.Println(err)
		return 1
	}
	stay := func(home.Current) error {
		fmt.Println("inside")
		_, err := io.Copy(io.Discard, os.Stdin)
		return err
	}
	ctx := context.Background()
	switch job {
	case "write":
		err = a.Write(ctx, "memory", stay)
	case "exclusive":
		err = a.Exclusive(ctx, stay)
	case "create":
		_, _, err = a.Create(ctx, func(dir string, c home.Current) error {
			if err := writeSynced(fsx.OS(), filepath.Join(dir, "half.db"), []byte("half")); err != nil {
				return err
			}
			return stay(c)
		})
	case "restore":
		err = restoring(ctx, a, fsx.OS(), func(r *home.Restore) error {
			defer r.Abort()
			if err := stay(r.Current()); err != nil {
				return err
			}
			return r.Switch(ctx, func(home.Current) (amber.Stamp, error) { return later, nil })
		})
	default:
		err = fmt.Errorf("unknown job %q", job)
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}
