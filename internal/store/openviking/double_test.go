package openviking

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/openviking/api"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/inmem"
)

// double is a server in memory with the habits of the real one: white space at the ends goes, a
// trailer is added, a batch needs its folder, and what is deleted need not be there.
type double struct {
	mu       sync.Mutex
	files    map[string]string
	folders  map[string]bool
	blind    map[string]bool       // files without a vector
	deaf     bool                  // the embedder is away: new files get no vector
	lawless  bool                  // folders that are asked for do not count
	stubborn func(uri string) bool // files whose vector cannot be made
	busy     func(uri string) bool // files that can be neither written nor deleted; nil: none
	part     int                   // the most that Missing tells; 0: everything
	crowd    []string              // what Missing tells before our files
	version  string
	user     string
	calls    []string
	// fault is asked before every call: an error ends it, and with after it is done before.
	fault func(op, uri string, n int) (err error, after bool)
	rank  func(text, uri, content string) float64
}

func newDouble() *double {
	return &double{files: map[string]string{}, folders: map[string]bool{}, blind: map[string]bool{}, version: "0.5.2", user: "default", rank: overlap}
}

// overlap is the share of the question's words that a text has, from 0.5 up.
func overlap(text, _, content string) float64 {
	words, has := strings.Fields(strings.ToLower(text)), 0
	for _, w := range words {
		if strings.Contains(strings.ToLower(content), w) {
			has++
		}
	}
	return 0.5 + 0.5*float64(has)/float64(max(len(words), 1))
}

// call runs do as one call of the server.
func (d *double) call(ctx context.Context, op, uri string, do func() error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return amber.Errorf(amber.KindUnreachable, op, uri, "%w", err)
	}
	d.calls = append(d.calls, op+" "+uri)
	if d.fault == nil {
		return do()
	}
	err, after := d.fault(op, uri, len(d.calls))
	if err != nil && after {
		return cmp.Or(do(), err)
	}
	if err != nil {
		return err
	}
	return do()
}

func (d *double) count(prefix string) (n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, c := range d.calls {
		if strings.HasPrefix(c, prefix) {
			n++
		}
	}
	return n
}

func (d *double) set(fault func(op, uri string, n int) (error, bool)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fault, d.calls = fault, nil
}

func (d *double) Health(ctx context.Context) (h api.Health, err error) {
	err = d.call(ctx, "health", "", func() error {
		h = api.Health{Version: d.version, AuthMode: "dev"}
		return nil
	})
	return h, err
}

func (d *double) User(ctx context.Context) (user string, err error) {
	err = d.call(ctx, "user", "", func() error { user = d.user; return nil })
	return user, err
}

func (d *double) Mkdir(ctx context.Context, uri string) error {
	return d.call(ctx, "mkdir", uri, func() error {
		above := folderOf(uri)
		if !d.folders[above] && !strings.HasSuffix(above, "/memories") {
			return amber.Errorf(amber.KindNotFound, "mkdir", uri, "no folder above")
		}
		d.folders[uri] = true
		return nil
	})
}

func (d *double) put(uri, content string) error {
	if strings.Contains(content, trailerMark) || trim(content) != content {
		return amber.Errorf(amber.KindInternal, "write", uri, "the server would change this text")
	}
	d.files[uri] = content + "\n\n" + trailerMark + " {} -->"
	if delete(d.blind, uri); d.deaf {
		d.blind[uri] = true
	}
	return nil
}

func (d *double) WriteBatch(ctx context.Context, root string, files []api.File) error {
	return d.call(ctx, "batch", root, func() error {
		size := 0
		for _, f := range files {
			size += len(f.Content)
			if d.busy != nil && d.busy(f.URI) {
				return amber.Errorf(amber.KindBusy, "batch", f.URI, "path_busy")
			}
		}
		if len(files) > 200 || size > 16<<20 {
			return amber.Errorf(amber.KindInternal, "batch", root, "%d files of %d bytes are too many", len(files), size)
		}
		if !d.folders[root] {
			return amber.Errorf(amber.KindNotFound, "batch", root, "no such folder")
		}
		for _, f := range files {
			if strings.Contains(f.Content, "UNSPEAKABLE") {
				return amber.Errorf(amber.KindInvalid, "batch", f.URI, "not to be written")
			}
		}
		for _, f := range files {
			if !strings.HasPrefix(f.URI, root+"/") {
				return amber.Errorf(amber.KindInternal, "batch", f.URI, "not in %s", root)
			}
			for folder := folderOf(f.URI); folder != root; folder = folderOf(folder) {
				d.folders[folder] = true
			}
			if err := d.put(f.URI, f.Content); err != nil {
				return err
			}
		}
		return nil
	})
}

