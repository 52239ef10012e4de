package snapshot_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/snapshot"
	"github.com/amber-memory/amber/internal/store/notes"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/store/sqlite"
	"github.com/amber-memory/amber/store/storetest"
	"github.com/amber-memory/amber/wire"
)

// The names that the promises use.
const (
	tenant  amber.TenantID = "acme"
	foreign amber.TenantID = "other"
)

// unknown is the id of no snapshot.
const unknown amber.SnapshotID = "0195a0b0-0000-7000-8000-000000000000"

// site is a home with several agents, whose clock the test moves.
type site struct {
	ctx    context.Context
	dir    string
	clock  *storetest.Clock
	home   *home.Home
	engine *snapshot.Engine
	said   int // how many texts were made
}

func newSite(t *testing.T) *site {
	return &site{ctx: t.Context(), dir: t.TempDir(), clock: storetest.NewClock(time.Date(2026, time.March, 12, 9, 30, 0, 0, time.UTC))}
}

// reopen opens the home anew, as another process would. Syncs do not reach the
// disk: power cuts have tests of their own.
func (w *site) reopen() {
	var err error
	fsys := newMortal(0, nil)
	w.home, _, err = home.Open(w.dir, home.Options{Clock: w.clock.Now, Random: rand.Reader, FS: fsys})
	do(err)
	w.engine = get(snapshot.New(snapshot.Options{Home: w.home, Clock: w.clock.Now, Random: rand.Reader, FS: fsys}))
}

func (w *site) now() amber.Time { return amber.At(w.clock.Now()) }

// pass moves the clock.
func (w *site) pass(d time.Duration) { w.clock.Advance(d) }

// tick moves the clock to another second, so that what comes is newer.
func (w *site) tick() { w.pass(time.Second) }

// text returns a text that was never used.
func (w *site) text(about string) string {
	w.said++
	return fmt.Sprintf("%s, text %d", about, w.said)
}

// memory returns a memory that was never written.
func (w *site) memory() Memory {
	kinds := amber.MemoryKinds()
	m := Memory{Kind: kinds[w.said%len(kinds)], Content: w.text("a memory")}
	m.Title = fmt.Sprint("title ", w.said)
	if w.said%2 == 0 {
		m.Tags = []string{"even", fmt.Sprint("tag-", w.said)}
	}
	return m
}

// resident is an agent of a site, and what it should hold.
type resident struct {
	w      *site
	tenant amber.TenantID
	id     amber.AgentID
	model  Model
}

// agent returns an agent that is not made.
func (w *site) agent(t amber.TenantID, id amber.AgentID) *resident {
	return &resident{w, t, id, emptyModel()}
}

// made makes an agent with nothing in it.
func (w *site) made(t amber.TenantID, id amber.AgentID) *resident {
	a := w.agent(t, id)
	a.with(func(*sqlite.Store) error { return nil })
	return a
}

// lives are agents as [site.lived] makes them, by tenant and name: each is made
// once, and copied to every other home that wants it.
var lives = struct {
	sync.Mutex
	made map[string]life
}{made: map[string]life{}}

type life struct {
	files fstest.MapFS // of the folder of the agent
	model Model
	said  int
}

// lived makes an agent that has some of everything.
func (w *site) lived(t amber.TenantID, id amber.AgentID) *resident {
	dir := filepath.Join("tenants", string(t), "agents", string(id))
	lives.Lock()
	defer lives.Unlock()
	l, ok := lives.made[dir]
	if !ok {
		a := w.grown(t, id)
		l = life{read(filepath.Join(w.dir, dir)), a.model.clone(), w.said}
		lives.made[dir] = l
		return a
	}
	do(os.CopyFS(filepath.Join(w.dir, dir), l.files))
	w.said = max(w.said, l.said)
	a := w.agent(t, id)
	a.model = l.model.clone()
	return a
}

// read reads all files of a folder.
func read(dir string) fstest.MapFS {
	files := fstest.MapFS{}
	do(filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		files[filepath.ToSlash(rel)] = &fstest.MapFile{Data: b, Mode: 0o600}
		return err
	}))
	return files
}

// grown makes an agent and writes four memories, three notes and a state.
func (w *site) grown(t amber.TenantID, id amber.AgentID) *resident {
	a := w.made(t, id)
	for range 4 {
		a.remember()
	}
	for _, name := range []string{"plan", "people/ann", "people/bob"} {
		a.note(name)
	}
	a.state(amber.StateExtractCursor)
	return a
}

func (a *resident) handle() *home.Agent { return get(a.w.home.Agent(a.tenant, a.id)) }

