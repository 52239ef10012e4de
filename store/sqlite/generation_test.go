package sqlite

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/base/sqlconn"
	"github.com/amber-memory/amber/internal/store/sqlfile"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/home"
)

// copyGeneration makes the next generation of an agent, its databases copies
// of the live ones as they are now.
func copyGeneration(t *testing.T, a *home.Agent, from home.Current) home.Current {
	t.Helper()
	next := from
	next.Generation++
	next.Incarnation = must.Get(amber.NewUUID(newHandClock().Now(), rand.Reader))(t)
	must.Do(t, os.Mkdir(a.GenDir(next), 0o700))
	for _, file := range []string{"memory.db", "control.db"} {
		p := must.Get(sqlfile.OpenPool(filepath.Join(a.GenDir(from), file), sqlfile.Write, time.Second, 1))(t)
		must.Get(p.DB.Exec("VACUUM INTO ?", filepath.Join(a.GenDir(next), file)))(t)
		must.Do(t, p.Close())
	}
	return next
}

// publish makes a generation the live one.
func publish(t *testing.T, a *home.Agent, c home.Current) {
	t.Helper()
	var b bytes.Buffer
	fmt.Fprintf(&b, "amber-current 1\ngeneration %d\nincarnation %s\ndevice %s\nclock %s\n", c.Generation, c.Incarnation, c.Device, c.Clock)
	fmt.Fprintf(&b, "crc32c %08x\n", crc32.Checksum(b.Bytes(), crc32.MakeTable(crc32.Castagnoli)))
	must.Do(t, fsx.Replace(fsx.OS(), filepath.Join(a.Dir(), "CURRENT"), 0o600, b.Bytes()))
}

// restore copies the live generation, lets something happen after that, and
// switches to the copy.
func restore(t *testing.T, a *home.Agent, then func(next *home.Current)) home.Current {
	t.Helper()
	next := copyGeneration(t, a, must.Get(a.Current())(t))
	if then != nil {
		then(&next)
	}
	must.Do(t, a.Exclusive(t.Context(), func(home.Current) error {
		publish(t, a, next)
		return nil
	}))
	return next
}

func TestNextUseIsOfTheNewGeneration(t *testing.T) {
	t.Parallel()
	for _, first := range []string{"read", "write"} {
		t.Run(first+" first", func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			s, _ := freshStore(t, amber.QueueOptions{})
			kept := save(t, s, amber.WriteRequest{Content: "before the copy"})
			must.Get(s.SaveTask(ctx, amber.Task{ID: "kept", Goal: "g"}, 0))(t)
			old := must.Get(s.agent.Current())(t)
			var lost amber.MemoryID
			restore(t, s.agent, func(*home.Current) {
				lost = save(t, s, amber.WriteRequest{Content: "after the copy"})
				must.Get(s.SaveTask(ctx, amber.Task{ID: "lost", Goal: "g"}, 0))(t)
			})
			if first == "write" {
				save(t, s, amber.WriteRequest{Content: "after the switch"})
				must.Get(s.SaveTask(ctx, amber.Task{ID: "new", Goal: "g"}, 0))(t)
			}
			must.Get(s.Get(ctx, kept))(t)
			must.Get(s.Task(ctx, "kept"))(t)
			must.Fail(s.Get(ctx, lost))(t, "memory the copy does not have", amber.KindNotFound)
			must.Fail(s.Task(ctx, "lost"))(t, "task the copy does not have", amber.KindNotFound)
			if first == "read" {
				save(t, s, amber.WriteRequest{Content: "after the switch"})
			}
			must.Equal(t, "memories in the new generation", must.Get(s.Stats(ctx))(t).Memories, 2)
			p := must.Get(sqlfile.OpenPool(s.memory.path(old), sqlfile.Write, time.Second, 1))(t)
			var n int
			must.Do(t, p.DB.QueryRow(`SELECT count(*) FROM memories WHERE content = 'after the switch'`).Scan(&n))
			must.Do(t, p.Close())
			must.Equal(t, "memories written to the old generation after the switch", n, 0)
			must.Do(t, s.memory.Update(ctx, "look", "", func(x *tx) error { return samePragmas(x, false) }))
			sound(t, s)
		})
	}
}

// A transaction that reads when the switch comes finishes on the old generation; then
// the store closes the old connections.
func TestOldHandlesAreClosedAfterTheirUsers(t *testing.T) {
	t.Parallel()
	s, _ := freshStore(t, amber.QueueOptions{})
	save(t, s, amber.WriteRequest{Content: "before the copy"})
	h := s.memory.live
	must.Do(t, s.memory.View(t.Context(), "hold", "", func(x *tx) error {
		count := func() (n int) {
			must.Do(t, x.Row(`SELECT count(*) FROM memories`).Scan(&n))
			return n
		}
		count()
		restore(t, s.agent, nil)
		save(t, s, amber.WriteRequest{Content: "after the switch"})
		if s.memory.live == h {
			t.Fatal("the old handles are live")
		}
		must.Equal(t, "memories the reader sees, of its own generation", count(), 1)
		return nil
	}))
	for name, p := range map[string]*sqlconn.Pool{"writer": h.writer, "readers": h.readers} {
		must.Equal(t, "open connections of the old "+name, p.DB.Stats().OpenConnections, 0)
	}
}

