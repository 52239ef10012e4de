package sqlite

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/sqlrows"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/storetest"
)

var (
	syncSeed      = flag.Uint64("sync-seed", 0, "run one random sync with this seed")
	syncHistories = flag.Int("sync-histories", 2, "how many random syncs to run")
)

// However stores change what they share, and in whatever order what they
// exported arrives, they end up alike.
func TestStoresThatExchangeEverythingAreEqual(t *testing.T) {
	t.Parallel()
	seeds := []uint64{*syncSeed}
	if *syncSeed == 0 {
		seeds = nil
		for range max(scale(*syncHistories), 1) {
			seeds = append(seeds, rand.Uint64())
		}
	}
	for _, seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			newWorld(t, seed).run()
		})
	}
}

// world is some stores that sync through two folders; the last store but one
// uses both.
type world struct {
	*testing.T
	*rand.Rand
	stores  []*Store
	clocks  []*storetest.Clock
	folders []*folder
	uses    [][]int // folders of each store
	said    int
}

func newWorld(t *testing.T, seed uint64) *world {
	w := &world{T: t, Rand: rand.New(rand.NewPCG(seed, 1)), folders: []*folder{{name: "a"}, {name: "b"}}}
	stores := 2 + w.IntN(3)
	for i := range stores {
		s, clock := freshStore(t, amber.QueueOptions{})
		switch w.IntN(4) { // skewed by hours, or by years
		case 0:
			clock.Advance(time.Duration(w.IntN(48)-24) * time.Hour)
		case 1:
			clock.Advance(time.Duration(w.IntN(20)-10) * 365 * 24 * time.Hour)
		}
		uses := []int{0}
		if stores > 2 && i == stores-2 {
			uses = []int{0, 1}
		} else if stores > 2 && i == stores-1 {
			uses = []int{1}
		}
		w.stores, w.clocks, w.uses = append(w.stores, s), append(w.clocks, clock), append(w.uses, uses)
	}
	return w
}

func (w *world) run() {
	for range 60 + w.IntN(100) {
		i := w.IntN(len(w.stores))
		w.clocks[i].Advance(time.Duration(w.IntN(3000)-200) * time.Millisecond)
		if w.IntN(5) == 0 {
			w.sync(i)
		} else {
			w.change(w.stores[i])
		}
	}
	w.settle()
	erased := w.erased()
	want := without(stateOf(w.T, w.stores[0]), erased)
	for _, s := range w.stores[1:] {
		if d := cmp.Diff(want, without(stateOf(w.T, s), erased)); d != "" {
			w.Fatalf("two stores differ (-first +other):\n%s", d)
		}
	}
	w.again(stateOf(w.T, w.stores[0]))
}

// erased returns the memories that a store erased. A device that had a version of such a
// memory that was never in the folder keeps that version, alone.
func (w *world) erased() map[string]bool {
	out := map[string]bool{}
	for _, s := range w.stores {
		must.Do(w.T, s.memory.View(w.Context(), "erased", "", func(x *tx) error {
			ids, err := sqlrows.All(x.Tx, sqlrows.ScanText, `SELECT id FROM erased UNION SELECT record FROM sync_removed WHERE scope = 'memory'`)
			for _, id := range ids {
				out[id] = true
			}
			return err
		}))
	}
	return out
}

// without leaves out the lines that name one of some records, and what is gone: a
// folder that never had it is not told.
func without(lines []string, ids map[string]bool) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(line string) bool {
		return strings.HasPrefix(line, "gone ") || slices.ContainsFunc(strings.Fields(line), func(word string) bool { return ids[word] })
	})
}

// sync exports, or imports some chunks in any order.
func (w *world) sync(i int) {
	f := w.folders[w.uses[i][w.IntN(len(w.uses[i]))]]
	if w.IntN(2) == 0 {
		f.export(w.T, w.stores[i], 1+w.IntN(20))
		return
	}
	order := w.Perm(len(f.chunks))
	f.take(w.T, w.stores[i], order[:w.IntN(len(order)+1)])
}

// settle exchanges until no store has anything to take or give.
func (w *world) settle() {
	for range 8 {
		news := false
		for i, s := range w.stores {
			for _, n := range w.uses[i] {
				f := w.folders[n]
				took := f.take(w.T, s, w.Perm(len(f.chunks)))
				gave := f.export(w.T, s, 0)
				news = news || took != (amber.Applied{}) || len(gave) > 0
			}
		}
		if !news {
			return
		}
	}
	w.Fatal("they never stop")
}

// again applies everything once more under other names, as a store does that
// has lost its notes: nothing happens.
func (w *world) again(want []string) {
	s := w.stores[0]
	head := headOf(w.T, s)
	for _, c := range w.folders[0].chunks {
		c.Chunk += " again"
		if got := must.Get(s.Apply(w.Context(), c))(w.T); got != (amber.Applied{}) {
			w.Errorf("chunk %s again: %+v", c.Chunk, got)
		}
	}
	if d := cmp.Diff(want, stateOf(w.T, s)); d != "" {
		w.Errorf("a second import changed (-before +after):\n%s", d)
	}
	if got := headOf(w.T, s); got != head {
		w.Errorf("a second import wrote %d entries to the change log", got-head)
	}
}

