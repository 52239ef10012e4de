package inmem_test

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/store/inmem"
	"github.com/amber-memory/amber/store/storetest"
)

// nowhere is a place without a place: every open makes an empty store.
type nowhere struct{}

func (nowhere) Open(_ context.Context, env storetest.Env) (amber.Store, io.Closer, error) {
	s, err := inmem.New(inmem.Options{Clock: env.Clock, Random: env.Random, Queue: env.Queue})
	if err != nil {
		return amber.Store{}, nil, err
	}
	return s.Store(), io.NopCloser(nil), nil
}

func (nowhere) Remove() error { return nil }

func backend() storetest.Backend {
	return storetest.Backend{Name: "inmem", Fresh: func() (storetest.Place, error) { return nowhere{}, nil }}
}

// TestKeepsEveryPromise runs the suite. What it leaves out needs a place that
// lasts, or one that two handles share.
func TestKeepsEveryPromise(t *testing.T) {
	t.Parallel()
	report, err := storetest.Run(t.Context(), backend())
	if err != nil {
		t.Error(err)
	}
	for _, name := range report.NotRun {
		if !strings.HasPrefix(name, "durable/") && !strings.HasPrefix(name, "shared/") {
			t.Errorf("check %s was not run", name)
		}
	}
	if len(report.Passed) == 0 {
		t.Error("no check passed")
	}
}
