package hooksocket

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/amber-memory/amber"
)

const (
	// afterRequest is how long work in the background stands back when a request has come,
	// and longestBack how long at most: requests that never end do not stop it.
	afterRequest = 50 * time.Millisecond
	longestBack  = 250 * time.Millisecond
	// crowdedBack is how long it stands back on a crowded machine where a hook came within
	// hooksMinute: what is begun then is still in the way of the next one.
	crowdedBack = time.Second
	// LongestRound is how long the drain of one agent stands back in all: what an agent said
	// is to be found soon, whatever the traffic. After that it works a part of the time, on a
	// crowded machine that answers hooks: for each moment of work it rests so many.
	LongestRound = 5 * time.Second
	restsFor     = 4
	hooksMinute  = time.Minute
	// lookAgain is how often it looks.
	lookAgain = 5 * time.Millisecond
)

// Traffic is what the requests to a server tell its work in the background, which can wait.
// Safe for concurrent use.
type Traffic struct {
	Clock   amber.Clock
	Crowded func() bool // the machine has more to do than it can

	hooks    atomic.Int64 // requests of hooks under way: an agent waits for each
	last     atomic.Int64 // when a request came last, in Unix nanoseconds
	lastHook atomic.Int64 // when one of a hook did
}

// Counted is a door whose requests count.
func (t *Traffic) Counted(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t.last.Store(t.Clock().UnixNano())
		next.ServeHTTP(w, r)
	})
}

// ofHooks is the door of hooks.
func (t *Traffic) ofHooks(next http.Handler) http.Handler {
	return t.Counted(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t.hooks.Add(1)
		t.lastHook.Store(t.Clock().UnixNano())
		defer t.hooks.Add(-1)
		next.ServeHTTP(w, r)
	}))
}

// Asked is when a hook asked last; the zero time before the first.
func (t *Traffic) Asked() time.Time {
	if at := t.lastHook.Load(); at != 0 {
		return time.Unix(0, at)
	}
	return time.Time{}
}

// StandBack waits until no hook is being answered and no request has come for a moment, but
// not for long, and not beyond the end of ctx. On a crowded machine that answers hooks it
// waits longer in any case.
func (t *Traffic) StandBack(ctx context.Context) {
	if t.isBusy() {
		t.wait(ctx, crowdedBack, crowdedBack)
	} else {
		t.wait(ctx, 0, longestBack)
	}
}

// isBusy reports whether the machine is crowded and answers hooks.
func (t *Traffic) isBusy() bool {
	return t.Clock().Sub(time.Unix(0, t.lastHook.Load())) < hooksMinute && t.Crowded()
}

// wait waits for some time, and then until no hook is being answered and no request has come
// for a moment, but not longer than most.
func (t *Traffic) wait(ctx context.Context, least, most time.Duration) {
	for begin := t.Clock(); ; {
		passed := t.Clock().Sub(begin)
		quiet := t.hooks.Load() == 0 && t.Clock().Sub(time.Unix(0, t.last.Load())) >= afterRequest
		if passed >= most || passed >= least && quiet {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(lookAgain):
		}
	}
}

// Politely returns a function that stands back between two parts of a work: as long as all its
// calls together have not taken more than most, and then only as far as the work goes on for a
// part of the time.
func (t *Traffic) Politely(most time.Duration) func(ctx context.Context) {
	worked := t.Clock() // since when
	return func(ctx context.Context) {
		begin := t.Clock()
		switch rest := min(restsFor*begin.Sub(worked), crowdedBack); {
		case most > 0:
			t.StandBack(ctx)
			most -= t.Clock().Sub(begin)
		case t.isBusy():
			t.wait(ctx, rest, rest)
		}
		worked = t.Clock()
	}
}
