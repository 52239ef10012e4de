package sqlite_test

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"io"
	mathrand "math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/store/inmem"
	"github.com/amber-memory/amber/store/sqlite"
	"github.com/amber-memory/amber/store/storetest"
)

var (
	seed      = flag.Uint64("seed", 0, "run one history with this seed")
	histories = flag.Int("histories", 4, "how many random histories to run")
)

// place is an agent folder the suite opens and closes.
type place struct{ dir string }

func (p place) Open(ctx context.Context, env storetest.Env) (amber.Store, io.Closer, error) {
	h, _, err := home.Open(filepath.Join(p.dir, "home"), home.Options{Clock: env.Clock, Random: env.Random})
	if err != nil {
		return amber.Store{}, nil, err
	}
	agent, err := h.Agent(amber.DefaultTenant, amber.DefaultAgent)
	if err != nil {
		return amber.Store{}, nil, err
	}
	s, err := sqlite.Open(ctx, agent, sqlite.Options{Clock: env.Clock, Random: env.Random, Queue: env.Queue})
	if err != nil {
		return amber.Store{}, nil, err
	}
	return s.Store(), s, nil
}

func (p place) Remove() error { return os.RemoveAll(p.dir) }

func backend(t *testing.T) storetest.Backend {
	return storetest.Backend{Name: "sqlite", Durable: true, Shared: true, Fresh: func() (storetest.Place, error) {
		dir, err := os.MkdirTemp(t.TempDir(), "place")
		return place{dir}, err
	}}
}

// model is the backend histories are compared with.
func model() storetest.Backend {
	return storetest.Fleeting("inmem", func(env storetest.Env) (amber.Store, error) {
		s, err := inmem.New(inmem.Options{Clock: env.Clock, Random: env.Random, Device: "model", Incarnation: "model", Queue: env.Queue})
		if err != nil {
			return amber.Store{}, err
		}
		return s.Store(), nil
	})
}

func TestSuite(t *testing.T) {
	t.Parallel()
	b := backend(t)
	for _, c := range storetest.Checks() {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			if err := c.Run(t.Context(), b); err != nil && !errors.Is(err, storetest.ErrNotRun) {
				t.Error(err)
			}
		})
	}
}

func TestHistories(t *testing.T) {
	t.Parallel()
	seeds := []uint64{*seed}
	if *seed == 0 {
		seeds = nil
		for range *histories {
			seeds = append(seeds, mathrand.Uint64())
		}
	}
	for _, s := range seeds {
		if err := storetest.History(t.Context(), s, storetest.HistoryOptions{}, model(), backend(t)); err != nil {
			t.Fatalf("repeat with -seed %d: %v", s, err)
		}
	}
}

func TestRecallQuality(t *testing.T) {
	t.Parallel()
	found, total, misses, err := storetest.RecallQuality(t.Context(), backend(t))
	must.Do(t, err)
	t.Logf("the right memory is among the first 5 for %d of %d questions", found, total)
	must.Hold(t, total >= 100 && found >= 85, "found %d of %d; missed:\n%v", found, total, misses)
}

// openIn opens a store on real time.
func openIn(t testing.TB, dir string) *sqlite.Store {
	t.Helper()
	h, _, err := home.Open(dir, home.Options{Clock: time.Now, Random: rand.Reader})
	must.Do(t, err)
	agent := must.Get(h.Agent(amber.DefaultTenant, amber.DefaultAgent))(t)
	s := must.Get(sqlite.Open(t.Context(), agent, sqlite.Options{Clock: time.Now, Random: rand.Reader}))(t)
	t.Cleanup(func() {
		must.NoError(t, s.Close())
	})
	return s
}
