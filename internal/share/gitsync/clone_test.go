package gitsync_test

import (
	"cmp"
	"crypto/rand"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/guard/redact"
	"github.com/amber-memory/amber/internal/share/gitsync"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/store/sqlite"
	"github.com/amber-memory/amber/wire"
)

// shop is the project of most memories in these tests.
const shop = "acme/shop"

// wrist is a clock that goes on by a millisecond at each look, and can be set.
type wrist struct {
	mu sync.Mutex
	at time.Time
}

func newWrist() *wrist { return &wrist{at: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)} }

func (w *wrist) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.at = w.at.Add(time.Millisecond)
	return w.at
}

func (w *wrist) turn(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.at = w.at.Add(d)
}

// rules take secrets out for every clone: a redactor compiles its expressions when they are first used.
var rules = redact.New()

// clone is a person with a store and a folder.
type clone struct {
	*sqlite.Store
	t      *testing.T
	clock  *wrist
	home   string
	folder string
	sync   *gitsync.Sync
}

func newClone(t *testing.T) *clone {
	t.Helper()
	return cloneAt(t, t.TempDir(), gitsync.Options{Prompts: true})
}

// cloneAt opens a clone below a folder that is there.
func cloneAt(t *testing.T, dir string, o gitsync.Options) *clone {
	t.Helper()
	c := &clone{t: t, clock: newWrist(), home: filepath.Join(dir, "home"), folder: filepath.Join(dir, "tree", ".amber")}
	if o.Format == wire.SyncEngram {
		c.folder = filepath.Join(dir, "tree", ".engram")
	}
	must.Do(t, os.MkdirAll(filepath.Dir(c.folder), 0o755))
	c.open(o)
	return c
}

func (c *clone) open(o gitsync.Options) {
	c.t.Helper()
	h, _, err := home.Open(c.home, home.Options{Clock: c.clock.now, Random: rand.Reader})
	must.Do(c.t, err)
	agent := must.Get(h.Agent(amber.DefaultTenant, amber.DefaultAgent))(c.t)
	store := must.Get(sqlite.Open(c.t.Context(), agent, sqlite.Options{Clock: c.clock.now, Random: rand.Reader}))(c.t)
	c.t.Cleanup(func() { store.Close() })
	o.Redact = cmp.Or(o.Redact, rules)
	c.Store, c.sync = store, must.Get(o.Open(store, c.folder))(c.t)
}

// save writes a memory of the project.
func (c *clone) save(content string) amber.MemoryID {
	c.t.Helper()
	return c.write(amber.WriteRequest{Content: content})
}

// write writes a memory, of the project unless it says otherwise.
func (c *clone) write(r amber.WriteRequest) amber.MemoryID {
	c.t.Helper()
	if r.Scope == "" {
		r.Scope, r.ProjectID = amber.ScopeProject, shop
	}
	return must.Get(c.Write(c.t.Context(), r))(c.t).ID
}

func (c *clone) edit(id amber.MemoryID, content string) {
	c.t.Helper()
	must.Get(c.Edit(c.t.Context(), amber.EditRequest{ID: id, Content: &content}))(c.t)
}

func (c *clone) export(o gitsync.ExportOptions) wire.SyncExport {
	c.t.Helper()
	return must.Get(c.sync.Export(c.t.Context(), o))(c.t)
}

// shares saves a memory and exports it.
func (c *clone) shares(content string) amber.MemoryID {
	c.t.Helper()
	id := c.save(content)
	c.export(gitsync.ExportOptions{})
	return id
}

// exportsNothing exports, and reports what that wrote.
func (c *clone) exportsNothing() {
	c.t.Helper()
	if r := c.export(gitsync.ExportOptions{}); !r.IsEmpty {
		c.t.Errorf("an export of nothing new to %s: %+v", c.folder, r)
	}
}

func (c *clone) imports() wire.SyncImport {
	c.t.Helper()
	return must.Get(c.sync.Import(c.t.Context()))(c.t)
}

func (c *clone) status() wire.SyncStatus {
	c.t.Helper()
	return must.Get(c.sync.Status(c.t.Context(), ""))(c.t)
}

// texts returns the contents of all live memories, sorted.
func (c *clone) texts() []string {
	c.t.Helper()
	out := []string{}
	for q := (amber.ListQuery{All: true, Limit: amber.MaxPageSize}); ; {
		page := must.Get(c.List(c.t.Context(), q))(c.t)
		for _, m := range page.Items {
			out = append(out, m.Content)
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			slices.Sort(out)
			return out
		}
	}
}

// gives copies the folder's chunks to another clone, as a merge would.
func (c *clone) gives(to *clone) {
	c.t.Helper()
	for _, name := range c.files() {
		to.put(name, must.Get(os.ReadFile(filepath.Join(c.folder, name)))(c.t))
	}
}

// put writes a file into the folder, as git does.
func (c *clone) put(name string, b []byte) {
	c.t.Helper()
	path := filepath.Join(c.folder, name)
	must.Do(c.t, os.MkdirAll(filepath.Dir(path), 0o755))
	must.Do(c.t, os.WriteFile(path, b, 0o644))
}

// files returns what git would track in the folder, sorted.
func (c *clone) files() []string {
	c.t.Helper()
	out := []string{}
	err := filepath.WalkDir(c.folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(c.folder, path)
		if err == nil && !strings.HasPrefix(rel, "local"+string(filepath.Separator)) {
			out = append(out, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		c.t.Fatal(err)
	}
	slices.Sort(out)
	return out
}

// chunkFiles returns the chunk files alone.
func (c *clone) chunkFiles() []string {
	return slices.DeleteFunc(c.files(), func(f string) bool { return !strings.HasPrefix(f, "chunks/") })
}
