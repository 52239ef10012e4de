package snapshot_test

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

var (
	modelSnapshots = flag.Int("model.snapshots", 5, "how many snapshots of a changing agent are taken and restored")
	modelSeed      = flag.Uint64("model.seed", 1, "the seed of the changes")
)

// moment is everything a snapshot must bring back.
type moment struct {
	everything
	Tasks map[string]string // of the control plane
}

func (m moment) clone() moment {
	m.Memories, m.Notes = maps.Clone(m.Memories), maps.Clone(m.Notes)
	m.State, m.Log, m.Tasks = maps.Clone(m.State), maps.Clone(m.Log), maps.Clone(m.Tasks)
	return m
}

// model follows an agent: what it is now, what it was in each snapshot, and
// what was erased for good.
type model struct {
	w       *world
	fs      fsx.FS
	r       *rand.Rand
	now     moment
	past    map[amber.SnapshotID]moment
	order   []amber.SnapshotID // oldest first
	erased  map[amber.MemoryID]bool
	written int
}

func newModel(t *testing.T, seed uint64) *model {
	t.Helper()
	fsys := newMortal(0, nil)
	return &model{
		w: openQuickly(t, t.TempDir(), fsys), fs: fsys, r: rand.New(rand.NewPCG(seed, 0)),
		now: moment{
			everything{map[amber.MemoryID]string{}, map[string]string{}, map[string]string{}, map[string]int{}},
			map[string]string{},
		},
		past: map[amber.SnapshotID]moment{}, erased: map[amber.MemoryID]bool{},
	}
}

// text returns a text that the model has not written before.
func (m *model) text() string {
	m.written++
	return fmt.Sprintf("thought %d: %x", m.written, m.r.Uint64())
}

// one returns a random key of a map, "" when it is empty. Maps are walked in
// the order of their keys, so that a seed gives the same history.
func one[K ~string, V any](r *rand.Rand, from map[K]V) K {
	if len(from) == 0 {
		return ""
	}
	keys := slices.Sorted(maps.Keys(from))
	return keys[r.IntN(len(keys))]
}

// change does something to the agent and to the model.
func (m *model) change() {
	w, ctx := m.w, m.w.t.Context()
	w.t.Helper()
	id := one(m.r, m.now.Memories)
	switch n := m.r.IntN(14); {
	case n < 4 || id == "":
		text := m.text()
		id = w.remember(text)
		m.now.Memories[id] = m.saved(id)
	case n == 4:
		text := m.text()
		must.Get(w.store.Edit(ctx, amber.EditRequest{ID: id, Content: &text}))(w.t)
		m.now.Memories[id] = m.saved(id)
	case n == 5:
		must.Do(w.t, w.store.Delete(ctx, id))
		delete(m.now.Memories, id)
	case n == 6:
		must.Get(w.store.Erase(ctx, id))(w.t)
		delete(m.now.Memories, id)
		m.erased[id] = true
	case n < 9:
		name := fmt.Sprint("note-", m.r.IntN(6))
		text := m.text() + "\n"
		w.note(name, text)
		m.now.Notes[name] = text
		m.now.Log[name] = m.commitsOf(name)
	case n == 9:
		if name := one(m.r, m.now.Notes); name != "" {
			must.Do(w.t, w.notes.DeleteNote(ctx, name, amber.NoteBy{}))
			delete(m.now.Notes, name)
			delete(m.now.Log, name)
		}
	case n == 10:
		key := []string{amber.StateExtractCursor, amber.StateLastConsolidation}[m.r.IntN(2)]
		doc := fmt.Sprintf(`{"n":%d}`, m.r.IntN(1000))
		w.state(key, doc)
		m.now.State[key] = doc
	case n == 11:
		if key := one(m.r, m.now.State); key != "" {
			must.Do(w.t, os.Remove(filepath.Join(w.gen(), "state", key+".json")))
			delete(m.now.State, key)
		}
	default:
		task := fmt.Sprint("task-", m.r.IntN(5))
		goal := m.text()
		stored, err := w.store.Task(ctx, task)
		if err != nil {
			stored = amber.Task{ID: task, State: amber.TaskQueued}
		}
		stored.Goal = goal
		must.Get(w.store.SaveTask(ctx, stored, stored.Version))(w.t)
		m.now.Tasks[task] = goal
	}
}

// saved returns a memory as [world.all] tells it.
func (m *model) saved(id amber.MemoryID) string {
	m.w.t.Helper()
	got := must.Get(m.w.store.Get(m.w.t.Context(), id))(m.w.t)
	return fmt.Sprint(got.Kind, got.Scope, got.Title, got.Content, got.Tags)
}

func (m *model) commitsOf(name string) int {
	m.w.t.Helper()
	return len(must.Get(m.w.notes.LogNote(m.w.t.Context(), name, 100))(m.w.t))
}

// tasks reads the control plane.
func (w *world) tasks() map[string]string {
	w.t.Helper()
	page := must.Get(w.store.ListTasks(w.t.Context(), amber.TaskQuery{Limit: amber.MaxPageSize}))(w.t)
	all := map[string]string{}
	for _, task := range page.Items {
		all[task.ID] = task.Goal
	}
	return all
}

