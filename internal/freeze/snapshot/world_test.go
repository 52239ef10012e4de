package snapshot_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/freeze/snapshot"
	"github.com/amber-memory/amber/internal/store/notes"
	"github.com/amber-memory/amber/internal/test/crashfs"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/store/sqlite"
	"github.com/amber-memory/amber/wire"
)

// world is a home with one agent, as a process sees it.
type world struct {
	t      *testing.T
	dir    string
	home   *home.Home
	agent  *home.Agent
	store  *sqlite.Store
	notes  *notes.Dir
	engine *snapshot.Engine
}

// newWorld makes a home with the agent "default".
func newWorld(t *testing.T, options ...func(*snapshot.Options)) *world {
	t.Helper()
	return openWorld(t, t.TempDir(), options...)
}

// frozen makes a home whose agent remembers one text, and a snapshot of it.
func frozen(t *testing.T, text string, options ...func(*snapshot.Options)) (*world, wire.SnapshotMeta) {
	t.Helper()
	w := newWorld(t, options...)
	w.remember(text)
	return w, w.snapshot()
}

// openWorld opens the agent "default" of a home.
func openWorld(t *testing.T, dir string, options ...func(*snapshot.Options)) *world {
	t.Helper()
	w := &world{t: t, dir: dir}
	var err error
	if w.home, _, err = home.Open(dir, home.Options{Clock: time.Now, Random: rand.Reader}); err != nil {
		t.Fatal(err)
	}
	w.agent = must.Get(w.home.Agent("default", "default"))(t)
	w.openStore()
	w.notes = must.Get(notes.New(notes.Options{Guard: snapshot.NotesGuard(w.agent), Clock: time.Now}))(t)
	o := snapshot.Options{Home: w.home, Clock: time.Now, Random: rand.Reader}
	for _, f := range options {
		f(&o)
	}
	w.engine = must.Get(snapshot.New(o))(t)
	return w
}

func (w *world) openStore() {
	w.t.Helper()
	store := must.Get(sqlite.Open(w.t.Context(), w.agent, sqlite.Options{Clock: time.Now, Random: rand.Reader}))(w.t)
	w.store = store
	w.t.Cleanup(func() { _ = store.Close() })
}

func (w *world) remember(text string) amber.MemoryID {
	w.t.Helper()
	return must.Get(w.store.Write(w.t.Context(), amber.WriteRequest{Content: text, Scope: amber.ScopeGlobal}))(w.t).Memory.ID
}

func (w *world) note(name, text string) {
	w.t.Helper()
	must.Get(w.notes.WriteNote(w.t.Context(), amber.NoteWrite{Name: name, Content: text}))(w.t)
}

// state writes a document of runtime state. A name that no document has becomes a
// file of another program.
func (w *world) state(key, doc string) {
	w.t.Helper()
	if amber.CheckDocumentName(key) != nil {
		dir := filepath.Join(w.gen(), "state")
		must.Do(w.t, errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, key+".json"), []byte(doc), 0o600)))
		return
	}
	must.Get(w.store.Parts().Documents.PutDocument(w.t.Context(), amber.DocumentWrite{Name: key, Document: []byte(doc)}))(w.t)
}

// gen returns the folder of the live generation.
func (w *world) gen() string {
	w.t.Helper()
	return w.agent.GenDir(must.Get(w.agent.Current())(w.t))
}

func (w *world) snapshot(options ...func(*wire.SnapshotRequest)) wire.SnapshotMeta {
	w.t.Helper()
	return must.Get(w.trySnapshot(options...))(w.t)
}

// trySnapshot is snapshot where that may fail.
func (w *world) trySnapshot(options ...func(*wire.SnapshotRequest)) (wire.SnapshotMeta, error) {
	r := wire.SnapshotRequest{Tenant: "default", Agent: "default"}
	for _, f := range options {
		f(&r)
	}
	return w.engine.Snapshot(w.t.Context(), r)
}

// labeled and withSource are options of a snapshot, asNew is one of a restore.
func labeled(s string) func(*wire.SnapshotRequest) {
	return func(r *wire.SnapshotRequest) { r.Label = s }
}

func withSource(name string) func(*wire.SnapshotRequest) {
	return func(r *wire.SnapshotRequest) { r.Sources = []string{name} }
}

func asNew(agent amber.AgentID) func(*wire.RestoreRequest) {
	return func(r *wire.RestoreRequest) { r.To = agent }
}

