package storetest_test

import (
	"context"
	"errors"
	"flag"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/inmem"
	"github.com/amber-memory/amber/store/storetest"
)

var (
	seed      = flag.Uint64("seed", 1, "the seed of the first history")
	histories = flag.Int("histories", 8, "how many histories to make, with one seed after the other")
)

// inMemory is the model as a backend. Wrap, if there is one, stands between
// the store and the suite.
func inMemory(wrap func(amber.Store) amber.Store) storetest.Backend {
	b := storetest.Fleeting("inmem", func(env storetest.Env) (amber.Store, error) {
		s, err := newModel(env)
		if err == nil && wrap != nil {
			s = wrap(s)
		}
		return s, err
	})
	b.LogsAll = true
	return b
}

func newModel(env storetest.Env) (amber.Store, error) {
	s, err := inmem.New(inmem.Options{Clock: env.Clock, Random: env.Random, Queue: env.Queue, LogAll: true})
	if err != nil {
		return amber.Store{}, err
	}
	return s.Store(), nil
}

// kept is the model with places that keep their store when it is closed, so
// that nothing is left unchecked.
func kept() storetest.Backend {
	return storetest.Backend{Name: "kept", Durable: true, Shared: true, LogsAll: true, Fresh: func() (storetest.Place, error) { return &shelf{}, nil }}
}

type shelf struct {
	store amber.Store
	used  bool
}

func (s *shelf) Open(_ context.Context, env storetest.Env) (amber.Store, io.Closer, error) {
	var err error
	if !s.used {
		s.store, err = newModel(env)
		s.used = err == nil
	}
	return s.store, io.NopCloser(nil), err
}

func (*shelf) Remove() error { return nil }

func TestHistoriesOfModelAgree(t *testing.T) {
	t.Parallel()
	for i := range *histories {
		s := *seed + uint64(i)
		if err := storetest.History(t.Context(), s, storetest.HistoryOptions{}, inMemory(nil), kept()); err != nil {
			t.Errorf("run again with -seed %d -histories 1: %v", s, err)
		}
	}
}

func TestLongHistoryWithManySessions(t *testing.T) {
	t.Parallel()
	o := storetest.HistoryOptions{Operations: 1000, Sessions: 8}
	must.NoError(t, storetest.History(t.Context(), *seed, o, inMemory(nil), kept()))
}

func TestRecallQualityOfModel(t *testing.T) {
	t.Parallel()
	found, total, misses, err := storetest.RecallQuality(t.Context(), inMemory(nil))
	must.Do(t, err)
	t.Logf("found %d of %d, missed %q", found, total, misses)
	if total < 50 {
		t.Errorf("got %d questions, want at least 50", total)
	}
	must.Equal(t, "found and missed", found+len(misses), total)
	if found*100 < total*85 {
		t.Errorf("found %d of %d, want at least 85 percent", found, total)
	}
}

func TestNamesOfChecksAreUnique(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, c := range storetest.Checks() {
		if seen[c.Name] || !strings.Contains(c.Name, "/") {
			t.Errorf("check name %q is used twice or has no noun", c.Name)
		}
		seen[c.Name] = true
	}
}

func TestRunReports(t *testing.T) {
	t.Parallel()
	var want []string
	for _, c := range storetest.Checks() {
		want = append(want, c.Name)
	}
	report, err := storetest.Run(t.Context(), kept())
	if err != nil || len(report.NotRun) != 0 {
		t.Errorf("got error %v and checks not run %v, want neither", err, report.NotRun)
	}
	must.Equal(t, "passed checks", report.Passed, want)
}

func TestRunNamesFailures(t *testing.T) {
	t.Parallel()
	report, err := storetest.Run(t.Context(), inMemory(func(s amber.Store) amber.Store {
		p := s.Parts
		p.Stats = statsFunc(func(context.Context) (amber.Stats, error) { return amber.Stats{}, errors.New("no counting today") })
		return amber.NewStore(p)
	}))
	if err == nil || !strings.Contains(err.Error(), "stats/counts: ") || !strings.Contains(err.Error(), "no counting today") {
		t.Errorf("got error %v, want one that names the check and the cause", err)
	}
	if slices.Contains(report.Passed, "stats/counts") || slices.Contains(report.NotRun, "stats/counts") {
		t.Error("a failed check is reported as passed or not run")
	}
}

func TestRunStopsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	report, err := storetest.Run(ctx, inMemory(nil))
	if !errors.Is(err, context.Canceled) || len(report.Passed) != 0 {
		t.Errorf("got error %v and passed %v, want the end of the context", err, report.Passed)
	}
}

