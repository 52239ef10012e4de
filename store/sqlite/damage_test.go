package sqlite

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/home"
)

// harm is one way a file can be broken.
type harm struct {
	name string
	do   func(t *testing.T, path string)
}

// rewrite makes a harm of a function on the bytes of the file.
func rewrite(name string, f func(b []byte) []byte) harm {
	return harm{name, func(t *testing.T, path string) {
		must.Do(t, os.WriteFile(path, f(must.Get(os.ReadFile(path))(t)), 0o600))
	}}
}

// flip makes a harm of inverting some bytes.
func flip(name string, at ...int) harm {
	return rewrite(name, func(b []byte) []byte {
		for _, i := range at {
			b[i] ^= 0xff
		}
		return b
	})
}

// replaceBy makes a harm of something else in place of the file.
func replaceBy(name string, put func(t *testing.T, path string)) harm {
	return harm{name, func(t *testing.T, path string) {
		must.Do(t, os.Rename(path, path+".moved"))
		put(t, path)
	}}
}

func harms() []harm {
	all := []harm{
		rewrite("garbage", func(b []byte) []byte { return bytes.Repeat([]byte("no database "), len(b)/12) }),
		rewrite("empty", func([]byte) []byte { return nil }),
		rewrite("100 bytes", func(b []byte) []byte { return b[:100] }),
		rewrite("one page", func(b []byte) []byte { return b[:4096] }),
		rewrite("half", func(b []byte) []byte { return b[:len(b)/2] }),
		rewrite("half a page missing", func(b []byte) []byte { return b[:len(b)-2048] }),
		rewrite("zeros", func(b []byte) []byte { return make([]byte, len(b)) }),
		flip("magic", 0, 1, 2),
		flip("page size", 16, 17),
		flip("file format", 18, 19),
		flip("reserved space", 20),
		flip("schema format", 44, 45, 46, 47),
		flip("text encoding", 59),
		flip("application id", 68, 69, 70, 71),
		flip("first page", slices.Collect(ints(100, 4096))...),
		flip("a page in the middle", slices.Collect(ints(10*4096, 11*4096))...),
		replaceBy("foreign database", foreignDatabase),
		replaceBy("directory", func(t *testing.T, path string) { must.Do(t, os.Mkdir(path, 0o700)) }),
		replaceBy("nothing", func(*testing.T, string) {}),
		replaceBy("the other file", func(t *testing.T, path string) {
			other := map[string]string{"memory.db": "control.db", "control.db": "memory.db"}[filepath.Base(path)]
			must.Do(t, os.WriteFile(path, must.Get(os.ReadFile(filepath.Join(filepath.Dir(path), other)))(t), 0o600))
		}),
	}
	if runtime.GOOS == "windows" { // not everybody may make links there
		return all
	}
	return append(all,
		replaceBy("link to itself moved", func(t *testing.T, path string) { must.Do(t, os.Symlink(path+".moved", path)) }),
		replaceBy("dangling link", func(t *testing.T, path string) { must.Do(t, os.Symlink(path+".nothing", path)) }),
	)
}

func ints(from, to int) func(func(int) bool) {
	return func(yield func(int) bool) {
		for i := from; i < to && yield(i); i++ {
		}
	}
}

// foreignDatabase puts a database of another program there, in SQLite's own
// default mode.
func foreignDatabase(t *testing.T, path string) {
	db := must.Get(sql.Open("sqlite", path))(t)
	must.Get(db.Exec(`CREATE TABLE memories (id TEXT, content TEXT); INSERT INTO memories VALUES ('1', 'of somebody else')`))(t)
	must.Do(t, db.Close())
}

// A file that is not what it must be is reported as damaged, when the store is
// opened, at the first use, or by Check, and is left as it is.
func TestDamagedFilesAreLeftAlone(t *testing.T) {
	t.Parallel()
	whole := os.DirFS(homeOf(filledAgent(t)))
	for _, file := range []string{"memory.db", "control.db"} {
		for _, h := range harms() {
			t.Run(file+"/"+h.name, func(t *testing.T) {
				t.Parallel()
				dir := filepath.Join(t.TempDir(), "home")
				must.Do(t, os.CopyFS(dir, whole))
				a := agentIn(t, dir)
				path := filepath.Join(a.GenDir(must.Get(a.Current())(t)), file)
				h.do(t, path)
				before := fingerprint(t, path)
				err := useEverything(t.Context(), a)
				must.Kind(t, "", err, amber.KindDamaged)
				must.Equal(t, "file", fingerprint(t, path), before)
			})
		}
	}
}

// filledAgent returns an agent with something in every file, not open.
func filledAgent(t *testing.T) *home.Agent {
	t.Helper()
	ctx := t.Context()
	a, clock := agentIn(t, filepath.Join(t.TempDir(), "home")), newHandClock()
	s := must.Get(Open(ctx, a, Options{Clock: clock.Now, Random: rand.Reader}))(t)
	var rs []amber.WriteRequest
	for i := range 60 {
		rs = append(rs, amber.WriteRequest{Content: fmt.Sprintf("memory %d %s", i, strings.Repeat("with some text ", 20))})
		must.Get(s.SaveTask(ctx, amber.Task{ID: fmt.Sprint("t", i), Goal: strings.Repeat("a goal ", 100)}, 0))(t)
	}
	must.Get(s.WriteBatch(ctx, rs))(t)
	must.Do(t, s.Close())
	return a
}

// useEverything opens the store, reads and checks everything and returns the
// first error.
func useEverything(ctx context.Context, a *home.Agent) error {
	s, err := Open(ctx, a, Options{Clock: newHandClock().Now, Random: rand.Reader})
	if err != nil {
		return err
	}
	defer s.Close()
	if _, err := s.List(ctx, amber.ListQuery{}); err != nil {
		return err
	}
	if _, err := s.ListTasks(ctx, amber.TaskQuery{}); err != nil {
		return err
	}
	for _, f := range s.Check(ctx) {
		if f.Err != nil {
			return f.Err
		}
	}
	return nil
}

// fingerprint describes what is at a path.
func fingerprint(t *testing.T, path string) string {
	t.Helper()
	info, err := os.Lstat(path)
	if os.IsNotExist(err) {
		return "missing"
	}
	must.Do(t, err)
	if !info.Mode().IsRegular() {
		return info.Mode().String()
	}
	return fmt.Sprintf("%s of %d bytes, %x", info.Mode(), info.Size(), sha256.Sum256(must.Get(os.ReadFile(path))(t)))
}
