package inmem_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/store/inmem"
)

// clock stands still until it is moved.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// world is a store with the clock it sees.
type world struct {
	*inmem.Store
	clock *clock
}

func newWorld(t *testing.T, change ...func(*inmem.Options)) world {
	t.Helper()
	c := &clock{now: time.Date(2026, 3, 14, 9, 30, 0, 0, time.UTC)}
	o := inmem.Options{Clock: c.Now, Random: rand.NewChaCha8([32]byte{1}), Device: "here", Incarnation: "life"}
	for _, f := range change {
		f(&o)
	}
	s, err := inmem.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return world{s, c}
}

func (w world) now() amber.Time { return amber.At(w.clock.Now()) }

func (w world) tick() { w.clock.advance(time.Second) }

// write stores a memory.
func (w world) write(t *testing.T, r amber.WriteRequest) amber.WriteAck {
	t.Helper()
	return ok[amber.WriteAck](t)(w.Write(t.Context(), r))
}

// fact stores a global memory and returns its id.
func (w world) fact(t *testing.T, content string) amber.MemoryID {
	t.Helper()
	return w.write(t, amber.WriteRequest{Content: content}).ID
}

// head returns the position of the newest change.
func (w world) head(t *testing.T) amber.Position {
	t.Helper()
	return ok[amber.Position](t)(w.Head(t.Context()))
}

// entries returns what the log gained since a position, as "op scope key".
func (w world) entries(t *testing.T, log amber.ChangeLog, since amber.Position) []string {
	t.Helper()
	changes, err := log.Changes(t.Context(), since, 1000)
	if err != nil {
		t.Fatal(err)
	}
	lines := []string{}
	for _, c := range changes {
		lines = append(lines, fmt.Sprintf("%s %s %s", c.Op, c.Scope, c.Key))
	}
	return lines
}

// ok returns a function that passes a value on and ends the test on an error.
func ok[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// wantKind ends the test unless err is of the kind.
func wantKind(t *testing.T, err error, want amber.Kind) {
	t.Helper()
	if got := amber.KindOf(err); got != want {
		t.Fatalf("error %v is of kind %q, want %q", err, got, want)
	}
}

// wantEqual reports where got differs from want.
func wantEqual[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(amber.Time{})); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func TestNewNeedsClockAndRandom(t *testing.T) {
	t.Parallel()
	random := bytes.NewReader(make([]byte, 100))
	now := new(clock).Now
	for name, o := range map[string]inmem.Options{
		"no clock":  {Random: random},
		"no random": {Clock: now},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := inmem.New(o)
			wantKind(t, err, amber.KindInvalid)
		})
	}
	_, err := inmem.New(inmem.Options{Clock: now, Random: bytes.NewReader(nil)})
	if !errors.Is(err, io.EOF) {
		t.Errorf("New with an empty source of randomness: %v, want the error of the source", err)
	}
}

func TestStoreHasEveryContract(t *testing.T) {
	t.Parallel()
	got := newWorld(t).Store.Store().Capabilities()
	want := amber.Capabilities{
		Memories: true, Batch: true, Edit: true, Erase: true, Relations: true, Concepts: true,
		Compactions: true, Stats: true, Changes: true, Turns: true, Loops: true, Sessions: true, States: true,
		Notes: true, Control: true, Ingest: true, Documents: true,
	}
	wantEqual(t, "capabilities", got, want)
}

func TestEqualOptionsGiveEqualStores(t *testing.T) {
	t.Parallel()
	a, b := newWorld(t), newWorld(t)
	for _, w := range []world{a, b} {
		w.fact(t, "one")
		w.tick()
		w.fact(t, "two")
	}
	list := func(w world) amber.Page[amber.Memory] {
		return ok[amber.Page[amber.Memory]](t)(w.List(t.Context(), amber.ListQuery{}))
	}
	wantEqual(t, "memories", list(a), list(b))
	wantEqual(t, "head", a.head(t), b.head(t))
}

func TestEndedContextChangesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := w.Write(ctx, amber.WriteRequest{Content: "late"})
	wantKind(t, err, amber.KindUnreachable)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v does not tell that the context was cancelled", err)
	}
	_, err = w.Health(ctx)
	wantKind(t, err, amber.KindUnreachable)
	wantEqual(t, "entries", w.entries(t, w, ""), []string{})
}
