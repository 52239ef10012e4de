package inmem_test

import (
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/inmem"
	"github.com/amber-memory/amber/store/storetest"
)

func backend() storetest.Backend {
	b := storetest.Fleeting("inmem", func(env storetest.Env) (amber.Store, error) {
		s, err := inmem.New(inmem.Options{Clock: env.Clock, Random: env.Random, Queue: env.Queue, LogAll: true})
		if err != nil {
			return amber.Store{}, err
		}
		return s.Store(), nil
	})
	b.LogsAll = true
	return b
}

// TestKeepsEveryPromise runs the suite. The checks that it leaves out need a place that lasts, or a
// place that two handles share.
func TestKeepsEveryPromise(t *testing.T) {
	t.Parallel()
	report, err := storetest.Run(t.Context(), backend())
	must.NoError(t, err)
	for _, name := range report.NotRun {
		if !strings.HasPrefix(name, "durable/") && !strings.HasPrefix(name, "shared/") {
			t.Errorf("check %s was not run", name)
		}
	}
	if len(report.Passed) == 0 {
		t.Error("no check passed")
	}
}
