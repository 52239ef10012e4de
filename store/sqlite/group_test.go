package sqlite

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/sqlconn"
	"github.com/amber-memory/amber/internal/store/sqlcore"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/home"
)

// gathering is a ground on which the first writer leads and finds all the others
// in line behind it, in the order in which they came.
type gathering struct {
	ground
	full chan struct{} // closed once everybody is in line

	mu      sync.Mutex
	came    *sync.Cond // one more is in line
	missing int
	led     int // transactions
	line    []any
	taken   map[any]chan struct{} // of everybody who came behind the first; closed when taken
}

// gatherIn lets n writers meet in the database.
func gatherIn(d *database, n int) *gathering {
	c := &gathering{ground: d.ground, full: make(chan struct{}), missing: n, taken: map[any]chan struct{}{}}
	c.came = sync.NewCond(&c.mu)
	d.ground = c
	return c
}

func (c *gathering) WriteTogether(ctx context.Context, store string, work any, fn func(home.Current, func() (any, bool)) error) (bool, error) {
	taken := c.arrive(work)
	if taken != nil {
		<-taken
		return true, nil
	}
	return false, c.ground.Write(ctx, store, func(current home.Current) error {
		<-c.full
		return fn(current, c.next)
	})
}

// arrive puts a work in line, unless it is the first.
func (c *gathering) arrive(work any) chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer c.came.Broadcast()
	if c.missing--; c.missing == 0 {
		close(c.full)
	}
	if c.led == 0 {
		c.led++
		return nil
	}
	c.line = append(c.line, work)
	c.taken[work] = make(chan struct{})
	return c.taken[work]
}

func (c *gathering) next() (any, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.line) == 0 {
		return nil, false
	}
	w := c.line[0]
	c.line = c.line[1:]
	close(c.taken[w])
	return w, true
}

// waits returns once n writers have come.
func (c *gathering) waits(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.led+len(c.taken) < n {
		c.came.Wait()
	}
}

// caller is a writer of a gathering: what it writes, and what became of it.
type caller struct {
	text     string
	err      error
	panicked any
	ran      int
}

// write stores the text of the caller and then does what after says.
func (c *caller) write(ctx context.Context, s *Store, after func(*tx) error) {
	defer func() { c.panicked = recover() }()
	c.err = s.memory.Update(ctx, "write memory", "", func(t *tx) error {
		c.ran++
		r, err := amber.WriteRequest{Content: c.text}.Normalize()
		if err != nil {
			return err
		}
		if _, err := t.Write(r); err != nil {
			return err
		}
		return after(t)
	})
}

func fine(*tx) error { return nil }

// stored returns the texts of a fresh look at the store, sorted, and fails where the
// change log has a gap or a stamp that does not grow.
func stored(t *testing.T, s *Store) []string {
	t.Helper()
	type entry struct{ seq, stamp int64 }
	log := look(t, s.memory, func(r scanner) (e entry, err error) {
		err = r.Scan(&e.seq, &e.stamp)
		return e, err
	}, `SELECT seq, stamp FROM changes ORDER BY seq`)
	var last int64
	for i, e := range log {
		if e.seq != int64(i+1) || e.stamp <= last {
			t.Errorf("entry %d of the change log has the number %d and the stamp %d after %d", i+1, e.seq, e.stamp, last)
		}
		last = e.stamp
	}
	list := texts(t, s.memory, `SELECT content FROM memories ORDER BY content`)
	must.Equal(t, "entries of the change log", len(log), len(list))
	return list
}

var errBroken = errors.New("broken on purpose")

