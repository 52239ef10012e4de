package sqlite

import (
	"context"
	"crypto/rand"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/home"
)

func TestOptionsDefaults(t *testing.T) {
	t.Parallel()
	clock := newHandClock()
	for name, o := range map[string]Options{"no clock": {Random: rand.Reader}, "no random source": {Clock: clock.Now}, "neither": {}} {
		must.Fail(Open(t.Context(), agentIn(t, filepath.Join(t.TempDir(), "home")), o))(t, name, amber.KindInvalid)
	}
	o := must.Get(Options{Clock: clock.Now, Random: rand.Reader}.withDefaults())(t)
	if o.BusyTimeout != 30*time.Second || o.Readers < max(4, runtime.GOMAXPROCS(0)+1) || o.NetworkFS == nil {
		t.Errorf("busy timeout %s, %d readers", o.BusyTimeout, o.Readers)
	}
	if want := (amber.QueueOptions{}).WithDefaults(); o.Queue != want {
		t.Errorf("queue options are %+v, want %+v", o.Queue, want)
	}
	o = must.Get(Options{Clock: clock.Now, Random: rand.Reader, BusyTimeout: time.Second, Readers: 1}.withDefaults())(t)
	if o.BusyTimeout != time.Second || o.Readers != 1 {
		t.Errorf("what was set is lost: %s, %d readers", o.BusyTimeout, o.Readers)
	}
}

func TestNetworkFileSystemIsRefused(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "home")
	o := Options{Clock: newHandClock().Now, Random: rand.Reader, NetworkFS: func(string) (string, bool) { return "nfs4", true }}
	local := o
	local.NetworkFS = func(string) (string, bool) { return "ext4", false }
	for _, when := range []string{"a new agent", "an agent that exists"} {
		_, err := Open(t.Context(), agentIn(t, dir), o)
		must.Kind(t, when, err, amber.KindRefused)
		if e, ok := errors.AsType[*amber.Error](err); !ok || e.Hint == "" {
			t.Errorf("%s: %v has no hint", when, err)
		}
		openAgent(t, agentIn(t, dir), local) // what was refused left nothing in the way
	}
}

func TestKeepSchemaMakesNoAgent(t *testing.T) {
	t.Parallel()
	a := agentIn(t, filepath.Join(t.TempDir(), "home"))
	_, err := Open(t.Context(), a, Options{Clock: newHandClock().Now, Random: rand.Reader, KeepSchema: true})
	must.Kind(t, "open of an agent that is not there", err, amber.KindNotFound)
	must.Is(t, "its folder", must.Err(os.Lstat(a.Dir())), fs.ErrNotExist)
}

func TestClosedStore(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, _ := freshStore(t, amber.QueueOptions{})
	id := save(t, s, amber.WriteRequest{Content: "a"})
	must.Do(t, s.Close())
	must.Do(t, s.Close())
	for name, use := range map[string]func() error{
		"write":      func() error { return only(s.Write(ctx, amber.WriteRequest{Content: "b"})) },
		"get":        func() error { return only(s.Get(ctx, id)) },
		"recall":     func() error { return only(s.Recall(ctx, amber.Query{Text: "a"})) },
		"list":       func() error { return only(s.List(ctx, amber.ListQuery{})) },
		"erase":      func() error { return only(s.Erase(ctx, id)) },
		"changes":    func() error { return only(s.Changes(ctx, "", 1)) },
		"stats":      func() error { return only(s.Stats(ctx)) },
		"deep check": func() error { return s.DeepCheck(ctx) },
		"task":       func() error { return only(s.SaveTask(ctx, amber.Task{ID: "t", Goal: "g"}, 0)) },
		"tasks":      func() error { return only(s.ListTasks(ctx, amber.TaskQuery{})) },
		"claim":      func() error { return only(s.Claim(ctx, "c")) },
	} {
		must.Kind(t, name+" after close", use(), amber.KindInvalid)
	}
	if h := must.Get(s.Health(ctx))(t); h.Status != amber.Unavailable || h.Detail == "" {
		t.Errorf("a closed store is %+v", h)
	}
}

func only[T any](_ T, err error) error { return err }

// A call that is inside when the store is closed finishes; the connections are
// closed after that.
func TestCloseBesideAReader(t *testing.T) {
	t.Parallel()
	s, _ := freshStore(t, amber.QueueOptions{})
	save(t, s, amber.WriteRequest{Content: "a"})
	var h *handles
	must.Do(t, s.memory.View(t.Context(), "hold", "", func(x *tx) error {
		h = s.memory.live
		must.Do(t, s.Close())
		var n int
		return x.Row(`SELECT count(*) FROM memories`).Scan(&n)
	}))
	must.Equal(t, "open connections", h.readers.DB.Stats().OpenConnections, 0)
}