func ref(id amber.SnapshotID) wire.SnapshotRef {
	return wire.SnapshotRef{Tenant: "default", Agent: "default", ID: id}
}

func (w *world) restore(id amber.SnapshotID, options ...func(*wire.RestoreRequest)) wire.RestoreReport {
	w.t.Helper()
	return must.Get(w.restored(id, options...))(w.t)
}

// tryRestore is restore where that may fail.
func (w *world) tryRestore(id amber.SnapshotID, options ...func(*wire.RestoreRequest)) error {
	return must.Err(w.restored(id, options...))
}

func (w *world) restored(id amber.SnapshotID, options ...func(*wire.RestoreRequest)) (wire.RestoreReport, error) {
	r := wire.RestoreRequest{SnapshotRef: ref(id)}
	for _, f := range options {
		f(&r)
	}
	return w.engine.Restore(w.t.Context(), r)
}

// everything is what an agent is, in a form that can be compared.
type everything struct {
	Memories map[amber.MemoryID]string
	Notes    map[string]string
	State    map[string]string
	Log      map[string]int // commits of each note
}

// all reads the live agent.
func (w *world) all() everything {
	w.t.Helper()
	ctx := w.t.Context()
	e := everything{map[amber.MemoryID]string{}, map[string]string{}, map[string]string{}, map[string]int{}}
	for _, m := range must.Get(memoriesOf(ctx, w.store))(w.t) {
		e.Memories[m.ID] = fmt.Sprint(m.Kind, m.Scope, m.Title, m.Content, m.Tags)
	}
	for _, n := range must.Get(w.notes.ListNotes(ctx))(w.t) {
		e.Notes[n.Name] = must.Get(w.notes.ReadNote(ctx, n.Name))(w.t).Content
		e.Log[n.Name] = len(must.Get(w.notes.LogNote(ctx, n.Name, 100))(w.t))
	}
	for _, f := range must.Get(filepath.Glob(filepath.Join(w.gen(), "state", "*.json")))(w.t) {
		e.State[strings.TrimSuffix(filepath.Base(f), ".json")] = string(must.Get(os.ReadFile(f))(w.t))
	}
	return e
}

// tasks reads the control plane.
func (w *world) tasks() map[string]string { return must.Get(tasksOf(w.t.Context(), w.store))(w.t) }

// tasksOf returns the goals of the tasks of a store, by id.
func tasksOf(ctx context.Context, s *sqlite.Store) (map[string]string, error) {
	page, err := s.ListTasks(ctx, amber.TaskQuery{Limit: amber.MaxPageSize})
	all := map[string]string{}
	for _, task := range page.Items {
		all[task.ID] = task.Goal
	}
	return all, err
}

// memoriesOf returns every memory of a store that is not deleted.
func memoriesOf(ctx context.Context, s *sqlite.Store) (all []amber.Memory, err error) {
	q := amber.ListQuery{All: true, Limit: amber.MaxPageSize}
	for {
		page, err := s.List(ctx, q)
		if err != nil {
			return nil, err
		}
		all = append(all, page.Items...)
		if q.Cursor = page.Next; q.Cursor == "" {
			return all, nil
		}
	}
}

func (w *world) mustBe(want everything) {
	w.t.Helper()
	if diff := cmp.Diff(want, w.all()); diff != "" {
		w.t.Fatalf("the agent differs (-want +got):\n%s", diff)
	}
}

// mustVerify verifies a snapshot with all its data.
func (w *world) mustVerify(id amber.SnapshotID) {
	w.t.Helper()
	if r := w.verify(id); !r.OK() {
		w.t.Fatalf("snapshot %s: %+v", id, r.Damaged)
	}
}

// mustCheck checks the whole repository with all its data.
func (w *world) mustCheck() wire.CheckReport {
	w.t.Helper()
	r := w.check()
	if !r.OK() {
		w.t.Fatalf("the repository is damaged: %+v", r.Damaged)
	}
	return r
}