// TestWritersThatShareATransaction lets 64 writers meet, of whom some fail, some
// give up before or during their work, and one panics: what was acknowledged is
// there, and nothing else.
func TestWritersThatShareATransaction(t *testing.T) {
	t.Parallel()
	a := agentIn(t, filepath.Join(t.TempDir(), "home"))
	s := openAgent(t, a, Options{Clock: newHandClock().Now, Random: rand.Reader})
	meet := gatherIn(s.memory, sqlcore.MaxTogether)
	var wg sync.WaitGroup
	callers := make([]*caller, sqlcore.MaxTogether)
	for i := range callers {
		c := &caller{text: fmt.Sprintf("number %02d", i)}
		callers[i] = c
		ctx, quit := context.WithCancel(t.Context())
		defer quit()
		after := fine
		switch i % 8 {
		case 1:
			after = func(*tx) error { return errBroken }
		case 3:
			after = func(x *tx) error { quit(); _, err := x.Exec(`DELETE FROM memories`); return err }
		case 5:
			quit()
		case 7:
			after = func(*tx) error { quit(); return nil }
		case 6:
			if i == 6 {
				after = func(*tx) error { panic("on purpose") }
			}
		}
		wg.Go(func() { c.write(ctx, s, after) })
		meet.waits(i + 1)
	}
	wg.Wait()
	must.Equal(t, "transactions", meet.led, 1)
	var acknowledged []string
	for i, c := range callers {
		switch i % 8 {
		case 1:
			must.Is(t, c.text, c.err, errBroken)
		case 3, 5, 7:
			must.Kind(t, c.text, c.err, amber.KindUnreachable)
		default:
			if i == 6 {
				must.Equal(t, "what the caller panicked with", c.panicked, any("on purpose"))
				continue
			}
			must.NoError(t, c.err)
			acknowledged = append(acknowledged, c.text)
		}
		must.Equal(t, "runs of "+c.text, c.ran, map[bool]int{true: 0, false: 1}[i%8 == 5])
	}
	must.Equal(t, "memories", stored(t, s), acknowledged)
	again := openAgent(t, a, Options{Clock: newHandClock().Now, Random: rand.Reader})
	must.Equal(t, "memories after opening again", stored(t, again), acknowledged)
	must.Equal(t, "memories in the index", inIndex(t, again), acknowledged)
	sound(t, again)
}

// inIndex returns the texts of the memories that the index has, sorted, and fails where
// something waits to come in.
func inIndex(t *testing.T, s *Store) []string {
	t.Helper()
	must.Equal(t, "what waits to come into the index", must.Get(s.IndexStatus(t.Context()))(t).Waiting, 0)
	return texts(t, s.memory, `SELECT content FROM passages JOIN memories ON id = owner WHERE source = 'memory' ORDER BY content`)
}

// TestIndexThatFailsStopsNoWriter lets the index refuse every document: what three writers
// have stored waits then, and comes in when the index works again.
func TestIndexThatFailsStopsNoWriter(t *testing.T) {
	t.Parallel()
	s, _ := freshStore(t, amber.QueueOptions{})
	refuse := func(query string) {
		must.Do(t, s.memory.direct(t.Context(), func(c *sqlconn.Conn) error {
			_, err := c.Exec(t.Context(), query)
			return err
		}))
	}
	refuse(`CREATE TRIGGER refuse BEFORE INSERT ON index_tail BEGIN SELECT RAISE(ABORT, 'on purpose'); END`)
	meet := gatherIn(s.memory, 3)
	for _, c := range meeting(t, s, meet, 3, 0, fine) {
		must.NoError(t, c.err)
	}
	s.memory.ground = meet.ground
	all := []string{"number 0", "number 1", "number 2"}
	must.Equal(t, "memories", stored(t, s), all)
	must.Equal(t, "memories that wait", must.Get(s.IndexStatus(t.Context()))(t).Waiting, 3)
	must.Do(t, s.VerifyIndex(t.Context()))
	refuse(`DROP TRIGGER refuse`)
	save(t, s, amber.WriteRequest{Content: "one more"})
	must.Equal(t, "memories in the index", inIndex(t, s), append(all, "one more"))
}

// TestCommitThatFailsAcknowledgesNobody lets one of eight writers leave a
// reference behind that leads nowhere, which SQLite finds out at COMMIT.
func TestCommitThatFailsAcknowledgesNobody(t *testing.T) {
	t.Parallel()
	s, _ := freshStore(t, amber.QueueOptions{})
	meet := gatherIn(s.memory, 8)
	callers := meeting(t, s, meet, 8, 2, func(x *tx) error {
		if _, err := x.Exec(`PRAGMA defer_foreign_keys=ON`); err != nil {
			return err
		}
		_, err := x.Exec(`INSERT INTO concepts (memory_id, concept) VALUES ('nobody', 'x')`)
		return err
	})
	for _, c := range callers {
		must.Kind(t, c.text, c.err, amber.KindInternal, "FOREIGN KEY")
	}
	s.memory.ground = meet.ground
	must.Equal(t, "memories", len(stored(t, s)), 0)
	save(t, s, amber.WriteRequest{Content: "it works"})
	must.Equal(t, "memories", stored(t, s), []string{"it works"})
}

// TestLostTransactionAcknowledgesNobody undoes everything in the middle, as
// SQLite does by itself after some errors of the disk. Those who were not at work
// yet are not touched by it.
func TestLostTransactionAcknowledgesNobody(t *testing.T) {
	t.Parallel()
	s, _ := freshStore(t, amber.QueueOptions{})
	meet := gatherIn(s.memory, 3)
	callers := meeting(t, s, meet, 3, 2, func(x *tx) error {
		_, err := x.Exec(`ROLLBACK`)
		return errors.Join(err, errBroken)
	})
	for i, c := range callers {
		if i == 2 {
			must.Is(t, c.text, c.err, errBroken)
			continue
		}
		must.Kind(t, c.text, c.err, amber.KindInternal)
		must.Hold(t, !errors.Is(c.err, errBroken), "%s is told what happened to another caller: %v", c.text, c.err)
	}
	s.memory.ground = meet.ground
	must.Equal(t, "memories", len(stored(t, s)), 0)
	save(t, s, amber.WriteRequest{Content: "it works"})
}