// with opens the store for one call, as a command would.
func (a *resident) with(fn func(s *sqlite.Store) error) {
	s := get(sqlite.Open(a.w.ctx, a.handle(), sqlite.Options{Clock: a.w.clock.Now, Random: rand.Reader}))
	do(errors.Join(fn(s), s.Close()))
}

func (a *resident) notes() *notes.Dir {
	return get(notes.New(notes.Options{Guard: snapshot.NotesGuard(a.handle()), Clock: a.w.clock.Now}))
}

// write writes a memory, which the model does not learn of.
func (a *resident) write(m Memory) (id amber.MemoryID) {
	a.with(func(s *sqlite.Store) error {
		ack, err := s.Write(a.w.ctx, amber.WriteRequest{Kind: m.Kind, Title: m.Title, Content: m.Content, Tags: m.Tags})
		id = ack.ID
		return err
	})
	return id
}

func (a *resident) remember() amber.MemoryID {
	m := a.w.memory()
	id := a.write(m)
	a.model.Memories[id] = m
	return id
}

func (a *resident) edit(id amber.MemoryID) {
	m := a.w.memory()
	a.with(func(s *sqlite.Store) error {
		return must.Err(s.Edit(a.w.ctx, amber.EditRequest{ID: id, Kind: &m.Kind, Title: &m.Title, Content: &m.Content, Tags: &m.Tags}))
	})
	a.model.Memories[id] = m
}

func (a *resident) forget(id amber.MemoryID) {
	a.with(func(s *sqlite.Store) error { return s.Delete(a.w.ctx, id) })
	delete(a.model.Memories, id)
}

func (a *resident) erase(id amber.MemoryID) {
	a.with(func(s *sqlite.Store) error { return must.Err(s.Erase(a.w.ctx, id)) })
	delete(a.model.Memories, id)
}

// task saves a task of the control plane.
func (a *resident) task(id string) {
	goal := a.w.text("a goal")
	a.with(func(s *sqlite.Store) error {
		task, err := s.Task(a.w.ctx, id)
		if err != nil {
			task = amber.Task{ID: id, State: amber.TaskQueued}
		}
		task.Goal = goal
		return must.Err(s.SaveTask(a.w.ctx, task, task.Version))
	})
	a.model.Tasks[id] = goal
}

// writeNote writes a note, which the model does not learn of.
func (a *resident) writeNote(name, text string) {
	get(a.notes().WriteNote(a.w.ctx, amber.NoteWrite{Name: name, Content: text}))
}

func (a *resident) note(name string) {
	text := a.w.text("a note") + "\n"
	a.writeNote(name, text)
	a.model.Notes[name] = text
}

func (a *resident) dropNote(name string) {
	do(a.notes().DeleteNote(a.w.ctx, name, amber.NoteBy{}))
	delete(a.model.Notes, name)
}

func (a *resident) state(key string) {
	doc := fmt.Sprintf(`{"said":%q}`, a.w.text("a state"))
	a.putState(key, doc)
	a.model.State[key] = doc
}

func (a *resident) clearState(key string) {
	a.putState(key, "")
	delete(a.model.State, key)
}

// putState writes a document, which the model does not learn of; "" removes it.
func (a *resident) putState(key, doc string) {
	agent := a.handle()
	do(agent.Write(a.w.ctx, "state", func(c home.Current) error {
		dir := filepath.Join(agent.GenDir(c), "state")
		file := filepath.Join(dir, key+".json")
		if doc == "" {
			return os.RemoveAll(file)
		}
		return errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(file, []byte(doc), 0o600))
	}))
}

// read reads everything back. An agent that does not exist is an error, and is
// not made.
func (a *resident) read() (Model, error) {
	m := emptyModel()
	c, err := a.handle().Current()
	if err != nil {
		return m, err
	}
	a.with(func(s *sqlite.Store) error {
		all, err := memoriesOf(a.w.ctx, s)
		for _, x := range all {
			m.Memories[x.ID] = Memory{Kind: x.Kind, Title: x.Title, Content: x.Content, Tags: x.Tags}
		}
		m.Tasks = get(tasksOf(a.w.ctx, s))
		return err
	})
	d := a.notes()
	for _, n := range get(d.ListNotes(a.w.ctx)) {
		m.Notes[n.Name] = get(d.ReadNote(a.w.ctx, n.Name)).Content
	}
	for _, f := range get(filepath.Glob(filepath.Join(a.handle().GenDir(c), "state", "*.json"))) {
		m.State[strings.TrimSuffix(filepath.Base(f), ".json")] = string(get(os.ReadFile(f)))
	}
	return m, nil
}