func (d *double) Write(ctx context.Context, uri, content string) error {
	return d.call(ctx, "write", uri, func() error { return d.put(uri, content) })
}

func (d *double) Find(ctx context.Context, q api.Query) (found []api.Found, err error) {
	err = d.call(ctx, "find", q.Text, func() error {
		for uri, content := range d.files {
			inside := slices.ContainsFunc(q.Targets, func(t string) bool { return strings.HasPrefix(uri, t+"/") })
			if (inside || d.lawless) && !d.blind[uri] {
				found = append(found, api.Found{URI: uri, Score: d.rank(q.Text, uri, content)})
			}
		}
		slices.SortFunc(found, func(a, b api.Found) int { return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.URI, b.URI)) })
		if !d.lawless {
			found = found[:min(len(found), q.Limit)]
		}
		return nil
	})
	return found, err
}

func (d *double) Download(ctx context.Context, uri string) (b []byte, err error) {
	err = d.call(ctx, "download", uri, func() error {
		text, ok := d.files[uri]
		if b = []byte(text); !ok {
			return amber.Errorf(amber.KindNotFound, "download", uri, "no such file")
		}
		return nil
	})
	return b, err
}

func (d *double) List(ctx context.Context, root string, fn func(string) error) error {
	var all []string
	err := d.call(ctx, "list", root, func() error {
		for uri := range d.files {
			if strings.HasPrefix(uri, root+"/") {
				all = append(all, uri)
			}
		}
		for uri := range d.folders {
			if strings.HasPrefix(uri, root+"/") {
				all = append(all, uri)
			}
		}
		if len(all) == 0 {
			return amber.Errorf(amber.KindNotFound, "list", root, "no such folder")
		}
		return nil
	})
	slices.Sort(all)
	for _, uri := range append(all, all...) { // a listing may name some twice
		if err == nil {
			err = fn(uri)
		}
	}
	return err
}

func (d *double) Delete(ctx context.Context, uri string, recursive bool) error {
	return d.call(ctx, "delete", uri, func() error {
		if d.busy != nil && d.busy(uri) {
			return amber.Errorf(amber.KindBusy, "delete", uri, "path_busy")
		}
		delete(d.files, uri)
		delete(d.blind, uri)
		if recursive {
			gone := func(s string) bool { return s == uri || strings.HasPrefix(s, uri+"/") }
			maps.DeleteFunc(d.files, func(s, _ string) bool { return gone(s) })
			maps.DeleteFunc(d.folders, func(s string, _ bool) bool { return gone(s) })
			maps.DeleteFunc(d.blind, func(s string, _ bool) bool { return gone(s) })
		}
		return nil
	})
}

func (d *double) Missing(ctx context.Context, root string) (m api.Missing, err error) {
	err = d.call(ctx, "missing", root, func() error {
		for uri := range d.blind {
			if strings.HasPrefix(uri, root+"/") {
				m.URIs = append(m.URIs, uri)
			}
		}
		slices.Sort(m.URIs)
		m.Expected, m.Whole = len(d.files), true
		m.URIs = append(slices.Concat(d.crowd, m.URIs), root+"/global-0", "viking://user/other/memories/x.md")
		if m.Count = len(m.URIs); d.part > 0 && len(m.URIs) > d.part {
			m.URIs, m.Whole = m.URIs[:d.part], false
		}
		return nil
	})
	return m, err
}

func (d *double) Reindex(ctx context.Context, uri string) (r api.Rebuilt, err error) {
	err = d.call(ctx, "reindex", uri, func() error {
		if d.deaf || d.stubborn != nil && d.stubborn(uri) {
			r = api.Rebuilt{Failed: 1}
			return nil
		}
		delete(d.blind, uri)
		r = api.Rebuilt{Made: 1}
		return nil
	})
	return r, err
}

// cursors keeps cursors in memory.
type cursors struct {
	mu  sync.Mutex
	all map[string]amber.IndexCursor
}