// meeting lets n writers meet of whom number odd does something else.
func meeting(t *testing.T, s *Store, meet *gathering, n, odd int, what func(*tx) error) []*caller {
	t.Helper()
	callers := make([]*caller, n)
	var wg sync.WaitGroup
	for i := range callers {
		callers[i] = &caller{text: fmt.Sprint("number ", i)}
		after := fine
		if i == odd {
			after = what
		}
		wg.Go(func() { callers[i].write(t.Context(), s, after) })
		meet.waits(i + 1)
	}
	wg.Wait()
	return callers
}

// TestLeaderThatGivesUpLate ends the context of the leader while another one
// is at work: by then the work of the leader is done, and it is acknowledged.
func TestLeaderThatGivesUpLate(t *testing.T) {
	t.Parallel()
	s, _ := freshStore(t, amber.QueueOptions{})
	meet := gatherIn(s.memory, 2)
	ctx, quit := context.WithCancel(t.Context())
	first, second := &caller{text: "first"}, &caller{text: "second"}
	var wg sync.WaitGroup
	wg.Go(func() { first.write(ctx, s, fine) })
	meet.waits(1)
	wg.Go(func() { second.write(t.Context(), s, func(*tx) error { quit(); return nil }) })
	wg.Wait()
	must.NoError(t, errors.Join(first.err, second.err))
	must.Equal(t, "memories", stored(t, s), []string{"first", "second"})
}

// TestLeaderThatFails fails and panics before anybody else was at work.
func TestLeaderThatFails(t *testing.T) {
	t.Parallel()
	for _, after := range []func(*tx) error{func(*tx) error { return errBroken }, func(*tx) error { panic("on purpose") }} {
		s, _ := freshStore(t, amber.QueueOptions{})
		first := &caller{text: "first"}
		first.write(t.Context(), s, after)
		must.Hold(t, first.err != nil || first.panicked != nil, "the first writer was acknowledged")
		save(t, s, amber.WriteRequest{Content: "second"})
		must.Equal(t, "memories", stored(t, s), []string{"second"})
	}
}

// TestLeaderThatPanicsLate panics when the leader has taken a second writer that has
// not begun: both get an error, and the next writer is fine.
func TestLeaderThatPanicsLate(t *testing.T) {
	t.Parallel()
	a := agentIn(t, filepath.Join(t.TempDir(), "home"))
	s := openAgent(t, a, Options{Clock: newHandClock().Now, Random: rand.Reader})
	var broken atomic.Bool
	other := openAgent(t, a, Options{Random: rand.Reader, Clock: func() time.Time {
		if broken.Load() {
			panic("on purpose")
		}
		return newHandClock().Now()
	}})
	broken.Store(true)
	meet := gatherIn(s.memory, 2)
	other.memory.ground = meet
	first, second := &caller{text: "first"}, &caller{text: "second"}
	var wg sync.WaitGroup
	wg.Go(func() { first.write(t.Context(), s, fine) })
	meet.waits(1)
	wg.Go(func() { second.write(t.Context(), other, fine) })
	wg.Wait()
	must.Equal(t, "what the first panicked with", first.panicked, any("on purpose"))
	must.Kind(t, "the second", second.err, amber.KindInternal, "given up")
	s.memory.ground = meet.ground
	save(t, s, amber.WriteRequest{Content: "third"})
	must.Equal(t, "memories", stored(t, s), []string{"third"})
}