// A reader that asked which generation is live before the switch, and comes
// for its connection after it, does not bring the old one back.
func TestLateReaderGetsTheNewGeneration(t *testing.T) {
	t.Parallel()
	s, _ := freshStore(t, amber.QueueOptions{})
	old := must.Get(s.agent.Current())(t)
	next := restore(t, s.agent, nil)
	save(t, s, amber.WriteRequest{Content: "after the switch"})
	must.Do(t, os.RemoveAll(s.agent.GenDir(old))) // as a restore may when it is done
	h := must.Get(s.memory.acquire(t.Context(), old))(t)
	defer s.memory.release(h)
	must.Equal(t, "incarnation", h.current.Incarnation, next.Incarnation)
}

func TestPositionsAcrossGenerations(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, _ := freshStore(t, amber.QueueOptions{})
	write := func(text string) amber.Position {
		save(t, s, amber.WriteRequest{Content: text})
		return must.Get(s.Head(ctx))(t)
	}
	first := write("one")
	second := write("two")
	var lost amber.Position
	next := restore(t, s.agent, func(*home.Current) { lost = write("only in the old history") })
	keysAfter := func(p amber.Position) []string {
		keys := []string{}
		for _, c := range must.Get(s.Changes(ctx, p, 99))(t) {
			keys = append(keys, c.Key)
		}
		return keys
	}
	for _, when := range []string{"before", "after"} {
		must.Fail(s.Changes(ctx, lost, 9))(t, "position the new history does not contain, "+when+" its first write", amber.KindConflict)
		_, err := s.Changes(ctx, amber.PositionAt("0193c5a8-0000-7000-8000-000000000000", 1), 9)
		must.Kind(t, "position of a history nobody knows", err, amber.KindConflict)
		if when == "before" {
			write("three")
		}
	}
	all := keysAfter("")
	if len(all) != 3 {
		t.Fatalf("the log has %d entries, want 3", len(all))
	}
	must.Equal(t, "keys after the first", keysAfter(first), all[1:])
	must.Equal(t, "keys after the second", keysAfter(second), all[2:])
	incarnation, _, err := must.Get(s.Head(ctx))(t).Parse()
	if incarnation != next.Incarnation || err != nil {
		t.Errorf("the head is of %s, want %s", incarnation, next.Incarnation)
	}
	wantNone(t, "keys after the head", keysAfter(must.Get(s.Head(ctx))(t)))
}

// Stamps go on from the clock mark of the generation, however far the copy or
// the wall clock is behind it.
func TestStampsNeverGoBack(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, clock := freshStore(t, amber.QueueOptions{})
	id := save(t, s, amber.WriteRequest{Content: "a"})
	var mark amber.Stamp
	restore(t, s.agent, func(next *home.Current) {
		clock.Advance(time.Hour)
		late := save(t, s, amber.WriteRequest{Content: "lost with the old generation"})
		mark = must.Get(s.Get(ctx, late))(t).Origin.Clock
		next.Clock = mark
	})
	clock.Advance(-2 * time.Hour)
	last := mark
	for i := range 3 {
		title := fmt.Sprint("edit ", i)
		m := must.Get(s.Edit(ctx, amber.EditRequest{ID: id, Title: &title}))(t)
		must.Hold(t, m.Origin.Clock > last, "edit %d is stamped %s, not after %s", i, m.Origin.Clock, last)
		last = m.Origin.Clock
	}
	if got := must.Get(s.LastStamp(ctx))(t); got < last {
		t.Errorf("the newest change is stamped %s, before %s", got, last)
	}
}

// Writers that meet a switch lose nothing: what is acknowledged before it is
// in the copy, what comes after it is in the new generation.
func TestWritersMeetSwitches(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, clock := freshStore(t, amber.QueueOptions{})
	second := openAgent(t, agentIn(t, homeOf(s.agent)), Options{Clock: clock.Now, Random: rand.Reader})
	var mu sync.Mutex
	var acknowledged []amber.MemoryID
	stop := make(chan struct{})
	var done sync.WaitGroup
	for i, st := range []*Store{s, s, second} {
		done.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				ack, err := st.Write(ctx, amber.WriteRequest{Content: fmt.Sprintf("writer %d, %d", i, n)})
				if err != nil {
					t.Errorf("writer %d: %v", i, err)
					return
				}
				mu.Lock()
				acknowledged = append(acknowledged, ack.ID)
				mu.Unlock()
				if _, err := st.Get(ctx, ack.ID); err != nil {
					t.Errorf("writer %d reads what it wrote: %v", i, err)
					return
				}
			}
		})
	}
	for range 4 {
		must.Do(t, s.agent.Exclusive(ctx, func(c home.Current) error {
			publish(t, s.agent, copyGeneration(t, s.agent, c))
			return nil
		}))
	}
	close(stop)
	done.Wait()
	for _, id := range acknowledged {
		must.NoError(t, must.Err(second.Get(ctx, id)))
	}
	if c := must.Get(s.agent.Current())(t); c.Generation != 5 || len(acknowledged) == 0 {
		t.Errorf("%d memories in generation %d: the test tests nothing", len(acknowledged), c.Generation)
	}
	sound(t, s)
}
