package snapshot_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

func (w *world) generation() (wire.Generation, error) {
	return w.engine.Generation(w.t.Context(), "default", "default")
}

func TestAGenerationSaysWhichRestoreMadeIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.remember("one")
	must.Equal(t, "at first", must.Get(w.generation())(t), wire.Generation{Generation: 1})
	s := w.snapshot()
	w.remember("two")
	r := w.restore(s.ID)
	want := wire.Generation{Generation: 2, Restored: &wire.GenerationOrigin{From: s.ID, Replaces: 1, SafetySnapshot: r.SafetySnapshot}}
	must.Equal(t, "restored", must.Get(w.generation())(t), want)
	w.restore(s.ID, func(r *wire.RestoreRequest) { r.NoSafetySnapshot = true })
	want = wire.Generation{Generation: 3, Restored: &wire.GenerationOrigin{From: s.ID, Replaces: 2}}
	must.Equal(t, "restored without a safety snapshot", must.Get(w.generation())(t), want)
}

func TestARecordOfARestoreThatWasChangedIsNotBelieved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.remember("one")
	w.restore(w.snapshot().ID)
	path := filepath.Join(w.gen(), "RESTORED")
	good := must.Get(os.ReadFile(path))(t)
	for i := range good {
		bad := bytes.Clone(good)
		bad[i] ^= 1
		must.Do(t, os.WriteFile(path, bad, 0o600))
		if _, err := w.generation(); amber.KindOf(err) != amber.KindDamaged {
			t.Fatalf("byte %d changed: %v, want damaged", i, err)
		}
	}
	must.Do(t, os.WriteFile(path, good[:len(good)/2], 0o600))
	_, err := w.generation()
	must.Equal(t, "half of the record", amber.KindOf(err), amber.KindDamaged)
	_, err = w.engine.Generation(t.Context(), "default", "nobody")
	must.Equal(t, "an agent that does not exist", amber.KindOf(err), amber.KindNotFound)
}

// steps remembers the steps that a caller was told.
type steps struct {
	mu  sync.Mutex
	all []string
}

func (s *steps) tell(step string, _, _ int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, step)
}

func (s *steps) mustHave(t *testing.T, want ...string) {
	t.Helper()
	for _, step := range want {
		if !slices.Contains(s.all, step) {
			t.Errorf("nobody told of %q: %q", step, slices.Compact(s.all))
		}
	}
}

func TestProgressIsToldToTheCaller(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.remember("one")
	w.note("plan", "a\n")
	s := w.snapshot()
	var seen, other steps
	ctx := wire.WithProgress(t.Context(), seen.tell)
	must.Get(w.engine.VerifySnapshot(ctx, wire.VerifyRequest{SnapshotRef: ref(s.ID), ReadData: true}))(t)
	seen.mustHave(t, "look for objects", "write memory.db", "check memory.db", "read notes")
	ctx = wire.WithProgress(t.Context(), other.tell)
	must.Get(w.engine.Restore(ctx, wire.RestoreRequest{SnapshotRef: ref(s.ID)}))(t)
	other.mustHave(t, "write memory.db", "write notes", "capture memory.db", "put the restored agent in the place of the live one")
	must.Hold(t, !slices.Contains(seen.all, "write notes"), "the caller of verify was told of the restore")
}
