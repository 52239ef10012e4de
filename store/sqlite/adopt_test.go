package sqlite

import (
	"crypto/rand"
	"database/sql"
	"fmt"
	mathrand "math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/image"
	"github.com/amber-memory/amber/internal/store/sqlrows"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/store/storetest"
	"github.com/amber-memory/amber/wire"
)

// life is an agent whose past is kept as files.
type life struct {
	s     *Store
	clock *storetest.Clock
	dir   string
	n     int
}

func newLife(t *testing.T) *life {
	s, clock := freshStore(t, amber.QueueOptions{})
	return &life{s: s, clock: clock, dir: t.TempDir()}
}

// snapshot keeps both databases as they are now.
func (l *life) snapshot(t *testing.T) string {
	t.Helper()
	l.n++
	dir := filepath.Join(l.dir, fmt.Sprint(l.n))
	must.Do(t, os.Mkdir(dir, 0o700))
	for _, f := range freeze(t, l.s) {
		thaw(t, f, filepath.Join(dir, f.Info().Name))
		must.Do(t, f.Close())
	}
	return dir
}

// bringBack restores both databases as an engine would and makes them live.
func (l *life) bringBack(t *testing.T, dir string, change func(*image.AdoptRequest)) (report image.AdoptReport) {
	t.Helper()
	a, ctx := l.s.agent, t.Context()
	old := must.Get(a.Current())(t)
	next := old
	next.Generation++
	next.Incarnation = must.Get(amber.NewUUID(l.clock.Now(), rand.Reader))(t)
	must.Do(t, os.Mkdir(a.GenDir(next), 0o700))
	must.Do(t, a.Exclusive(ctx, func(home.Current) error {
		for _, name := range []string{"memory.db", "control.db"} {
			path := filepath.Join(a.GenDir(next), name)
			must.Do(t, os.WriteFile(path, must.Get(os.ReadFile(filepath.Join(dir, name)))(t), 0o600))
			if e := must.Get(image.Examine(ctx, path, true))(t); slices.ContainsFunc(e.Checks, func(c wire.Check) bool { return !c.OK }) {
				t.Fatalf("the examination found %+v", e.Checks)
			}
			r := image.AdoptRequest{Path: path, Live: filepath.Join(a.GenDir(old), name), Current: next, Clock: l.clock.Now, Random: rand.Reader}
			if change != nil {
				change(&r)
			}
			if name == "control.db" {
				next.Clock = max(next.Clock, must.Get(image.AdoptControl(ctx, r))(t).Clock)
				continue
			}
			report = must.Get(image.Adopt(ctx, r))(t)
			next.Clock = max(next.Clock, report.Clock)
			if names := must.Get(filepath.Glob(path + "-*"))(t); len(names) > 0 {
				t.Errorf("%v are left", names)
			}
		}
		publish(t, a, next)
		return nil
	}))
	return report
}

// memories lists every memory, live ones and tombstones apart.
func (l *life) memories(t *testing.T) (live, dead map[amber.MemoryID]amber.Memory) {
	t.Helper()
	live, dead = map[amber.MemoryID]amber.Memory{}, map[amber.MemoryID]amber.Memory{}
	for q := (amber.ListQuery{All: true, Deleted: true, Limit: 50}); ; {
		page := must.Get(l.s.List(t.Context(), q))(t)
		for _, m := range page.Items {
			if m.DeletedAt.IsZero() {
				live[m.ID] = m
			} else {
				dead[m.ID] = m
			}
		}
		if page.Next == "" {
			return live, dead
		}
		q.Cursor = page.Next
	}
}

// said is a memory without its stamps.
func said(ms map[amber.MemoryID]amber.Memory) map[amber.MemoryID]amber.Memory {
	out := map[amber.MemoryID]amber.Memory{}
	for id, m := range ms {
		m.Origin, m.Revision = amber.Origin{}, 0
		out[id] = m
	}
	return out
}