// memories returns the ids of what the agent remembers, sorted.
func (a *resident) memories() []amber.MemoryID { return slices.Sorted(maps.Keys(a.model.Memories)) }

// live adds, changes and removes some of everything: three memories and two
// notes more, one of each and the state changed, two memories and a note less.
func (a *resident) live() {
	ids := a.memories()
	a.edit(ids[0])
	a.forget(ids[1])
	a.forget(ids[2])
	for range 3 {
		a.remember()
	}
	notes := slices.Sorted(maps.Keys(a.model.Notes))
	a.dropNote(notes[0])
	a.note(notes[1])
	a.note(fmt.Sprintf("daily/day-%d", a.w.said))
	a.note(fmt.Sprintf("daily/night-%d", a.w.said))
	a.state(amber.StateExtractCursor)
	a.state(amber.StateLastConsolidation)
}

// is ends the check unless the agent is what it should be.
func (a *resident) is(model Model, what string) {
	equal(get(a.read()), model, "agent %s %s", a.id, what)
}

// isAbsent ends the check unless there is no such agent.
func (a *resident) isAbsent(what string) {
	refused(must.Err(a.read()), amber.KindNotFound, "agent %s %s", a.id, what)
}

func (a *resident) ref(id amber.SnapshotID) wire.SnapshotRef {
	return wire.SnapshotRef{Tenant: a.tenant, Agent: a.id, ID: id}
}

// taken is a snapshot, and the agent it should hold.
type taken struct {
	wire.SnapshotMeta
	model Model
}

// snapshot takes a snapshot at a new time.
func (a *resident) snapshot(label string) taken {
	a.w.tick()
	m := get(a.w.engine.Snapshot(a.w.ctx, wire.SnapshotRequest{Tenant: a.tenant, Agent: a.id, Label: label}))
	return taken{m, a.model.clone()}
}

// restore restores a snapshot at a new time.
func (a *resident) restore(r wire.RestoreRequest) wire.RestoreReport {
	a.w.tick()
	return get(a.w.engine.Restore(a.w.ctx, r))
}

// returns restores all of a snapshot but the control plane, and ends the check
// unless the agent is what it was. It returns the safety snapshot.
func (a *resident) returns(to taken) taken { return a.comesBack(to, false) }

// comesBack is returns with or without the control plane.
func (a *resident) comesBack(to taken, control bool) taken {
	before := a.model
	r := a.restore(wire.RestoreRequest{SnapshotRef: a.ref(to.ID), WithControl: control})
	a.model = to.model.clone()
	if !control {
		a.model.Tasks = maps.Clone(before.Tasks)
	}
	a.is(a.model, "after the restore of snapshot "+to.Label)
	return taken{wire.SnapshotMeta{ID: r.SafetySnapshot, Label: wire.LabelBeforeRestore + string(to.ID)}, before}
}

// list returns all snapshots of the agent, newest first.
func (a *resident) list() []wire.SnapshotMeta { return a.pages(0) }

// maxPages bounds how long the suite follows a listing that does not end.
const maxPages = 1000

// pages returns all snapshots, so many at a time.
func (a *resident) pages(limit int) (all []wire.SnapshotMeta) {
	q := wire.SnapshotQuery{Tenant: a.tenant, Agent: a.id, Limit: limit}
	for range maxPages {
		page := get(a.w.engine.ListSnapshots(a.w.ctx, q))
		hold(page.Items != nil, "the items of a page are nil")
		hold(limit == 0 || len(page.Items) <= limit, "a page of %d has %d snapshots", limit, len(page.Items))
		all = append(all, page.Items...)
		if q.Cursor = page.Next; q.Cursor == "" {
			return all
		}
		hold(len(page.Items) > 0, "a page is empty and yet has a next page")
	}
	fail(fmt.Errorf("the listing does not end after %d pages", maxPages))
	return nil
}

// ids returns the ids of all snapshots, newest first.
func (a *resident) ids() []amber.SnapshotID { return idsOf(a.list()) }

func idsOf(list []wire.SnapshotMeta) []amber.SnapshotID {
	ids := []amber.SnapshotID{}
	for _, m := range list {
		ids = append(ids, m.ID)
	}
	return ids
}

// lists ends the check unless exactly these snapshots are there, newest first.
func (a *resident) lists(want ...amber.SnapshotID) {
	got := a.ids()
	hold(slices.Equal(got, want), "snapshots of agent %s: got %v, want %v", a.id, got, want)
}