func (c *cursors) IndexCursor(_ context.Context, place string) (amber.IndexCursor, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.all[place], nil
}

func (c *cursors) MoveIndexCursor(_ context.Context, place string, next amber.IndexCursor) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if next.Fence != c.all[place].Fence+1 || len(next.Notes) > amber.MaxIndexNotes {
		return amber.Errorf(amber.KindConflict, "move cursor", place, "fence is %d, want %d", next.Fence, c.all[place].Fence+1)
	}
	c.all[place] = next
	return nil
}

// world is a store with its primary, its server and its clock.
type world struct {
	*Store
	t       testing.TB
	primary *inmem.Store
	server  *double
	cursors *cursors
	now     *fakeClock
	waited  []time.Duration
}

type fakeClock struct {
	mu sync.Mutex
	t  time.Time
}

func (c *fakeClock) read() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(time.Millisecond)
	return c.t
}

func (c *fakeClock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

func newPrimary(t testing.TB, now *fakeClock, seed int64) *inmem.Store {
	t.Helper()
	return must.Get(inmem.New(inmem.Options{Clock: now.read, Random: rand.New(rand.NewSource(seed)), Incarnation: fmt.Sprint("i", seed)}))(t)
}

func newWorld(t testing.TB, change ...func(*Options)) *world {
	t.Helper()
	w := &world{t: t, server: newDouble(), cursors: &cursors{all: map[string]amber.IndexCursor{}}, now: &fakeClock{t: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}}
	w.primary = newPrimary(t, w.now, 1)
	w.open(change...)
	return w
}

// open makes the store anew, as a new process does.
func (w *world) open(change ...func(*Options)) {
	w.t.Helper()
	o := Options{
		Primary: w.primary.Parts(), Cursors: w.cursors, Server: w.server, URL: "http://127.0.0.1:1933",
		Tenant: "default", Agent: "coder", Clock: w.now.read,
		Wait: func(_ context.Context, d time.Duration) error {
			w.waited = append(w.waited, d)
			w.now.pass(d)
			return nil
		},
	}
	for _, c := range change {
		c(&o)
	}
	w.Store = must.Get(New(o))(w.t)
}

// many says so many things.
func (w *world) many(n int) {
	w.t.Helper()
	for i := range n {
		w.say(fmt.Sprint("memory ", i))
	}
}

// at does something before each call of one kind, which fails with its error.
func (w *world) at(op string, do func() error) {
	w.server.set(func(o, _ string, _ int) (error, bool) {
		if o == op {
			return do(), false
		}
		return nil, false
	})
}

func (w *world) write(r amber.WriteRequest) amber.Memory {
	w.t.Helper()
	return must.Get(w.Write(w.t.Context(), r))(w.t).Memory
}

func (w *world) say(content string) amber.Memory {
	w.t.Helper()
	return w.write(amber.WriteRequest{Content: content})
}

func (w *world) edit(id amber.MemoryID, content string) {
	w.t.Helper()
	must.Get(w.primary.Edit(w.t.Context(), amber.EditRequest{ID: id, Content: &content}))(w.t)
}

func (w *world) feed() Report {
	w.t.Helper()
	r := must.Get(w.Feed(w.t.Context(), Budget{}))(w.t)
	must.Hold(w.t, r.Done, "the feed is not done: %+v", r)
	return r
}

// uris are the names of the files that the server should have.
func (w *world) uris() (all []string) {
	w.t.Helper()
	must.Do(w.t, w.eachLive(w.t.Context(), func(page []amber.Memory) error {
		for i := range page {
			if m := &page[i]; w.o.leaves(m.Scope) {
				all = append(all, layout{"default", "default", "coder"}.uri(m, bodyOf(m, w.o.Redact)))
			}
		}
		return nil
	}))
	slices.Sort(all)
	return all
}

// equal reports where the files of the server are not those of the live memories.
func (w *world) equal(what string) {
	w.t.Helper()
	w.server.mu.Lock()
	there := slices.Sorted(maps.Keys(w.server.files))
	w.server.mu.Unlock()
	must.Equal(w.t, what, there, w.uris())
}

func unreachable(op string) error {
	return amber.Errorf(amber.KindUnreachable, op, "", "connection refused")
}
