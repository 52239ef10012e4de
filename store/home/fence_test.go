package home_test

import (
	"errors"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/home"
)

// TestExclusiveDoesNotStarve has busy writers, each with a handle of its own, and a fence that
// wants them to stand still again and again. All of them get in, and no two are inside together
// that must not be.
func TestExclusiveDoesNotStarve(t *testing.T) {
	t.Parallel()
	const writers, rounds = 8, 100
	dir, _ := madeHome(t)
	stores := []string{"memory", "control"}
	var inside [2]atomic.Int32
	var written atomic.Int64
	var stop atomic.Bool
	var wg sync.WaitGroup
	for i := range writers {
		a, store := handle(t, dir, options(nil)), i%len(stores)
		wg.Go(func() {
			for !stop.Load() {
				err := a.Write(t.Context(), stores[store], func(home.Current) error {
					must.Equal(t, "writers of "+stores[store], inside[store].Add(1), 1)
					runtime.Gosched()
					inside[store].Add(-1)
					written.Add(1)
					return nil
				})
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	a := handle(t, dir, options(nil))
	for range rounds {
		before := written.Load()
		err := a.Exclusive(t.Context(), func(home.Current) error {
			runtime.Gosched()
			must.Equal(t, "writers inside while everything stands still", inside[0].Load()+inside[1].Load(), 0)
			return nil
		})
		if err != nil {
			t.Error(err)
			break
		}
		for written.Load() == before && !t.Failed() { // the writers are not starved either
			runtime.Gosched()
		}
	}
	stop.Store(true)
	wg.Wait()
}

// TestFenceComesBeforeLaterWriters: who closes the gate waits for those inside, not for those who come after.
func TestFenceComesBeforeLaterWriters(t *testing.T) {
	t.Parallel()
	dir, _ := madeHome(t)
	first, second, fence := handle(t, dir, options(nil)), handle(t, dir, options(nil)), handle(t, dir, options(nil))
	order := make(chan string, 2)
	done := make(chan error, 2)
	holding(t, first, writesMemory, func() {
		go func() {
			done <- fence.Exclusive(t.Context(), func(home.Current) error { order <- "fence"; return nil })
		}()
		awaitLocked(t, filepath.Join(agentDir(dir), "gate"))
		go func() {
			done <- second.Write(t.Context(), "memory", func(home.Current) error { order <- "second"; return nil })
		}()
	})
	for range 2 {
		must.NoError(t, <-done)
	}
	must.Equal(t, "first to get in", <-order, "fence")
}

// TestWaitersSeeTheSwitch has a writer and a fence wait behind a switch to another generation, as a restore
// makes it. Both go on with the new one.
func TestWaitersSeeTheSwitch(t *testing.T) {
	t.Parallel()
	dir, old := madeHome(t)
	a, b := handle(t, dir, options(nil)), handle(t, dir, options(nil))
	next := old
	next.Generation, next.Incarnation = old.Generation+1, "another history"
	got := make(chan home.Current, 2)
	done := make(chan error, 2)
	see := func(c home.Current) error {
		got <- c
		return nil
	}
	must.Do(t, a.Exclusive(t.Context(), func(c home.Current) error {
		must.Equal(t, "inside the switch", c, old)
		go func() { done <- b.Write(t.Context(), "memory", see) }()
		go func() { done <- b.Exclusive(t.Context(), see) }()
		// A writer that has its turn waits at the gate.
		awaitLocked(t, filepath.Join(a.Dir(), "turn-memory"))
		if err := fsx.MkdirAll(fsx.OS(), a.GenDir(next), 0o700); err != nil {
			return err
		}
		return fsx.Replace(fsx.OS(), filepath.Join(a.Dir(), "CURRENT"), 0o600, home.MarshalCurrent(next))
	}))
	for range 2 {
		must.Do(t, <-done)
		must.Equal(t, "generation of who waited", <-got, next)
	}
	checkBuilt(t, fsx.OS(), a, old) // a switch leaves the old generation alone
}

// awaitLocked returns once a process holds the lock file exclusively.
func awaitLocked(t *testing.T, path string) {
	t.Helper()
	for {
		l, err := fsx.TryLock(path, fsx.Shared)
		if errors.Is(err, fsx.ErrLocked) {
			return
		}
		if err != nil {
			t.Error(err)
			return
		}
		must.NoError(t, l.Unlock())
		runtime.Gosched()
	}
}