// git runs git on the live notes.
func (w *world) git(args ...string) string {
	w.t.Helper()
	c := exec.CommandContext(w.t.Context(), "git", append([]string{"-C", filepath.Join(w.gen(), "memdir"), "-c", "user.name=t", "-c", "user.email=t@example.org"}, args...)...)
	out, err := c.CombinedOutput()
	if err != nil {
		w.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// put writes a file below the live notes by hand.
func (w *world) put(name, text string, perm os.FileMode) {
	w.t.Helper()
	path := filepath.Join(w.gen(), "memdir", filepath.FromSlash(name))
	must.Do(w.t, os.MkdirAll(filepath.Dir(path), 0o700))
	must.Do(w.t, os.WriteFile(path, []byte(text), perm))
	must.Do(w.t, os.Chmod(path, perm))
}

func (w *world) show(id amber.SnapshotID) wire.SnapshotDetail {
	w.t.Helper()
	return must.Get(w.engine.ShowSnapshot(w.t.Context(), ref(id)))(w.t)
}

// list returns every snapshot, newest first.
func (w *world) list() (all []wire.SnapshotMeta) {
	w.t.Helper()
	q := wire.SnapshotQuery{Tenant: "default", Agent: "default", Limit: amber.MaxPageSize}
	for {
		page := must.Get(w.engine.ListSnapshots(w.t.Context(), q))(w.t)
		all = append(all, page.Items...)
		if q.Cursor = page.Next; q.Cursor == "" {
			return all
		}
	}
}

// part finds a part of a snapshot.
func part(d wire.SnapshotDetail, name string) *wire.SnapshotPart {
	for i := range d.Parts {
		if d.Parts[i].Name == name {
			return &d.Parts[i]
		}
	}
	return nil
}

// skipped returns why a path was skipped, "" when it was not.
func skipped(list []wire.Skipped, path string) string {
	for _, s := range list {
		if s.Path == path {
			return s.Reason
		}
	}
	return ""
}

// pause stops an engine the first time it reports a step, until the test lets it go on.
type pause struct {
	step    string
	once    sync.Once
	reached chan struct{}
	resume  chan struct{}
}

func newPause(step string) *pause {
	return &pause{step: step, reached: make(chan struct{}), resume: make(chan struct{})}
}

func (p *pause) progress(step string, _, _ int64) {
	if strings.HasPrefix(step, p.step) {
		p.once.Do(func() {
			close(p.reached)
			<-p.resume
		})
	}
}

// during runs op, and runs fn when op has reached the step. Both are over when
// it returns.
func (p *pause) during(t *testing.T, op func() error, fn func()) {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- op() }()
	select {
	case <-p.reached:
		func() {
			defer close(p.resume)
			fn()
		}()
	case err := <-done:
		t.Fatalf("it ended without the step %q: %v", p.step, err)
	}
	must.Do(t, <-done)
}

// sweepHard collects garbage as another process whose clock runs days ahead.
func sweepHard(t *testing.T, dir string) {
	t.Helper()
	a := newActor(t.Context(), t, dir, newMortal(0, nil))
	for range 3 {
		a.shift += 10 * snapshot.DefaultGrace
		report := must.Get(a.engine.CollectGarbage(a.ctx, wire.GCRequest{Tenant: "default"}))(t)
		must.Hold(t, report.InUse && report.Deleted == 0, "gc beside a running operation: %+v", report)
	}
}

// meddling changes a file whenever it is opened for reading.
type meddling struct {
	fsx.FS
	name   string
	mu     sync.Mutex
	times  int // how often; it is left alone then
	meddle func(path string, n int)
}

func (m *meddling) OpenFile(name string, flag int, perm os.FileMode) (fsx.File, error) {
	f, err := m.FS.OpenFile(name, flag, perm)
	m.mu.Lock()
	defer m.mu.Unlock()
	if err == nil && filepath.Base(name) == m.name && m.times > 0 {
		m.times--
		m.meddle(name, m.times)
	}
	return f, err
}

// newImpatient returns an engine that does not wait for other processes.
func newImpatient(t *testing.T, dir string) *snapshot.Engine {
	t.Helper()
	h, _, err := home.Open(dir, home.Options{Clock: time.Now, Random: rand.Reader, Wait: time.Millisecond})
	must.Do(t, err)
	return must.Get(snapshot.New(snapshot.Options{Home: h, Clock: time.Now, Random: rand.Reader, Wait: time.Millisecond}))(t)
}

func checkAcknowledged(t *testing.T, dir string, disk *crashfs.FS, about *prepared, want ...amber.SnapshotID) {
	t.Helper()
	w := openQuickly(t, dir, newSplit(dir, disk, func() {}))
	defer w.store.Close()
	w.mustBe(about.then)
	there := w.list()
	for _, id := range want {
		if !slices.ContainsFunc(there, func(m wire.SnapshotMeta) bool { return m.ID == id && m.Damage == "" }) {
			t.Errorf("snapshot %s is gone", id)
			continue
		}
		w.mustVerify(id)
	}
	w.mustCheck()
}
