package snapshot_test

import (
	"context"
	crand "crypto/rand"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/store/notes"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/store/sqlite"
)

// Processes put one growing number into memory.db, control.db and a note, all
// three inside one shared lock. Every snapshot holds the same number three
// times.
func TestSnapshotsHoldOneInstant(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	token := filepath.Join(t.TempDir(), "token")
	var counters []*process
	for range max(2, *campaignWriters/2) {
		counters = append(counters, run(t, "count", w.dir, token))
	}
	for _, p := range counters {
		<-p.lines // has counted once
	}
	other := run(t, "pulse", w.dir)
	last, moves, fence := 0, 0, time.Duration(0)
	for range *campaignSnapshots {
		meta := w.snapshot()
		fence = max(fence, time.Duration(meta.FenceMS*float64(time.Millisecond)))
		n := w.mustAgree(meta.ID)
		if n < last {
			t.Fatalf("snapshot %s holds %d, the one before it held %d", meta.ID, n, last)
		}
		if n > last {
			moves++
		}
		last = n
	}
	must.Hold(t, moves != 0, "the number did not grow while snapshots were taken")
	w.mustCheck()
	var waits stalls
	for _, p := range counters {
		waits.add(t, p.end(t))
	}
	var pulses stalls
	pulses.add(t, other.end(t))
	t.Logf("%d snapshots held one number each, %d of them a new one, the last %d", *campaignSnapshots, moves, last)
	t.Logf("writers of notes waited for the lock: %s", &waits)
	t.Logf("other writers waited for the lock: %s", &pulses)
	t.Logf("longest fence: %s", fence)
}

// stalls are how long writers waited.
type stalls []time.Duration

func (s *stalls) add(t *testing.T, lines []string) {
	t.Helper()
	for _, line := range lines {
		n := must.Get(strconv.ParseInt(line, 10, 64))(t)
		*s = append(*s, time.Duration(n))
	}
}

func (s *stalls) String() string {
	if len(*s) == 0 {
		return "never asked"
	}
	slices.Sort(*s)
	at := func(percent int) time.Duration { return (*s)[(len(*s)-1)*percent/100].Round(10 * time.Microsecond) }
	return fmt.Sprintf("half %s, 99 of 100 %s, longest %s, of %d", at(50), at(99), at(100), len(*s))
}

// mustAgree returns the number that a snapshot holds.
func (w *world) mustAgree(id amber.SnapshotID) int {
	w.t.Helper()
	p := w.past(id)
	defer p.close(w.t)
	task := must.Get(p.store.Task(w.t.Context(), "number"))(w.t)
	memories := slices.Collect(maps.Values(texts(w.t, p.store)))
	got := []string{strings.Join(memories, ","), task.Goal, p.note(w.t, "number")}
	if got[0] != got[1] || got[1] != got[2] {
		w.t.Fatalf("snapshot %s holds %q in memory.db, %q in control.db and %q in the note", id, got[0], got[1], got[2])
	}
	return must.Get(strconv.Atoi(got[0]))(w.t)
}

// count is a process that counts until it is stopped, and then prints how long
// it waited each time it asked for the lock. Counters take turns among
// themselves before they ask, so what they wait for is the snapshots' doing.
//
// An operation over several stores cannot be split by a fence if it holds the
// lock once for all of them. No public call does so yet: every store takes the
// lock for itself, and taking it twice in one operation would wait for a fence
// that waits for the operation. So the three are written below the locks, as a
// builder of a generation writes them.
func count(c *child, args []string) error {
	ctx := context.Background()
	current, err := c.agent.Current()
	if err != nil {
		return err
	}
	store, err := sqlite.OpenGeneration(ctx, c.agent, current, sqlite.Options{Clock: time.Now, Random: crand.Reader})
	if err != nil {
		return err
	}
	defer store.Close()
	notes, err := notes.New(notes.Options{Guard: notes.Fixed(filepath.Join(c.agent.GenDir(current), "memdir")), Clock: time.Now})
	if err != nil {
		return err
	}
	var waited []time.Duration
	for first := true; !c.stopped(rand.N(60 * time.Millisecond)); first = false {
		turn, err := fsx.AcquireLock(ctx, args[0], fsx.Exclusive)
		if err != nil {
			return err
		}
		asked := time.Now()
		err = c.agent.Write(ctx, "notes", func(now home.Current) error {
			waited = append(waited, time.Since(asked))
			if now != current {
				return fmt.Errorf("generation %d is live, not %d", now.Generation, current.Generation)
			}
			return next(ctx, store, notes)
		})
		if err := errors.Join(err, turn.Unlock()); err != nil {
			return err
		}
		if first {
			fmt.Println("counted")
		}
	}
	for _, d := range waited {
		fmt.Println(d.Nanoseconds())
	}
	return nil
}

// next puts the next number into three places.
func next(ctx context.Context, store *sqlite.Store, notes *notes.Dir) error {
	task, err := store.Task(ctx, "number")
	if amber.KindOf(err) == amber.KindNotFound {
		task, err = amber.Task{ID: "number"}, nil
	}
	if err != nil {
		return err
	}
	number := strconv.FormatInt(task.Version+1, 10)
	if _, err := store.Write(ctx, amber.WriteRequest{Content: number, Topic: "number"}); err != nil {
		return err
	}
	task.Goal = number
	if _, err := store.SaveTask(ctx, task, task.Version); err != nil {
		return err
	}
	_, err = notes.WriteNote(ctx, amber.NoteWrite{Name: "number", Content: number})
	return err
}

// pulse is a process that does nothing but ask for the lock, as a writer of
// another store does, and tells how long it waited.
func pulse(c *child, _ []string) error {
	var waited []time.Duration
	for !c.stopped(2 * time.Millisecond) {
		asked := time.Now()
		err := c.agent.Write(context.Background(), "pulse", func(home.Current) error {
			waited = append(waited, time.Since(asked))
			return nil
		})
		if err != nil {
			return err
		}
	}
	for _, d := range waited {
		fmt.Println(d.Nanoseconds())
	}
	return nil
}
