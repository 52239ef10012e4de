package fifo

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/amber-memory/amber/internal/test/must"
)

// queued starts a goroutine that enters the line, calls inside and leaves. It returns once the goroutine
// stands in the line, or is through.
func queued(ctx context.Context, l *Line, inside func(error)) {
	go func() {
		err := l.Enter(ctx)
		inside(err)
		if err == nil {
			l.Leave()
		}
	}()
	synctest.Wait()
}

func mustEnter(t *testing.T, l *Line) {
	t.Helper()
	must.Do(t, l.Enter(t.Context()))
}

// checkFree checks that no writer holds the line or waits in it.
func checkFree(t *testing.T, l *Line) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held || l.waiting.Len() != 0 {
		t.Errorf("held %v, %d waiting; want a free line", l.held, l.waiting.Len())
	}
}

func TestLineIsFirstInFirstOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := &Line{}
		mustEnter(t, l)
		var order []int // the line guards it
		for i := range 100 {
			queued(t.Context(), l, func(err error) {
				must.NoError(t, err)
				order = append(order, i)
			})
		}
		if len(order) != 0 {
			t.Fatalf("%d got in while the line was held", len(order))
		}
		l.Leave()
		synctest.Wait()
		want := make([]int, 100)
		for i := range want {
			want[i] = i
		}
		must.Equal(t, "order", order, want)
		checkFree(t, l)
	})
}

func TestLineIsLeftWhenTheContextEnds(t *testing.T) {
	t.Parallel()
	for quits := range 3 {
		synctest.Test(t, func(t *testing.T) {
			l := &Line{}
			mustEnter(t, l)
			ctx, quit := context.WithCancel(t.Context())
			got := make([]error, 3)
			through := 0
			for i := range got {
				waits := t.Context()
				if i == quits {
					waits = ctx
				}
				queued(waits, l, func(err error) { got[i], through = err, through+1 })
			}
			quit()
			synctest.Wait()
			if through != 1 || !errors.Is(got[quits], context.Canceled) {
				t.Fatalf("%d are through and number %d has %v; want it alone, canceled", through, quits, got[quits])
			}
			l.Leave()
			synctest.Wait()
			must.Equal(t, "who is through", through, len(got))
			for i, err := range got {
				if i != quits && err != nil {
					t.Errorf("number %d: %v", i, err)
				}
			}
			checkFree(t, l)
		})
	}
}

// TestLinePassesATurnOn grants the turn to a waiter that has just given up: it goes to the next in line.
func TestLinePassesATurnOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := &Line{}
		mustEnter(t, l)
		ctx, quit := context.WithCancel(t.Context())
		first, second := errors.New("waiting"), errors.New("waiting")
		queued(ctx, l, func(err error) { first = err })
		queued(t.Context(), l, func(err error) { second = err })
		// The line's own mutex keeps the waiter, awake already, from leaving the line before it is granted.
		l.mu.Lock()
		quit()
		l.next()
		l.mu.Unlock()
		synctest.Wait()
		if !errors.Is(first, context.Canceled) || second != nil {
			t.Errorf("the first in line has %v, the second %v; want canceled, nil", first, second)
		}
		checkFree(t, l)
	})
}

// TestLineUnderStress lets thousands wait, some of whom give up at any moment. One is inside at a time,
// and in the end the line is free: no turn got lost.
func TestLineUnderStress(t *testing.T) {
	t.Parallel()
	const waiters = 4000
	var l Line
	var inside, given atomic.Int32
	count := 0 // the line guards it, and the race detector watches
	var wg sync.WaitGroup
	for i := range waiters {
		wg.Go(func() {
			ctx, quit := context.WithCancel(t.Context())
			defer quit()
			if i%3 == 0 {
				wg.Go(quit)
			}
			for range 1 + rand.IntN(3) {
				if err := l.Enter(ctx); err != nil {
					given.Add(1)
					return
				}
				must.Equal(t, "inside", inside.Add(1), 1)
				count++
				inside.Add(-1)
				l.Leave()
			}
		})
	}
	wg.Wait()
	if count < waiters/2 {
		t.Errorf("only %d turns", count)
	}
	t.Logf("%d turns, %d gave up", count, given.Load())
	checkFree(t, &l)
}

// joined starts a goroutine that stands in the line with a work, and reports what became of it.
func joined(ctx context.Context, l *Line, work any, end func(taken bool, err error)) {
	go func() {
		taken, err := l.Join(ctx, work)
		end(taken, err)
		if err == nil && !taken {
			l.Leave()
		}
	}()
	synctest.Wait()
}

// TestLineHandsOverWork takes the work of the waiters in their order, up to the first waiter whose work is not to be
// shared. A waiter that gave up is not taken, and a waiter that was taken does not give up any more.
func TestLineHandsOverWork(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := &Line{}
		mustEnter(t, l)
		ctx, quit := context.WithCancel(t.Context())
		var taken []string
		note := func(name string) func(bool, error) {
			return func(was bool, err error) {
				if was && err == nil {
					taken = append(taken, name)
				}
			}
		}
		joined(t.Context(), l, "a", note("a"))
		var gone error
		joined(ctx, l, "b", func(_ bool, err error) { gone = err })
		joined(t.Context(), l, "c", note("c"))
		queued(t.Context(), l, func(error) {})
		var last bool
		joined(t.Context(), l, "d", func(was bool, _ error) { last = was })
		quit()
		synctest.Wait()
		must.Is(t, "the waiter that gave up", gone, context.Canceled)
		for _, want := range []string{"a", "c"} {
			work, ok := l.Take()
			must.Equal(t, "work", work, any(want))
			must.Equal(t, "found", ok, true)
			synctest.Wait()
		}
		if work, ok := l.Take(); ok {
			t.Errorf("took %v from behind a waiter whose work is not shared", work)
		}
		must.Equal(t, "who was taken", taken, []string{"a", "c"})
		l.Leave()
		synctest.Wait()
		must.Equal(t, "the last was taken", last, false)
		checkFree(t, l)
	})
}

// TestLineKeepsWhatWasTaken takes the work of a waiter that is just giving up: the taker
// has it, so the waiter must not say that nothing will happen.
func TestLineKeepsWhatWasTaken(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := &Line{}
		mustEnter(t, l)
		ctx, quit := context.WithCancel(t.Context())
		var taken bool
		err := errors.New("waiting")
		joined(ctx, l, "a", func(was bool, e error) { taken, err = was, e })
		// The line's own mutex keeps the waiter, awake already, from leaving the line before it is taken.
		l.mu.Lock()
		quit()
		_, ok := l.takeFirst()
		l.mu.Unlock()
		must.Equal(t, "found", ok, true)
		synctest.Wait()
		must.NoError(t, err)
		must.Equal(t, "taken", taken, true)
		l.Leave()
		checkFree(t, l)
	})
}

func TestEachKeyHasALine(t *testing.T) {
	t.Parallel()
	var all Lines[string]
	memory, control := all.Of("memory"), all.Of("control")
	if memory == control || all.Of("memory") != memory {
		t.Error("two keys share a line, or one has two")
	}
}
