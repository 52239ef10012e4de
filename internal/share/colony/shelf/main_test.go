package shelf_test

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/share/colony"
	"github.com/amber-memory/amber/internal/share/colony/shelf"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/home"
)

// today is a clock that stands still.
func today() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC) }

// openAgent returns a handle of its own of the agent in the home dir, as another
// process would have it.
func openAgent(dir string, fsys fsx.FS) (*home.Agent, error) {
	h, _, err := home.Open(dir, home.Options{Clock: today, Random: rand.Reader, FS: fsys})
	if err != nil {
		return nil, err
	}
	return h.Agent(amber.DefaultTenant, amber.DefaultAgent)
}

// openShelf returns the vault of the agent in the home dir.
func openShelf(dir string, o shelf.Options) (*shelf.Shelf, error) {
	a, err := openAgent(dir, o.FS)
	if err != nil {
		return nil, err
	}
	if o.Clock == nil {
		o.Clock = today
	}
	return shelf.Open(a, o)
}

// madeHome returns a home whose agent exists and is empty.
func madeHome(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "home")
	a := must.Get(openAgent(dir, nil))(t)
	create(t, a)
	return dir
}

func create(t testing.TB, a *home.Agent) {
	t.Helper()
	if _, _, err := a.Create(context.Background(), func(string, home.Current) error { return nil }); err != nil {
		t.Fatal(err)
	}
}

// tester is a vault with checks.
type tester struct {
	*shelf.Shelf
	t   testing.TB
	dir string // of the home
}

// open returns the vault of the agent in the home dir.
func open(t testing.TB, dir string, options ...func(*shelf.Options)) tester {
	t.Helper()
	var o shelf.Options
	for _, f := range options {
		f(&o)
	}
	s := must.Get(openShelf(dir, o))(t)
	return tester{s, t, dir}
}

// fresh returns the vault of an agent that was just made.
func fresh(t testing.TB, options ...func(*shelf.Options)) tester {
	t.Helper()
	return open(t, madeHome(t), options...)
}

// put puts a file and returns what it is.
func (s tester) put(name, content string) colony.FileInfo {
	s.t.Helper()
	return must.Get(s.Put(s.t.Context(), name, content))(s.t)
}

// holds checks the content of a file.
func (s tester) holds(name, want string) {
	s.t.Helper()
	f := must.Get(s.Get(s.t.Context(), name))(s.t)
	if f.Content != want || f.Name != name || f.Version != sha(want) || f.Size != int64(len(want)) {
		s.t.Fatalf("got %.100q %+v, want %.100q", f.Content, f.FileInfo, want)
	}
}

// names returns the names of all files.
func (s tester) names() []string {
	s.t.Helper()
	list := must.Get(s.List(s.t.Context(), ""))(s.t)
	names := []string{}
	for _, f := range list {
		names = append(names, f.Name)
	}
	return names
}

// gen is the folder of the live generation.
func (s tester) gen() string {
	return filepath.Join(s.dir, "tenants", "default", "agents", "default", "gen", "1")
}

// path is where the file of a name lies.
func (s tester) path(name string) string {
	sum := sha(name)
	return filepath.Join(s.gen(), "state", "vault", sum[:2], sum)
}

func sha(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

func write(t testing.TB, path string, b []byte) {
	t.Helper()
	must.Do(t, os.WriteFile(path, b, 0o600))
}