func TestConcurrentOpensMakeOneAgent(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	dir := filepath.Join(t.TempDir(), "home")
	const openers = 8
	stores := make([]*Store, openers)
	errs := make([]error, openers)
	var begin, done sync.WaitGroup
	begin.Add(1)
	for i := range openers {
		a := agentIn(t, dir)
		done.Go(func() {
			begin.Wait()
			stores[i], errs[i] = Open(ctx, a, Options{Clock: newHandClock().Now, Random: rand.Reader})
		})
	}
	begin.Done()
	done.Wait()
	must.Do(t, errors.Join(errs...))
	currents := map[home.Current]bool{}
	for i, s := range stores {
		t.Cleanup(func() { must.Do(t, s.Close()) })
		save(t, s, amber.WriteRequest{Content: fmt.Sprint("of opener ", i)})
		currents[must.Get(s.Agent().Current())(t)] = true
	}
	must.Equal(t, "agents", len(currents), 1)
	must.Equal(t, "memories in the one agent", must.Get(stores[0].Stats(ctx))(t).Memories, openers)
}

func TestOpeningWritesNothing(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	a := filledAgent(t)
	before := tree(t, a.Dir())
	for _, keep := range []bool{false, true} {
		s := must.Get(Open(ctx, a, Options{Clock: newHandClock().Now, Random: rand.Reader, KeepSchema: keep}))(t)
		must.Get(s.List(ctx, amber.ListQuery{}))(t)
		must.Get(s.ListTasks(ctx, amber.TaskQuery{}))(t)
		must.Do(t, s.Close())
	}
	must.Equal(t, "files", tree(t, a.Dir()), before)
}

// tree describes every file below a folder.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	must.Do(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files[path] = fingerprint(t, path)
		}
		return err
	}))
	return files
}

func TestSQLiteVersion(t *testing.T) {
	t.Parallel()
	s, _ := freshStore(t, amber.QueueOptions{})
	must.Do(t, checkSQLite(t.Context(), s.memory.live.readers.DB)) // the one this binary carries
	for version, want := range map[string]amber.Kind{
		"3.51.0": "", "3.51.3": "", "4.0.0": "",
		"3.50.9": amber.KindInternal, "3.40.1": amber.KindInternal, "2.99.99": amber.KindInternal, "trunk": amber.KindInternal, "": amber.KindInternal,
	} {
		db := sql.OpenDB(versionDriver(version))
		if got := amber.KindOf(checkSQLite(t.Context(), db)); got != want {
			t.Errorf("SQLite %q gives %q, want %q", version, got, want)
		}
		must.Do(t, db.Close())
	}
}

// versionDriver answers every query with a version.
type versionDriver string

func (v versionDriver) Connect(context.Context) (driver.Conn, error) {
	return versionConn{version: v}, nil
}
func (v versionDriver) Driver() driver.Driver { return nil }

type versionConn struct {
	driver.Conn
	version versionDriver
}

func (c versionConn) Close() error { return nil }

func (c versionConn) QueryContext(context.Context, string, []driver.NamedValue) (driver.Rows, error) {
	return &versionRows{version: c.version}, nil
}

type versionRows struct {
	version versionDriver
	read    bool
}

func (r *versionRows) Columns() []string { return []string{"sqlite_version()"} }
func (r *versionRows) Close() error      { return nil }

func (r *versionRows) Next(row []driver.Value) error {
	if r.read {
		return io.EOF
	}
	r.read, row[0] = true, string(r.version)
	return nil
}

// Every leaf of the tables that grow is made unreadable: what opens without an
// error has not read them.
func TestOpenReadsNoTableThatGrows(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	a, clock := agentIn(t, filepath.Join(t.TempDir(), "home")), newHandClock()
	o := Options{Clock: clock.Now, Random: rand.Reader}
	s := must.Get(Open(ctx, a, o))(t)
	var rs []amber.WriteRequest
	for i := range 200 {
		rs = append(rs, amber.WriteRequest{Content: fmt.Sprintf("memory %d %s", i, strings.Repeat("with some text ", 20))})
	}
	must.Get(s.WriteBatch(ctx, rs))(t)
	path := s.memory.path(must.Get(a.Current())(t))
	pages := growingPages(t, s)
	must.Do(t, s.Close())
	if len(pages) < 20 {
		t.Fatalf("the tables have only %d pages", len(pages))
	}
	file := must.Get(os.OpenFile(path, os.O_RDWR, 0))(t)
	for _, p := range pages {
		must.Get(file.WriteAt(slices.Repeat([]byte{0xff}, 4096), (p-1)*4096))(t)
	}
	must.Do(t, file.Close())

	s = openAgent(t, a, o)
	must.Fail(s.List(ctx, amber.ListQuery{}))(t, "list of what is damaged", amber.KindDamaged)
}

// growingPages returns the leaves of the tables that grow with the number of
// memories.
func growingPages(t *testing.T, s *Store) []int64 {
	t.Helper()
	return look(t, s.memory, scanInt, `SELECT pageno FROM dbstat WHERE pagetype = 'leaf' AND path <> '/'
AND name IN ('memories', 'changes', 'memories_created', 'memories_updated', 'memory_fts_data', 'memory_grams_data', 'memory_fts_docsize', 'memory_grams_docsize')`)
}
