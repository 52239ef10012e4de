package events_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/events"
	"github.com/amber-memory/amber/internal/store/notes"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/store/inmem"
	"github.com/amber-memory/amber/store/sqlite"
)

// errDown is what a publisher answers that cannot be reached.
var errDown = amber.Errorf(amber.KindUnreachable, "publish", "", "nobody answers")

// recorder is a publisher that keeps what it is given. It refuses the next
// fail events.
type recorder struct {
	mu   sync.Mutex
	got  []events.Event
	fail int
	took chan struct{} // gets a token for every event; may be nil
}

func (r *recorder) Publish(_ context.Context, e events.Event) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fail > 0 {
		r.fail--
		return errDown
	}
	r.got = append(r.got, e)
	if r.took != nil {
		r.took <- struct{}{}
	}
	return nil
}

// take returns the events since the last call.
func (r *recorder) take() []events.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	got := r.got
	r.got = nil
	return got
}

// told is what an event says, without its time.
type told struct {
	Op    amber.Op
	Scope amber.ChangeScope
	Key   string
}

func tell(t *testing.T, list []events.Event) []told {
	t.Helper()
	var out []told
	for _, e := range list {
		m, ok := e.Payload.(events.Mutation)
		if !ok || e.Name != events.EventMutated || e.Subject != "amber.memory.mutated.acme.ada" || e.ID == "" {
			t.Fatalf("%+v is no mutation of acme/ada", e)
		}
		if m.Tenant != "acme" || m.Agent != "ada" || m.At.IsZero() || m.At != e.At {
			t.Fatalf("%+v says not whose it is, or when", e)
		}
		out = append(out, told{m.Op, m.Scope, m.Key})
	}
	return out
}

func sink(p events.Publisher) events.Sink {
	return events.Sink{Publisher: p, Tenant: "acme", Agent: "ada", Clock: time.Now}
}

// worker returns one that publishes the log of store to p.
func worker(log amber.ChangeLog, p events.Publisher, c events.CursorStore) *events.Mutations {
	return &events.Mutations{Log: log, Tenant: "acme", Agent: "ada", Publisher: p, Cursor: c}
}

// stepper is a worker that publishes step by step.
type stepper interface {
	Step(ctx context.Context) (int, error)
}

// step takes one step that must not fail.
func step(t *testing.T, s stepper) int {
	t.Helper()
	return must.Get(s.Step(t.Context()))(t)
}

// stepFails takes one step that must fail with an error after n events.
func stepFails(t *testing.T, s stepper, n int, want error) {
	t.Helper()
	got, err := s.Step(t.Context())
	must.Equal(t, "events of a step that fails", got, n)
	must.Is(t, "a step that fails", err, want)
}

// stores returns the backends there are.
func stores(t *testing.T) map[string]amber.Store {
	t.Helper()
	mem := must.Get(inmem.New(inmem.Options{Clock: time.Now, Random: rand.Reader}))(t)
	return map[string]amber.Store{"inmem": mem.Store(), "sqlite": sqliteStore(t)}
}

// sqliteStore returns the store of a new agent, its notes under git.
func sqliteStore(t *testing.T) amber.Store {
	t.Helper()
	h, _, err := home.Open(t.TempDir(), home.Options{Clock: time.Now, Random: rand.Reader})
	must.Do(t, err)
	agent := must.Get(h.Agent("acme", "ada"))(t)
	s := must.Get(sqlite.Open(t.Context(), agent, sqlite.Options{Clock: time.Now, Random: rand.Reader}))(t)
	t.Cleanup(func() { _ = s.Close() })
	notes := must.Get(notes.New(notes.Options{Guard: guard{agent}, Clock: time.Now}))(t)
	parts := s.Store().Parts
	parts.Notes, parts.NoteLog = notes, notes
	return amber.NewStore(parts)
}

// guard lets the notes of an agent be written in their turn.
type guard struct{ agent *home.Agent }

func (g guard) Write(ctx context.Context, fn func(dir string) error) error {
	return g.agent.Write(ctx, "notes", func(c home.Current) error { return fn(filepath.Join(g.agent.GenDir(c), "memdir")) })
}

func (g guard) Read(_ context.Context, fn func(dir string) error) error {
	c, err := g.agent.Current()
	if err != nil {
		return err
	}
	return fn(filepath.Join(g.agent.GenDir(c), "memdir"))
}

func toJSON(t *testing.T, v any) string {
	t.Helper()
	b := must.Get(json.Marshal(v))(t)
	return string(b)
}
