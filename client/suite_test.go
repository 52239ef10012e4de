package client_test

import (
	"errors"
	"flag"
	mathrand "math/rand/v2"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/storetest"
)

var (
	seed      = flag.Uint64("seed", 0, "run one history with this seed")
	histories = flag.Int("histories", 2, "how many random histories to run")
)

// TestKeepsEveryPromiseOfItsBackend runs the suite through the client over
// HTTP. A check that the backend itself is asked must be asked here too, but for questions to everything: only a person on
// their own home asks these, so a client has no such part.
func TestKeepsEveryPromiseOfItsBackend(t *testing.T) {
	t.Parallel()
	for name, b := range map[string]storetest.Backend{"inmem": inMemory(), "sqlite": onDisk(t)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, c := range storetest.Checks() {
				t.Run(c.Name, func(t *testing.T) {
					t.Parallel()
					err := c.Run(t.Context(), remote(b))
					if strings.HasPrefix(c.Name, "ask/") {
						must.Equal(t, "the client has no questions to everything", errors.Is(err, storetest.ErrNotRun), true)
						return
					}
					if errors.Is(err, storetest.ErrNotRun) {
						if own := c.Run(t.Context(), b); !errors.Is(own, storetest.ErrNotRun) {
							t.Errorf("%v, but the backend itself has it", err)
						}
						return
					}
					must.NoError(t, err)
				})
			}
		})
	}
}

// TestHistoriesAgreeWithTheBackend does the same random things to a store and
// to one that is served, and compares everything they hold.
func TestHistoriesAgreeWithTheBackend(t *testing.T) {
	t.Parallel()
	seeds := []uint64{*seed}
	if *seed == 0 {
		seeds = nil
		for range *histories {
			seeds = append(seeds, mathrand.Uint64())
		}
	}
	for _, s := range seeds {
		if err := storetest.History(t.Context(), s, storetest.HistoryOptions{}, inMemory(), remote(inMemory())); err != nil {
			t.Fatalf("repeat with -seed %d: %v", s, err)
		}
	}
}