// parts takes one part each from a store.
func parts() map[string]func(p *amber.Parts) {
	return map[string]func(p *amber.Parts){
		"long_term":       func(p *amber.Parts) { p.Take(amber.LayerLongTerm, amber.Parts{}) },
		"memories":        func(p *amber.Parts) { p.Memories = nil },
		"batch":           func(p *amber.Parts) { p.Batch = nil },
		"edit":            func(p *amber.Parts) { p.Editor = nil },
		"erase":           func(p *amber.Parts) { p.Eraser = nil },
		"relations":       func(p *amber.Parts) { p.Relations = nil },
		"concepts":        func(p *amber.Parts) { p.Concepts = nil },
		"compactions":     func(p *amber.Parts) { p.Compactions = nil },
		"stats":           func(p *amber.Parts) { p.Stats = nil },
		"changes":         func(p *amber.Parts) { p.Changes = nil },
		"turns":           func(p *amber.Parts) { p.Turns = nil },
		"loops":           func(p *amber.Parts) { p.Loops = nil },
		"sessions":        func(p *amber.Parts) { p.Sessions, p.Names, p.Active = nil, nil, nil },
		"session_state":   func(p *amber.Parts) { p.States = nil },
		"ingest":          func(p *amber.Parts) { p.Ingest = nil },
		"activities":      func(p *amber.Parts) { p.Activities = nil },
		"notes":           func(p *amber.Parts) { p.Notes, p.NoteLog = nil, nil },
		"control":         func(p *amber.Parts) { p.Take(amber.LayerControl, amber.Parts{}) },
		"control_changes": func(p *amber.Parts) { p.ControlChanges = nil },
		"documents":       func(p *amber.Parts) { p.Documents = nil },
	}
}

// lacking is the model without some parts.
func lacking(takes ...func(p *amber.Parts)) storetest.Backend {
	return inMemory(func(s amber.Store) amber.Store {
		p := s.Parts
		for _, take := range takes {
			take(&p)
		}
		return amber.NewStore(p)
	})
}

// TestChecksAskForWhatTheyUse runs each check in a store that has the parts that the check asks for, and no other part.
// A check asks for a part when it does not run without it.
func TestChecksAskForWhatTheyUse(t *testing.T) {
	t.Parallel()
	ended, cancel := context.WithCancel(t.Context())
	cancel() // a check that runs ends at its first call
	asked, ran := map[string]int{}, 0
	for _, c := range storetest.Checks() {
		var others []func(p *amber.Parts)
		for name, take := range parts() {
			if errors.Is(c.Run(ended, lacking(take)), storetest.ErrNotRun) {
				asked[name]++
			} else {
				others = append(others, take)
			}
		}
		switch err := c.Run(t.Context(), lacking(others...)); {
		case err == nil:
			ran++
		case len(others) > 0 || !errors.Is(err, storetest.ErrNotRun): // the model is not durable
			t.Errorf("%s: %v", c.Name, err)
		}
	}
	for name := range parts() {
		if asked[name] == 0 || asked[name] == len(storetest.Checks()) {
			t.Errorf("%d checks ask for %s", asked[name], name)
		}
	}
	if ran < 300 {
		t.Errorf("%d checks ran", ran)
	}
}

// looks reports whether a check looks for parts that it does not ask for, and uses those that are there.
func looks(c storetest.Check) bool {
	return strings.HasPrefix(c.Name, "cancel/") || strings.HasPrefix(c.Name, "ingest/")
}

// A store that lacks a part passes, with the checks of that part not run. TestChecksAskForWhatTheyUse asks all checks;
// here, those that look for parts are asked, and at full size all of them again.
func TestMissingPartsAreNotRun(t *testing.T) {
	t.Parallel()
	for name, take := range parts() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := lacking(take)
			for _, c := range storetest.Checks() {
				if !looks(c) && *histories < 100 {
					continue
				}
				if err := c.Run(t.Context(), b); !errors.Is(err, storetest.ErrNotRun) {
					must.NoError(t, err)
				}
			}
			for s := range uint64(min(3, 1+*histories/10)) {
				must.NoError(t, storetest.History(t.Context(), s, storetest.HistoryOptions{}, inMemory(nil), b))
			}
		})
	}
}

func TestHistoryNamesSeedAndOperation(t *testing.T) {
	t.Parallel()
	m := allMutants()[0]
	err := storetest.History(t.Context(), 7, storetest.HistoryOptions{}, inMemory(nil), m.backend())
	if err == nil {
		t.Fatal("history 7 does not notice the mutant")
	}
	for _, part := range []string{"seed 7", "operation ", "metadata", "the last operations"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the error does not say %q: %v", part, err)
		}
	}
	again := storetest.History(t.Context(), 7, storetest.HistoryOptions{}, inMemory(nil), m.backend())
	if again == nil || again.Error() != err.Error() {
		t.Errorf("the same seed gives another error: %v", again)
	}
}

func TestClock(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)
	c := storetest.NewClock(start)
	c.Advance(time.Hour)
	c.Advance(-time.Minute)
	if got, want := c.Now(), start.Add(59*time.Minute); !got.Equal(want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestRandomDependsOnSeedOnly(t *testing.T) {
	t.Parallel()
	read := func(seed uint64) string {
		b := make([]byte, 100)
		must.Get(io.ReadFull(storetest.NewRandom(seed), b))(t)
		return string(b)
	}
	one := read(1)
	must.Equal(t, "bytes of equal seeds", read(1), one)
	if read(2) == one {
		t.Error("different seeds give equal bytes")
	}
}