// compare checks that the agent is what the model says.
func (m *model) compare(when string) {
	m.w.t.Helper()
	diff := cmp.Diff(m.now.everything, m.w.all()) + cmp.Diff(m.now.Tasks, m.w.tasks())
	if diff != "" {
		m.w.t.Fatalf("%s: the agent differs from the model (-want +got):\n%s", when, diff)
	}
}

func (m *model) keep(id amber.SnapshotID) {
	m.past[id] = m.now.clone()
	m.order = append(m.order, id)
}

// restore brings a moment back. Erased memories stay erased, and the control plane comes back only
// when the request asks for it.
func (m *model) restore(id amber.SnapshotID) {
	m.w.t.Helper()
	control := m.r.IntN(2) == 0
	report := m.w.restore(id, func(r *wire.RestoreRequest) { r.WithControl = control })
	m.keep(report.SafetySnapshot)
	then := m.past[id].clone()
	for gone := range m.erased {
		delete(then.Memories, gone)
	}
	if !control {
		then.Tasks = m.now.Tasks
	}
	m.now = then
	m.compare(fmt.Sprintf("restored %s, control %v", id, control))
}

// forget takes deleted snapshots out of the model.
func (m *model) forget(ids ...amber.SnapshotID) {
	for _, id := range ids {
		delete(m.past, id)
	}
	m.order = slices.DeleteFunc(m.order, func(id amber.SnapshotID) bool { return slices.Contains(ids, id) })
}

// thin deletes, prunes or collects garbage, and checks that nothing else is
// touched. Only snapshots in spare may go.
func (m *model) thin(spare map[amber.SnapshotID]bool) {
	t, ctx := m.w.t, m.w.t.Context()
	t.Helper()
	switch m.r.IntN(4) {
	case 0:
		if id := one(m.r, spare); id != "" && len(m.order) > 1 {
			must.Do(t, m.w.engine.DeleteSnapshot(ctx, ref(id)))
			m.forget(id)
			delete(spare, id)
		}
	case 1:
		m.prune(spare)
	default:
		m.w.collect(m.fs)
	}
	m.mustList()
}

// prune pins what must stay for the time of a pruning.
func (m *model) prune(spare map[amber.SnapshotID]bool) {
	t, ctx := m.w.t, m.w.t.Context()
	t.Helper()
	pin := func(pinned bool) {
		for _, id := range m.order {
			if spare[id] {
				continue
			}
			must.Do(t, m.w.engine.PinSnapshot(ctx, ref(id), pinned))
		}
	}
	pin(true)
	r := wire.PruneRequest{Tenant: "default", Agent: "default", KeepLast: 1 + m.r.IntN(3), KeepSafety: m.r.IntN(3)}
	report := must.Get(m.w.engine.PruneSnapshots(ctx, r))(t)
	for _, id := range report.Deleted {
		if !spare[id] {
			t.Fatalf("%s is pinned and was pruned", id)
		}
		delete(spare, id)
	}
	m.forget(report.Deleted...)
	pin(false)
}

// mustList checks that exactly the snapshots of the model are there.
func (m *model) mustList() {
	t := m.w.t
	t.Helper()
	got := idsOf(m.w.list())
	slices.Sort(got)
	if diff := cmp.Diff(slices.Sorted(maps.Keys(m.past)), got); diff != "" {
		t.Fatalf("the snapshots differ from the model (-want +got):\n%s", diff)
	}
}

// TestEverySnapshotBringsItsMomentBack takes snapshots of an agent that changes
// at random, restores each of them in random order, and deletes, prunes and
// collects garbage in between.
func TestEverySnapshotBringsItsMomentBack(t *testing.T) {
	t.Parallel()
	m := newModel(t, *modelSeed)
	var taken []amber.SnapshotID
	for range *modelSnapshots {
		for range 1 + m.r.IntN(6) {
			m.change()
		}
		id := m.w.snapshot().ID
		m.keep(id)
		taken = append(taken, id)
	}
	m.compare("before any restore")
	m.r.Shuffle(len(taken), func(i, j int) { taken[i], taken[j] = taken[j], taken[i] })
	spare := map[amber.SnapshotID]bool{}
	for _, id := range taken {
		before := len(m.order)
		m.restore(id)
		// A snapshot that was restored once may go, and so may the one that was
		// taken for its safety.
		spare[id], spare[m.order[before]] = true, true
		if m.r.IntN(3) == 0 {
			m.change()
		}
		m.thin(spare)
	}
	m.w.mustCheck()
	for len(m.order) > 1 && len(spare) > 1 { // what is left, once more
		id := one(m.r, spare)
		m.restore(id)
		must.Do(t, m.w.engine.DeleteSnapshot(t.Context(), ref(id)))
		m.forget(id)
		delete(spare, id)
	}
	m.w.collect(m.fs)
	for _, id := range m.order {
		m.w.mustVerify(id)
	}
	if r := m.w.mustCheck(); 2*r.Unused > r.Bytes {
		t.Errorf("after gc %d of %d bytes are unused", r.Unused, r.Bytes)
	}
	m.w.mustBeTidy(m.fs)
	t.Logf("%d thoughts, %d erased, %d snapshots taken, %d left", m.written, len(m.erased), len(taken), len(m.order))
}
