package servertest

import (
	"context"
	"crypto/rand"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/snapshot"
	"github.com/amber-memory/amber/internal/serve/server"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/store/sqlite"
)

// Prepare returns a function that makes snapshot engines: each of a home of its
// own with these agents, each with an empty store. The home is made once and
// copied.
func Prepare(agents ...server.AgentName) func(t testing.TB, clock amber.Clock) *snapshot.Engine {
	clock := func() time.Time { return time.Date(2026, 8, 1, 11, 0, 0, 0, time.UTC) }
	prepared := sync.OnceValues(func() (fstest.MapFS, error) { return newHome(agents, clock) })
	return func(t testing.TB, clock amber.Clock) *snapshot.Engine {
		t.Helper()
		dir := t.TempDir()
		files, err := prepared()
		if err == nil {
			err = os.CopyFS(dir, files)
		}
		must.Do(t, err)
		h, _, err := home.Open(dir, home.Options{Clock: clock, Random: rand.Reader})
		must.Do(t, err)
		e, err := snapshot.New(snapshot.Options{Home: h, Clock: clock, Random: rand.Reader})
		must.Do(t, err)
		return e
	}
}

// newHome returns the files of a home with agents.
func newHome(agents []server.AgentName, clock amber.Clock) (fstest.MapFS, error) {
	dir, err := os.MkdirTemp("", "amber-servertest")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	h, _, err := home.Open(dir, home.Options{Clock: clock, Random: rand.Reader})
	if err != nil {
		return nil, err
	}
	for _, name := range agents {
		agent, err := h.Agent(name.Tenant, name.Agent)
		if err != nil {
			return nil, err
		}
		s, err := sqlite.Open(context.Background(), agent, sqlite.Options{Clock: clock, Random: rand.Reader})
		if err == nil {
			err = s.Close()
		}
		if err != nil {
			return nil, err
		}
	}
	files := fstest.MapFS{}
	return files, fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(filepath.Join(dir, path))
		files[path] = &fstest.MapFile{Data: b, Mode: 0o600}
		return err
	})
}