// live lets something happen to random memories.
func (l *life) live(t *testing.T, r *mathrand.Rand, steps int) {
	t.Helper()
	ctx := t.Context()
	known := func() amber.MemoryID {
		live, dead := l.memories(t)
		ids := []string{}
		for id := range live {
			ids = append(ids, string(id))
		}
		for id := range dead {
			ids = append(ids, string(id))
		}
		slices.Sort(ids)
		if len(ids) == 0 {
			return ""
		}
		return amber.MemoryID(ids[r.IntN(len(ids))])
	}
	for range steps {
		l.clock.Advance(time.Duration(r.IntN(1000)) * time.Millisecond)
		w := amber.WriteRequest{Content: fmt.Sprintf("text %d number %d", r.IntN(40), r.IntN(10)), Tags: []string{fmt.Sprint("t", r.IntN(3))}}
		switch r.IntN(10) {
		case 0, 1, 2:
			must.Get(l.s.Write(ctx, w))(t)
		case 3, 4:
			w.Topic = fmt.Sprint("topic ", r.IntN(5))
			must.Get(l.s.Write(ctx, w))(t)
		case 5, 6:
			_, err := l.s.Edit(ctx, amber.EditRequest{ID: known(), Content: &w.Content})
			l.allow(t, err)
		case 7:
			l.allow(t, l.s.Delete(ctx, known()))
		case 8:
			_, err := l.s.Relate(ctx, amber.Relation{From: known(), To: known(), Type: "related", Strength: float64(r.IntN(3)) / 2})
			l.allow(t, err)
		case 9:
			if r.IntN(4) == 0 {
				_, err := l.s.Erase(ctx, known())
				l.allow(t, err)
			} else if m, err := l.s.Get(ctx, known()); err == nil {
				others(t, l.s, m.ID, 1)
			}
		}
	}
}

// allow passes over what random operations may be answered.
func (l *life) allow(t *testing.T, err error) {
	t.Helper()
	switch amber.KindOf(err) {
	case "", amber.KindNotFound, amber.KindConflict, amber.KindInvalid:
	default:
		t.Fatal(err)
	}
}

func (l *life) erased(t *testing.T) []string {
	t.Helper()
	return texts(t, l.s.memory, `SELECT id FROM erased ORDER BY id`)
}

// Whatever happened before and after a snapshot: after it is brought back the
// agent says what it said then, but for what was erased since, and every
// record wins over what it was in the snapshot and live.
func TestAdoptedMemoriesAreTheSnapshots(t *testing.T) {
	t.Parallel()
	seeds := []uint64{mathrand.Uint64(), 1, 2, 3}
	for _, seed := range seeds[:min(len(seeds), max(scale(*syncHistories), 1))] {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := mathrand.New(mathrand.NewPCG(seed, 4))
			l := newLife(t)
			l.live(t, r, scale(60))
			var past []string
			var was []map[amber.MemoryID]amber.Memory
			for range 4 {
				past = append(past, l.snapshot(t))
				live, _ := l.memories(t)
				was = append(was, live)
				l.live(t, r, scale(40))
				if r.IntN(2) == 0 {
					continue
				}
				i := r.IntN(len(past))
				before, buried := l.memories(t)
				relations := l.relations(t)
				erased := l.erased(t)
				l.clock.Advance(time.Minute)
				l.bringBack(t, past[i], func(r *image.AdoptRequest) {
					if seed%2 == 0 { // as if they had not grown from one
						db := must.Get(sql.Open("sqlite", "file:"+r.Path))(t)
						must.Get(db.Exec(`UPDATE incarnations SET id = 'x' || id`))(t)
						must.Do(t, db.Close())
					}
				})
				after, tombstones := l.memories(t)
				want := said(was[i])
				for _, id := range erased {
					delete(want, amber.MemoryID(id))
				}
				if diff := cmp.Diff(want, said(after), sameTime); diff != "" {
					t.Fatalf("the memories differ (-want +got):\n%s", diff)
				}
				for _, now := range []map[amber.MemoryID]amber.Memory{after, tombstones} {
					for id, m := range now {
						for _, other := range []map[amber.MemoryID]amber.Memory{before, buried, was[i]} {
							wins(t, m, other[id])
						}
					}
				}
				for id, m := range before { // what a peer has seen of it must not win
					if _, ok := after[id]; !ok && !slices.Contains(erased, string(id)) && tombstones[id].ID != m.ID {
						t.Errorf("%s is gone without a tombstone", id)
					}
				}
				for id, rel := range l.relations(t) {
					if old, ok := relations[id]; ok && old.Origin.After(rel.Origin) {
						t.Errorf("relation %s is older than the live one", id)
					}
				}
				if got := l.erased(t); !containsAll(got, erased) {
					t.Errorf("erased are %v, want at least %v", got, erased)
				}
				versionsHold(t, l.s)
				sound(t, l.s)
				must.Do(t, l.s.DeepCheck(t.Context()))
			}
		})
	}
}

