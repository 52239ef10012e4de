package gitsync_test

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
)

var (
	seed      = flag.Uint64("seed", 0, "run one history with this seed")
	histories = flag.Int("histories", 4, "how many random histories to run")
)

// TestEveryHistoryConverges lets clones live at random and then settles them: all of them hold the same, nothing that
// was saved is missing, nothing that was deleted returns, and importing or exporting once more does nothing. Among them
// is an adversary who writes what they like to the folder: see converge_adversary_test.go.
func TestEveryHistoryConverges(t *testing.T) {
	t.Parallel()
	seeds := []uint64{*seed}
	if *seed == 0 {
		seeds = nil
		for range *histories {
			seeds = append(seeds, rand.Uint64())
		}
	}
	done := runAll(t, seeds)
	t.Logf("%d histories: %s", len(seeds), done)
}

// runAll lives the histories, as many at a time as there are processors. They
// share nothing. The first that fails is shrunk, and ends the test.
func runAll(t *testing.T, seeds []uint64) tally {
	t.Helper()
	var (
		mu     sync.Mutex
		wg     sync.WaitGroup
		next   int
		done   = tally{}
		failed history
		broken error
	)
	take := func() (h history, ok bool) {
		mu.Lock()
		defer mu.Unlock()
		if broken != nil || next == len(seeds) {
			return h, false
		}
		next++
		return newHistory(seeds[next-1]), true
	}
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for h, ok := take(); ok; h, ok = take() {
				did := tally{}
				err := h.run(t, did)
				mu.Lock()
				for name, n := range did {
					done[name] += n
				}
				if err != nil && broken == nil {
					failed, broken = h, err
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if broken != nil {
		t.Logf("repeat with -seed %d: %v", failed.seed, broken)
		t.Fatalf("the shortest history that fails:\n%v", failed.shrink(t))
	}
	return done
}

// tally counts what histories did, so that a run shows what it was about.
type tally map[string]int

func (t tally) String() string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(t)) {
		out = append(out, fmt.Sprintf("%d %s", t[name], name))
	}
	return strings.Join(out, ", ")
}

// op is one step of a history. Number decides everything about it that the
// state of its clone leaves open, so that a history without one of its steps is
// a history too.
type op struct {
	deed   string
	who    int
	number uint64
}

func (o op) String() string { return fmt.Sprintf("%d %s %x", o.who, o.deed, o.number) }

// history is what clones do, in order.
type history struct {
	seed   uint64
	clones int
	ops    []op
}

func (h history) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d clones\n", h.clones)
	for _, o := range h.ops {
		fmt.Fprintln(&b, o)
	}
	return b.String()
}

// deeds says what clones do and how often.
var deeds = []struct {
	name string
	odds int
}{
	{"save", 10},
	{"edit", 12},
	{"topic", 12},
	{"delete", 6},
	{"revive", 4},
	{"duplicate", 1},
	{"personal", 1},
	{"relate", 5},
	{"unrelate", 2},
	{"start session", 4},
	{"end session", 3},
	{"delete session", 2},
	{"delete turns", 1},
	{"prompt", 5},
	{"answer", 1},
	{"erase", 2},
	{"export", 8},
	{"export project", 2},
	{"import", 7},
	{"merge", 8},
	{"pull", 3},
	{"sync", 8},
	{"compact", 3},
	{"snapshot", 4},
	{"restore", 3},
	{"restore locally", 1},
	{"set clock", 4},
	{"lose home", 1},
	{"lose state", 2},
	{"attack", 6},
}

func newHistory(seed uint64) history {
	r := rand.New(rand.NewPCG(seed, 0))
	h := history{seed: seed, clones: 2 + r.IntN(7)}
	total := 0
	for _, d := range deeds {
		total += d.odds
	}
	for range h.clones * (8 + r.IntN(16)) {
		n := r.IntN(total)
		for _, d := range deeds {
			if n -= d.odds; n < 0 {
				h.ops = append(h.ops, op{d.name, r.IntN(h.clones), r.Uint64()})
				break
			}
		}
	}
	return h
}

// run lives the history. The error says what was broken.
func (h history) run(t *testing.T, done tally) (err error) {
	dir := fastDir(t)
	defer os.RemoveAll(dir)
	w := &world{
		t: t, seed: h.seed, dir: dir, central: map[string][]byte{}, known: newOracle(), done: done,
		erasures: map[string][]amber.MemoryID{},
	}
	defer w.close()
	defer func() {
		if r := recover(); r != nil {
			f, ok := r.(failure)
			if !ok {
				panic(r)
			}
			err = f.error
		}
	}()
	for i := range h.clones {
		w.join(i)
	}
	for i, o := range h.ops {
		w.step = fmt.Sprintf("step %d, %v", i, o)
		w.do(o)
	}
	w.settle()
	w.verify()
	return nil
}

// fastDir makes a folder whose syncs cost nothing, where there is memory for
// one: what a power cut leaves is not what these tests are about.
func fastDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "amber-sync-test-")
	if err != nil {
		dir, err = os.MkdirTemp(t.TempDir(), "fast")
	}
	must.Do(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// shrink leaves steps out as long as what is left fails, first many at a time.
func (h history) shrink(t *testing.T) history {
	t.Helper()
	for n := 2; n < h.clones; n++ {
		fewer := history{h.seed, n, slices.Clone(h.ops)}
		for i := range fewer.ops {
			fewer.ops[i].who %= n
		}
		if fewer.run(t, tally{}) != nil {
			h = fewer
		}
	}
	size := max(1, len(h.ops)/2)
	for tries := 400; tries > 0; {
		before := len(h.ops)
		for at := 0; at < len(h.ops) && tries > 0; tries-- {
			fewer := h
			fewer.ops = slices.Concat(h.ops[:at], h.ops[min(at+size, len(h.ops)):])
			if fewer.run(t, tally{}) != nil {
				h = fewer
			} else {
				at += size
			}
		}
		if size == 1 && len(h.ops) == before {
			break
		}
		size = max(1, size/2)
	}
	t.Logf("the shortest history fails with: %v", h.run(t, tally{}))
	return h
}
