package daemon

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
	// longestRound is how long the drain of one agent stands back in all: what an agent said
	// is to be found soon, whatever the traffic.
	longestRound = 5 * time.Second
	hooksMinute  = time.Minute
	// lookAgain is how often it looks.
	lookAgain = 5 * time.Millisecond
)

// traffic is what the requests to a server tell its work in the background, which can wait.
// Safe for concurrent use.
type traffic struct {
	clock    amber.Clock
	crowded  func() bool  // the machine has more to do than it can
	hooks    atomic.Int64 // requests of hooks under way: an agent waits for each
	last     atomic.Int64 // when a request came last, in Unix nanoseconds
	lastHook atomic.Int64 // when one of a hook did
}

// counted is a door whose requests count.
func (t *traffic) counted(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t.last.Store(t.clock().UnixNano())
		next.ServeHTTP(w, r)
	})
}

// ofHooks is the door of hooks.
func (t *traffic) ofHooks(next http.Handler) http.Handler {
	return t.counted(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t.hooks.Add(1)
		t.lastHook.Store(t.clock().UnixNano())
		defer t.hooks.Add(-1)
		next.ServeHTTP(w, r)
	}))
}

// standBack waits until no hook is being answered and no request has come for a moment, but
// not for long, and not beyond the end of ctx. On a crowded machine that answers hooks it
// waits longer in any case.
func (t *traffic) standBack(ctx context.Context) {
	begin := t.clock()
	least, most := time.Duration(0), longestBack
	if begin.Sub(time.Unix(0, t.lastHook.Load())) < hooksMinute && t.crowded() {
		least, most = crowdedBack, crowdedBack
	}
	for {
		passed := t.clock().Sub(begin)
		quiet := t.hooks.Load() == 0 && t.clock().Sub(time.Unix(0, t.last.Load())) >= afterRequest
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

// politely returns a function that stands back as long as all its calls together have not
// taken more than most.
func (t *traffic) politely(most time.Duration) func(ctx context.Context) {
	return func(ctx context.Context) {
		if most <= 0 {
			return
		}
		begin := t.clock()
		t.standBack(ctx)
		most -= t.clock().Sub(begin)
	}
}
