package openviking

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/inmem"
	"github.com/amber-memory/amber/store/storetest"
)

// TestKeepsEveryPromise runs the suite of the stores with a server that is fed before every
// recall: one that finds no more than equal texts, one whose embedder is away, and one that
// answers every question with everything, from afar. A server that finds more changes what recall
// finds, and one that is away what erasing leaves: both are meant to.
func TestKeepsEveryPromise(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*double){
		"fed": func(d *double) {
			d.rank = func(text, _, content string) float64 {
				if strings.HasPrefix(content, text+"\n") {
					return 1
				}
				return 0.5
			}
		},
		"embedder away": func(d *double) {
			d.fault = func(op, _ string, _ int) (error, bool) {
				if op == "find" {
					return unreachable(op), false
				}
				return nil, false
			}
		},
		"senseless": func(d *double) { d.rank, d.lawless = func(string, string, string) float64 { return 0.3 }, true },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			backend := storetest.Fleeting(name, func(env storetest.Env) (amber.Store, error) { return composite(env, change) })
			backend.LogsAll = true
			report, err := storetest.Run(t.Context(), backend)
			must.NoError(t, err)
			for _, check := range report.NotRun {
				must.Hold(t, strings.HasPrefix(check, "durable/") || strings.HasPrefix(check, "shared/"), "check %s was not run", check)
			}
			must.Hold(t, len(report.Passed) > 50, "only %d checks passed", len(report.Passed))
		})
	}
}

func composite(env storetest.Env, change func(*double)) (amber.Store, error) {
	primary, err := inmem.New(inmem.Options{Clock: env.Clock, Random: env.Random, Queue: env.Queue, LogAll: true})
	if err != nil {
		return amber.Store{}, err
	}
	d := newDouble()
	change(d)
	s, err := New(Options{
		Primary: primary.Parts(), Cursors: &cursors{all: map[string]amber.IndexCursor{}}, Server: d, URL: "http://127.0.0.1:1933",
		Tenant: "default", Agent: "coder", Clock: env.Clock, Wait: func(context.Context, time.Duration) error { return nil },
	})
	if err != nil {
		return amber.Store{}, err
	}
	parts := s.Parts()
	parts.LongTerm, parts.Eraser = fedStore{s}, fedStore{s}
	return amber.NewStore(parts), nil
}

// fedStore feeds before each recall, and leaves out what the answer says of the server.
type fedStore struct{ *Store }

func (s fedStore) Recall(ctx context.Context, q amber.Query) (amber.RecallResult, error) {
	if _, err := s.Feed(ctx, Budget{}); err != nil && amber.KindOf(err) != amber.KindUnreachable && amber.KindOf(err) != amber.KindBusy {
		return amber.RecallResult{}, errors.Join(errors.New("feed before a recall"), err)
	}
	r, err := s.Store.Recall(ctx, q)
	r.Degraded = ""
	return r, err
}

// Erase leaves out what the server itself keeps.
func (s fedStore) Erase(ctx context.Context, id amber.MemoryID) (amber.EraseReport, error) {
	r, err := s.Store.Erase(ctx, id)
	r.Remaining = slices.DeleteFunc(r.Remaining, func(p string) bool { return strings.Contains(p, "vector store of OpenViking") })
	return r, err
}

func (s fedStore) Health(ctx context.Context) (amber.Health, error) {
	return s.o.Primary.LongTerm.Health(ctx)
}