// wins fails unless m is as old as other, or wins over it.
func wins(t *testing.T, m, other amber.Memory) {
	t.Helper()
	if other.ID == "" {
		return
	}
	if other.Origin.After(m.Origin) || other.Revision > m.Revision {
		t.Errorf("%s is %+v revision %d, it was %+v revision %d", m.ID, m.Origin, m.Revision, other.Origin, other.Revision)
	}
	if m.Origin == other.Origin && !reflect.DeepEqual(unstamped(m), unstamped(other)) {
		t.Errorf("%s says something else under the same stamp", m.ID)
	}
}

// unstamped returns what a memory says, without its stamps and counts.
func unstamped(m amber.Memory) amber.Memory {
	m.Origin, m.Revision, m.DuplicateCount, m.UpdatedAt = amber.Origin{}, 0, 0, amber.Time{}
	if !m.DeletedAt.IsZero() {
		m.DeletedAt = amber.UnixMilli(1)
	}
	return m
}

func containsAll(all, some []string) bool {
	return !slices.ContainsFunc(some, func(s string) bool { return !slices.Contains(all, s) })
}

func (l *life) relations(t *testing.T) map[string]amber.Relation {
	t.Helper()
	out := map[string]amber.Relation{}
	for _, r := range look(t, l.s.memory, sqlrows.ScanRelation, `SELECT `+sqlrows.RelationColumns+` FROM relations`) {
		out[r.ID] = r
	}
	return out
}

