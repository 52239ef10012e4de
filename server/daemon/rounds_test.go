package daemon

import (
	"context"
	"crypto/rand"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/home"
	"github.com/amber-memory/amber/internal/check"
	"github.com/amber-memory/amber/store/sqlite"
)

// A visit that did nothing is not the last one, though nothing changes: events
// that are switched on later are not lost.
func TestAVisitThatDidNothingIsMadeAgain(t *testing.T) {
	t.Parallel()
	h, _, err := home.Open(t.TempDir()+"/home", home.Options{Clock: time.Now, Random: rand.Reader})
	check.OK(t, err)
	agent, err := h.Agent(amber.DefaultTenant, amber.DefaultAgent)
	check.OK(t, err)
	store, err := sqlite.Open(t.Context(), agent, sqlite.Options{Clock: time.Now, Random: rand.Reader})
	check.OK(t, err)
	check.OK(t, store.Close())
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s := &Daemon{o: Options{Clock: time.Now, Home: h}}
	visits := 0
	report := func(_ string, err error) {
		if err != nil {
			t.Errorf("it is told as a failure: %v", err)
		}
	}
	err = s.rounds(ctx, report, 0, nil, func(context.Context, *home.Agent) (string, error) {
		if visits++; visits == 2 {
			cancel()
		}
		return "", errNotNow
	})
	if err != nil || visits != 2 {
		t.Errorf("%d visits, %v", visits, err)
	}
}