// change does something to a store. It ignores that a record is not there any more, or
// never was.
func (w *world) change(s *Store) {
	ctx := w.Context()
	w.said++
	text := fmt.Sprintf("fact %d", w.said)
	session := amber.SessionID(fmt.Sprintf("session %d", w.IntN(3)))
	var err error
	switch w.IntN(14) {
	case 0, 1:
		_, err = s.Write(ctx, amber.WriteRequest{Content: text, Identities: amber.Identities{SessionID: session}})
	case 2, 3, 4:
		_, err = s.Write(ctx, amber.WriteRequest{Content: text, Topic: fmt.Sprintf("topic %d", w.IntN(3))})
	case 5, 6:
		_, err = s.Edit(ctx, amber.EditRequest{ID: w.any(s), Content: &text})
	case 7:
		err = s.Delete(ctx, w.any(s))
	case 8:
		if w.IntN(3) == 0 {
			_, err = s.Erase(ctx, w.any(s))
		}
	case 9:
		_, err = s.Relate(ctx, amber.Relation{From: w.any(s), To: w.any(s), Type: "related", Strength: float64(w.IntN(10)) / 10})
	case 10:
		if related, rerr := s.Related(ctx, w.any(s)); rerr == nil && len(related) > 0 {
			err = s.Unrelate(ctx, related[0].ID)
		}
	case 11:
		err = w.changeSession(s, session)
	case 12:
		content := text
		if m, gerr := s.Get(ctx, w.any(s)); gerr == nil && w.IntN(3) == 0 {
			content = "it said: " + m.Content // goes where the memory is erased
		}
		_, err = s.AppendTurn(ctx, amber.Turn{ID: amber.TurnID(text), SessionID: session, Role: amber.RoleUser, Content: content})
	case 13:
		_, err = s.Write(ctx, amber.WriteRequest{Content: text, Scope: amber.ScopeUser, Identities: amber.Identities{UserID: "ada"}})
	}
	switch amber.KindOf(err) {
	case "", amber.KindNotFound, amber.KindInvalid, amber.KindConflict:
	default:
		w.Fatal(err)
	}
}

func (w *world) changeSession(s *Store, id amber.SessionID) (err error) {
	switch w.IntN(6) {
	case 0, 1:
		_, err = s.StartSession(w.Context(), amber.SessionStart{ID: id, Project: "p"})
	case 2:
		_, err = s.RenameSession(w.Context(), id, fmt.Sprintf("name %d", w.said))
	case 3:
		_, err = s.EndSession(w.Context(), amber.SessionEnd{ID: id})
	case 4:
		err = s.DeleteSession(w.Context(), id)
	case 5:
		_, err = s.DeleteTurns(w.Context(), id)
	}
	return err
}

// any returns a memory that others may see, or an id without a memory.
func (w *world) any(s *Store) amber.MemoryID {
	page := must.Get(s.List(w.Context(), amber.ListQuery{}))(w.T)
	if len(page.Items) == 0 {
		return memoryID(0)
	}
	return page.Items[w.IntN(len(page.Items))].ID
}

// A session that was deleted in one folder may be made in another one, and a
// store that uses both brings it along. Once it is in the first folder the
// deletion counts for it, so that no store is left with it.
func TestASessionThatIsMadeInOneFolderAndDeletedInAnother(t *testing.T) {
	t.Parallel()
	w := &world{T: t, Rand: rand.New(rand.NewPCG(1, 1)), folders: []*folder{{name: "a"}, {name: "b"}}, uses: [][]int{{0}, {0, 1}, {1}}}
	for range w.uses {
		s, _ := freshStore(t, amber.QueueOptions{})
		w.stores = append(w.stores, s)
	}
	ctx, first, both, last := t.Context(), w.stores[0], w.stores[1], w.stores[2]
	start := amber.SessionStart{ID: "one", Project: "p"}
	must.Get(first.StartSession(ctx, start))(t)
	must.Get(first.RenameSession(ctx, "one", "known by many names"))(t)
	must.Do(t, first.DeleteSession(ctx, "one"))
	w.folders[0].export(t, first, 0)
	w.folders[0].take(t, both, w.folders[0].all())
	must.Get(last.StartSession(ctx, start))(t)
	w.folders[1].export(t, last, 0)
	w.folders[1].take(t, both, w.folders[1].all())
	must.Get(both.Session(ctx, "one"))(t) // no folder deletes what is in another
	w.settle()
	for i, s := range w.stores {
		must.Kind(t, fmt.Sprintf("store %d", i), must.Err(s.Session(ctx, "one")), amber.KindNotFound)
	}
}

// An erasure here is later than the erasures of the same memory elsewhere. Otherwise an
// erasure that was read before would be news when it is read again.
func TestAnOwnErasureIsTheLast(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, _ := freshStore(t, amber.QueueOptions{})
	id := save(t, s, amber.WriteRequest{Content: "mine", Topic: "shared"})
	erased := amber.SyncRecord{Erased: &amber.SyncErased{ID: id, Origin: amber.Origin{Device: "far", Counter: 9, Clock: 1}}}
	apply(t, s, "first", erased)
	must.Get(s.Get(ctx, id))(t) // it was never there
	must.Get(s.Erase(ctx, id))(t)
	before := stateOf(t, s)
	must.Equal(t, "read again", apply(t, s, "second", erased), amber.Applied{})
	must.Equal(t, "state", stateOf(t, s), before)
}