func TestAdoptStampsWhatDiffers(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	l := newLife(t)
	same := save(t, l.s, amber.WriteRequest{Content: "stays"})
	edited := save(t, l.s, amber.WriteRequest{Content: "first text"})
	restored := save(t, l.s, amber.WriteRequest{Content: "is deleted later"})
	back := save(t, l.s, amber.WriteRequest{Content: "there"})
	related := must.Get(l.s.Relate(ctx, amber.Relation{From: same, To: edited, Type: "related", Strength: 1}))(t)
	must.Get(l.s.SaveLoop(ctx, amber.LoopSave{SessionID: "s", RunID: "r", State: []byte(`{}`)}))(t)
	dir := l.snapshot(t)
	for _, text := range []string{"second text", "third text"} {
		must.Get(l.s.Edit(ctx, amber.EditRequest{ID: edited, Content: &text}))(t)
	}
	must.Do(t, l.s.Delete(ctx, restored))
	for _, text := range []string{"there and", "there"} {
		must.Get(l.s.Edit(ctx, amber.EditRequest{ID: back, Content: &text}))(t)
	}
	added := save(t, l.s, amber.WriteRequest{Content: "came later"})
	must.Do(t, l.s.Unrelate(ctx, related.ID))
	late := must.Get(l.s.Relate(ctx, amber.Relation{From: added, To: same, Type: "related", Strength: 1}))(t)
	before, _ := l.memories(t)
	head := must.Get(l.s.Head(ctx))(t)

	report := l.bringBack(t, dir, nil)
	want := image.AdoptReport{Clock: report.Clock, Stamped: 3, TakenOver: 1, Tombstones: 2, ParkedLoops: 1}
	must.Equal(t, "report", report, want)
	after, dead := l.memories(t)
	device := must.Get(l.s.agent.Current())(t).Device
	if m := after[same]; m.Origin != before[same].Origin || m.Revision != 1 {
		t.Errorf("what did not change was stamped %+v", m)
	}
	if m := after[edited]; m.Content != "first text" || m.Revision != 4 || m.Origin.Counter != 4 || m.Origin.Device != device {
		t.Errorf("edited: %+v", m)
	}
	if m := after[restored]; m.Revision != 3 || m.Origin.Counter != 3 {
		t.Errorf("restored: %+v", m)
	}
	if m := after[back]; m.Origin != before[back].Origin || m.Revision != 3 {
		t.Errorf("edited back: %+v", m)
	}
	if m := dead[added]; m.Revision != 2 || m.Origin.Counter != 2 || m.Content != "came later" {
		t.Errorf("added: %+v", m)
	}
	must.Equal(t, "revisions of the tombstone", len(must.Get(amber.All(ctx, l.s.History, added))(t)), 2)
	relations := l.relations(t)
	if r := relations[related.ID]; !r.DeletedAt.IsZero() || r.Origin.Counter != 3 {
		t.Errorf("related: %+v", r)
	}
	if r := relations[late.ID]; r.DeletedAt.IsZero() || r.Origin.Counter != 2 {
		t.Errorf("related later: %+v", r)
	}
	must.Equal(t, "search", found(t, l.s, amber.Query{Text: "text"}), []amber.MemoryID{edited})
	if loop := must.Get(l.s.LoadLoop(ctx, "s"))(t); !loop.Parked {
		t.Error("the loop is not parked")
	}
	must.Fail(l.s.Changes(ctx, head, 9))(t, "position of the history that was replaced", amber.KindConflict)
	keys := map[string]bool{}
	for _, c := range must.Get(l.s.Changes(ctx, "", 999))(t) {
		if incarnation, _, _ := c.Position.Parse(); incarnation == must.Get(l.s.agent.Current())(t).Incarnation {
			keys[c.Key] = true
		}
	}
	if len(keys) != 5 { // edited, restored, back, added, same with a relation
		t.Errorf("the log names %v", keys)
	}
	if m := must.Get(l.s.Edit(ctx, amber.EditRequest{ID: edited, Content: new("fourth text")}))(t); m.Revision != 5 || m.Origin.Clock <= report.Clock {
		t.Errorf("the next edit is %+v after %s", m, report.Clock)
	}
	t.Run("again", func(t *testing.T) {
		l.bringBack(t, dir, nil)
		again, _ := l.memories(t)
		must.Equal(t, "memories after a second adoption", said(again), said(after), sameTime)
		must.Equal(t, "revision", again[edited].Revision, 6)
		sound(t, l.s)
		must.Do(t, l.s.DeepCheck(ctx))
	})
}

func TestAdoptLocalOnlyKeepsStamps(t *testing.T) {
	t.Parallel()
	l := newLife(t)
	id := save(t, l.s, amber.WriteRequest{Content: "first"})
	gone := save(t, l.s, amber.WriteRequest{Content: "the secret"})
	was, _ := l.memories(t)
	dir := l.snapshot(t)
	must.Get(l.s.Edit(t.Context(), amber.EditRequest{ID: id, Content: new("second")}))(t)
	save(t, l.s, amber.WriteRequest{Content: "later"})
	erase(t, l.s, gone)
	report := l.bringBack(t, dir, func(r *image.AdoptRequest) { r.LocalOnly = true })
	after, dead := l.memories(t)
	if len(after) != 1 || len(dead) != 0 || after[id].Origin != was[id].Origin || after[id].Revision != 1 {
		t.Errorf("live %+v, dead %+v", after, dead)
	}
	must.Hold(t, report.KeptErased == 1 && report.Stamped == 0, "report %+v", report)
}