// TestOtherStoresOfTheHandleMeet lets a store with options of its own work in
// the transaction of another one; a store that was closed meanwhile does not.
func TestOtherStoresOfTheHandleMeet(t *testing.T) {
	t.Parallel()
	a := agentIn(t, filepath.Join(t.TempDir(), "home"))
	late := newHandClock()
	late.Advance(time.Second)
	s := openAgent(t, a, Options{Clock: newHandClock().Now, Random: rand.Reader})
	other := openAgent(t, a, Options{Clock: late.Now, Random: rand.Reader})
	closed := openAgent(t, a, Options{Clock: late.Now, Random: rand.Reader})
	must.Do(t, closed.Close())
	meet := gatherIn(s.memory, 3)
	other.memory.ground, closed.memory.ground = meet, meet
	first, second, third := &caller{text: "first"}, &caller{text: "second"}, &caller{text: "third"}
	var now amber.Time
	var wg sync.WaitGroup
	wg.Go(func() { first.write(t.Context(), s, fine) })
	meet.waits(1)
	wg.Go(func() { third.write(t.Context(), closed, fine) })
	meet.waits(2)
	// By the clock of this last writer, so much time has passed that no other writer would be taken after it.
	wg.Go(func() {
		second.write(t.Context(), other, func(x *tx) error { now = x.Now; return nil })
	})
	wg.Wait()
	must.NoError(t, errors.Join(first.err, second.err))
	must.Kind(t, "closed store", third.err, amber.KindInvalid)
	must.Equal(t, "time of the second", now.UnixMilli(), late.Now().UnixMilli())
	must.Equal(t, "memories", stored(t, s), []string{"first", "second"})
}

// TestWorkThatGoesAlone does what must not share a transaction.
func TestWorkThatGoesAlone(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, _ := freshStore(t, amber.QueueOptions{})
	id := save(t, s, amber.WriteRequest{Content: "a memory"})
	meet := gatherIn(s.memory, 1)
	must.Do(t, must.Err(s.Erase(ctx, id)))
	must.Do(t, s.DeepCheck(ctx))
	must.Do(t, must.Err(s.Apply(ctx, amber.Incoming{Place: "p", Chunk: "c", Trust: amber.TrustImported})))
	must.Do(t, must.Err(s.Ingest(ctx, amber.Ingestion{Journal: strings.Repeat("0", 32), Host: "h", Session: "s", Through: 1})))
	batch := make([]amber.WriteRequest, sqlcore.FewTogether+1)
	for i := range batch {
		batch[i].Content = fmt.Sprint("of a batch, ", i)
	}
	must.Do(t, must.Err(s.WriteBatch(ctx, batch)))
	must.Equal(t, "transactions that could be shared", meet.led, 0)
	must.Do(t, must.Err(s.WriteBatch(ctx, batch[:sqlcore.FewTogether])))
	must.Equal(t, "transactions that could be shared", meet.led, 1)
}

// TestWritersInLine lets many writers of one process write at once, each of whom may
// give up at any moment: what was acknowledged is there, and nothing else.
func TestWritersInLine(t *testing.T) {
	t.Parallel()
	const writers, each = 64, 4
	a := agentIn(t, filepath.Join(t.TempDir(), "home"))
	s := openAgent(t, a, Options{Clock: newHandClock().Now, Random: rand.Reader})
	var mu sync.Mutex
	var acknowledged []string
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for n := range each {
				ctx, quit := context.WithCancel(t.Context())
				if mathrand.IntN(4) == 0 {
					wg.Go(quit)
				}
				text := fmt.Sprintf("writer %02d, number %d", w, n)
				_, err := s.Write(ctx, amber.WriteRequest{Content: text})
				quit()
				if err != nil {
					must.Kind(t, text, err, amber.KindUnreachable)
					continue
				}
				mu.Lock()
				acknowledged = append(acknowledged, text)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	slices.Sort(acknowledged)
	t.Logf("%d of %d acknowledged", len(acknowledged), writers*each)
	must.Equal(t, "memories", stored(t, s), acknowledged)
	again := openAgent(t, a, Options{Clock: newHandClock().Now, Random: rand.Reader})
	must.Equal(t, "memories after opening again", stored(t, again), acknowledged)
	sound(t, again)
}

// TestTransactionIsBounded lets a line of writers without end wait behind one.
func TestTransactionIsBounded(t *testing.T) {
	t.Parallel()
	clock := newHandClock()
	s := openAgent(t, agentIn(t, filepath.Join(t.TempDir(), "home")), Options{Clock: clock.Now, Random: rand.Reader})
	for _, bound := range []struct {
		each time.Duration // that a writer takes
		want int           // writers in a transaction
	}{{0, sqlcore.MaxTogether}, {sqlcore.MaxGather * time.Millisecond / 4, 5}} {
		n := 0
		slow := func(*tx) error { n++; clock.Advance(bound.each); return nil }
		err := s.memory.ground.Write(t.Context(), "memory", func(c home.Current) error {
			used, err := s.memory.transact(t.Context(), c, slow, func() (any, bool) {
				w := sqlcore.NewWork(t.Context(), s.memory.core, s.memory.stillUsable, slow)
				go w.Follow()
				return w, true
			})
			s.memory.written(t.Context(), used)
			return err
		})
		must.NoError(t, err)
		must.Equal(t, "writers in a transaction", n, bound.want)
	}
}
