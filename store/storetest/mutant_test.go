package storetest_test

import (
	"slices"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/store/storetest"
)

// mutant is a store that breaks one promise.
type mutant struct {
	name   string
	check  string // the check that must notice it
	lived  bool   // whether histories must notice it too
	breaks func(p *amber.Parts)
}

func (m mutant) backend() storetest.Backend {
	return inMemory(func(s amber.Store) amber.Store {
		m.breaks(&s.Parts)
		return amber.NewStore(s.Parts)
	})
}

func allMutants() []mutant {
	return slices.Concat(memoryMutants(), readMutants(), recallMutants(), askMutants(), sessionMutants(), ingestMutants(), controlMutants(), queueMutants(), raceMutants(), documentMutants())
}

// lifetimes is how many histories a mutant may live through at most.
const lifetimes = 60

// chances is how often a check may look at a mutant: one that races is wrong
// only sometimes.
const chances = 20

func TestChecksNoticeMutants(t *testing.T) {
	t.Parallel()
	checks := map[string]storetest.Check{}
	for _, c := range storetest.Checks() {
		checks[c.Name] = c
	}
	for _, m := range allMutants() {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			c, ok := checks[m.check]
			if !ok {
				t.Fatalf("there is no check %q", m.check)
			}
			for range chances {
				if err := c.Run(t.Context(), m.backend()); err != nil {
					t.Log(err)
					return
				}
			}
			t.Fatalf("check %s does not notice it", m.check)
		})
	}
}

func TestHistoriesNoticeMutants(t *testing.T) {
	t.Parallel()
	for _, m := range allMutants() {
		if !m.lived {
			continue
		}
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			for i := range lifetimes {
				err := storetest.History(t.Context(), uint64(i+1), storetest.HistoryOptions{}, inMemory(nil), m.backend())
				if err != nil {
					t.Logf("noticed by history %d: %v", i+1, err)
					return
				}
			}
			t.Errorf("%d histories do not notice it", lifetimes)
		})
	}
}

func TestForgetfulStoreIsNotDurable(t *testing.T) {
	t.Parallel()
	b := inMemory(nil)
	b.Durable = true
	for _, c := range storetest.Checks() {
		if c.Name == "durable/reopening-keeps-everything" {
			if err := c.Run(t.Context(), b); err == nil {
				t.Error("the check of durability passes a store that forgets")
			}
		}
	}
	if err := storetest.History(t.Context(), 1, storetest.HistoryOptions{}, inMemory(nil), b); err == nil {
		t.Error("a history passes a store that forgets")
	}
}