// An erased text is not in the restored file any more, wherever in the snapshot it was.
func TestAdoptErasesAgain(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	l := newLife(t)
	const secret = "the password is hunter2hunter2"
	id := save(t, l.s, amber.WriteRequest{Content: secret, IdempotencyKey: "k"})
	must.Get(l.s.AppendTurn(ctx, amber.Turn{ID: "t", SessionID: "s", Role: "user", Content: "I said: " + secret}))(t)
	kept := save(t, l.s, amber.WriteRequest{Content: "something else"})
	dir := l.snapshot(t)
	if b := must.Get(os.ReadFile(filepath.Join(dir, "memory.db")))(t); !strings.Contains(string(b), "hunter2hunter2") {
		t.Fatal("the snapshot does not hold it")
	}
	erase(t, l.s, id)
	report := l.bringBack(t, dir, nil)
	must.Equal(t, "memories that stay erased", report.KeptErased, 1)
	must.Fail(l.s.Get(ctx, id))(t, "get what was erased", amber.KindNotFound)
	must.Get(l.s.Get(ctx, kept))(t)
	path := l.s.memory.path(must.Get(l.s.agent.Current())(t))
	must.Do(t, l.s.Close())
	if b := must.Get(os.ReadFile(path))(t); strings.Contains(string(b), "hunter2") {
		t.Error("the text is still in the file")
	}
	must.Equal(t, "turns that quote it", query[int](t, path, `SELECT count(*) FROM turns`), 0)
}

func TestAdoptTakesTheFurtherCursor(t *testing.T) {
	t.Parallel()
	l := newLife(t)
	put := func(s *Store, journal string, seq int64) {
		meddle(t, s.memory, `INSERT OR REPLACE INTO journal_cursors VALUES (?, 'h', 's', ?, 1, 2, 3, 'b', 'n')`, journal, seq)
	}
	for journal, seq := range map[string]int64{"live ahead": 3, "file ahead": 8, "file only": 2, "raised": 1} {
		put(l.s, journal, seq)
	}
	dir := l.snapshot(t)
	for journal, seq := range map[string]int64{"live ahead": 7, "file ahead": 5, "live only": 4, "raised": 2} {
		put(l.s, journal, seq)
	}
	meddle(t, l.s.memory, `DELETE FROM journal_cursors WHERE journal = 'file only'`)
	report := l.bringBack(t, dir, func(r *image.AdoptRequest) {
		if filepath.Base(r.Path) == "memory.db" {
			r.Cursors = map[string]int64{"raised": 9, "new": 6, "file ahead": 1}
		}
	})
	must.Equal(t, "cursors moved", report.Cursors, 5)
	for journal, want := range map[string]int64{"live ahead": 7, "file ahead": 8, "file only": 2, "live only": 4, "raised": 9, "new": 6} {
		must.Equal(t, "cursor of "+journal, must.Get(l.s.JournalCursor(t.Context(), journal))(t).Seq, want)
	}
}

func TestAdoptWithoutLiveFile(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	l := newLife(t)
	id := save(t, l.s, amber.WriteRequest{Content: "text"})
	must.Get(l.s.SaveLoop(ctx, amber.LoopSave{SessionID: "s", RunID: "r", State: []byte(`{}`)}))(t)
	was, _ := l.memories(t)
	dir := l.snapshot(t)
	l.bringBack(t, dir, func(r *image.AdoptRequest) { r.Live = "" })
	after, _ := l.memories(t)
	must.Equal(t, "memories", after, was, sameTime)
	must.Hold(t, must.Get(l.s.LoadLoop(ctx, "s"))(t).Parked, "the loop is not parked")
	must.Equal(t, "revision", must.Get(l.s.Edit(ctx, amber.EditRequest{ID: id, Content: new("new")}))(t).Revision, 2)
}

func TestCarriedFilesOnlyLearnTheirGeneration(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	l := newLife(t)
	save(t, l.s, amber.WriteRequest{Content: "text"})
	must.Get(l.s.SaveLoop(ctx, amber.LoopSave{SessionID: "s", RunID: "r", State: []byte(`{}`)}))(t)
	head := must.Get(l.s.Head(ctx))(t)
	was, _ := l.memories(t)
	report := l.bringBack(t, l.snapshot(t), func(r *image.AdoptRequest) { r.Carried = true })
	after, _ := l.memories(t)
	must.Equal(t, "memories", after, was, sameTime)
	must.Hold(t, !must.Get(l.s.LoadLoop(ctx, "s"))(t).Parked, "the loop is parked")
	must.Equal(t, "changes", len(must.Get(l.s.Changes(ctx, head, 9))(t)), 0)
	must.Hold(t, report.Stamped+report.TakenOver+report.Tombstones == 0 && report.Clock != 0, "report %+v", report)
}

