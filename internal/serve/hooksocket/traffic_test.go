package hooksocket

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/amber-memory/amber/internal/test/must"
)

// Work in the background goes on at once without requests, stands back for a moment after
// one and as long as a hook is answered, and never for long.
func TestWorkStandsBackWhileRequestsAreAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		crowded := false
		tr := Traffic{Clock: time.Now, Crowded: func() bool { return crowded }}
		waited := func(ctx context.Context) time.Duration {
			begin := time.Now()
			tr.StandBack(ctx)
			return time.Since(begin)
		}
		ask := func(door func(http.Handler) http.Handler, takes time.Duration) {
			h := door(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { time.Sleep(takes) }))
			go h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil))
			synctest.Wait()
		}
		must.Equal(t, "wait without requests", waited(t.Context()), 0)
		ask(tr.Counted, time.Hour)
		must.Equal(t, "wait after a request that does not end", waited(t.Context()), afterRequest)
		ask(tr.ofHooks, 98*time.Millisecond)
		must.Equal(t, "wait while a hook is answered", waited(t.Context()), 100*time.Millisecond)
		ask(tr.ofHooks, time.Hour)
		must.Equal(t, "wait while a hook is answered for long", waited(t.Context()), longestBack)
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		must.Equal(t, "wait of a server that ends", waited(ctx), 20*time.Millisecond)
		time.Sleep(2 * time.Hour)
		crowded = true
		must.Equal(t, "wait on a crowded machine without hooks", waited(t.Context()), 0)
		ask(tr.ofHooks, 10*time.Millisecond)
		must.Equal(t, "wait on a crowded machine after a hook", waited(t.Context()), crowdedBack)
		time.Sleep(hooksMinute)
		must.Equal(t, "wait a minute after it", waited(t.Context()), 0)
	})
}

// All the time that a round stands back is bounded, and on a crowded machine that answers
// hooks it then works for a part of the time.
func TestRoundStandsBackOnlySoLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		crowded := false
		tr := Traffic{Clock: time.Now, Crowded: func() bool { return crowded }}
		tr.hooks.Add(1) // it is never answered
		stand, begin := tr.Politely(LongestRound), time.Now()
		for range 1000 {
			stand(t.Context())
		}
		must.Equal(t, "time of all", time.Since(begin), LongestRound)
		tr.lastHook.Store(time.Now().UnixNano())
		crowded, begin = true, time.Now()
		stand(t.Context())
		must.Equal(t, "rest after no work", time.Since(begin), 0)
		for _, work := range []time.Duration{10 * time.Millisecond, 100 * time.Millisecond, 10 * time.Second} {
			time.Sleep(work)
			begin = time.Now()
			stand(t.Context())
			must.Equal(t, "rest after work of "+work.String(), time.Since(begin), min(restsFor*work, crowdedBack))
		}
	})
}