// The clock goes on from the latest of all.
func TestAdoptNeverTurnsTheClockBack(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	l := newLife(t)
	save(t, l.s, amber.WriteRequest{Content: "text"})
	dir := l.snapshot(t)
	l.clock.Advance(time.Hour)
	save(t, l.s, amber.WriteRequest{Content: "an hour later"})
	last := must.Get(l.s.LastStamp(ctx))(t)
	l.clock.Advance(-24 * time.Hour)
	report := l.bringBack(t, dir, nil)
	must.Hold(t, report.Clock > last, "the clock is at %s, live it was at %s", report.Clock, last)
	id := save(t, l.s, amber.WriteRequest{Content: "after"})
	if o := must.Get(l.s.Get(ctx, id))(t).Origin; o.Clock <= report.Clock {
		t.Errorf("stamp %s after %s", o.Clock, report.Clock)
	}
}

func TestAdoptControlNeverIssuesAFenceTwice(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	l := newLife(t)
	claim := func(node string) int64 {
		t.Helper()
		must.Do(t, l.s.Publish(ctx, amber.Envelope{EntryID: fmt.Sprint(node, must.Get(amber.NewUUID(l.clock.Now(), rand.Reader))(t)), TaskID: "t", NodeID: node}))
		return must.Get(l.s.Claim(ctx, "c"))(t).Lease.Fence
	}
	first := claim("a")
	dir := l.snapshot(t)
	second, third := claim("b"), claim("a")
	l.bringBack(t, dir, nil)
	if next := claim("c"); next <= third || third <= second || second <= first {
		t.Errorf("fences %d, %d, %d, then %d", first, second, third, next)
	}
	_, err := l.s.SaveResult(ctx, amber.Result{TaskID: "t", NodeID: "a", Fence: first, Producer: "p", Status: amber.ResultOK})
	must.Kind(t, "result under a fence that was overtaken in the life that was replaced", err, amber.KindConflict)
	t.Run("of another history", func(t *testing.T) {
		other := newLife(t)
		var clash int64
		for _, node := range []string{"x", "y"} {
			must.Do(t, other.s.Publish(ctx, amber.Envelope{EntryID: node, TaskID: "else", NodeID: node}))
			clash = must.Get(other.s.Claim(ctx, "c"))(t).Lease.Fence
		}
		must.Equal(t, "fence of the test", clash, second)
		l.bringBack(t, other.snapshot(t), nil)
		_, err := l.s.SaveResult(ctx, amber.Result{TaskID: "else", NodeID: "y", Fence: clash, Producer: "p", Status: amber.ResultOK})
		must.Kind(t, "result under a fence that was issued twice", err, amber.KindConflict)
	})
}

// A file that was adopted half is as it was.
func TestAdoptOfDamagedLiveFileChangesNothing(t *testing.T) {
	t.Parallel()
	l := newLife(t)
	for i := range 200 {
		save(t, l.s, amber.WriteRequest{Content: fmt.Sprintf("%d %s", i, strings.Repeat("word ", 100))})
	}
	dir := l.snapshot(t)
	live := filepath.Join(t.TempDir(), "live.db")
	b := must.Get(os.ReadFile(filepath.Join(dir, "memory.db")))(t)
	clear(b[len(b)/2:])
	must.Do(t, os.WriteFile(live, b, 0o600))
	path := filepath.Join(dir, "memory.db")
	before := must.Get(os.ReadFile(path))(t)
	c := must.Get(l.s.agent.Current())(t)
	_, err := image.Adopt(t.Context(), image.AdoptRequest{Path: path, Live: live, Current: c, Clock: l.clock.Now, Random: rand.Reader})
	must.Kind(t, "adopt", err, amber.KindDamaged)
	must.Hold(t, slices.Equal(before, must.Get(os.ReadFile(path))(t)), "the file changed")
}

var sameTime = cmpopts.EquateComparable(amber.Time{})
