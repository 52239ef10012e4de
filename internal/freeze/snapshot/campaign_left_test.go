package snapshot_test

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// An agent that was replaced without a safety snapshot is nowhere else: no
// later restore and no collection of garbage removes it unasked.
func TestAGenerationThatIsInNoSnapshotStays(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.remember("in the snapshot")
	id := w.snapshot().ID
	w.remember("in no snapshot")
	unsaved := func(r *wire.RestoreRequest) { r.NoSafetySnapshot = true }
	if report := w.restore(id, unsaved); report.OldGeneration != 1 {
		t.Fatalf("the report says that generation %d was kept, want 1", report.OldGeneration)
	}
	w.restore(id)
	w.gc()
	w.restore(id)
	if got, want := w.generations(), []int64{1, 4}; !slices.Equal(got, want) {
		t.Errorf("there are generations %d, want %d", got, want)
	}
	w.restore(id, func(r *wire.RestoreRequest) { r.DiscardOld = true })
	if got, want := w.generations(), []int64{1, 5}; !slices.Equal(got, want) {
		t.Errorf("there are generations %d after the last one was discarded, want %d", got, want)
	}
	for _, dry := range []bool{true, false} {
		report := must.Get(w.engine.CollectGarbage(t.Context(), wire.GCRequest{Tenant: "default", OldGenerations: true, DryRun: dry}))(t)
		must.Equal(t, "orphans", len(report.Orphans), 1)
	}
	if got, want := w.generations(), []int64{5}; !slices.Equal(got, want) {
		t.Errorf("there are generations %d after all old ones were discarded, want %d", got, want)
	}
}

// A safety snapshot leaves some entries out. Only the old generation still has them, so it stays. A
// link contains nothing that could be lost, so a link alone does not keep the generation.
func TestAGenerationThatWasNotCapturedWhollyStays(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		make func(notes string) error
		want []int64
	}{
		{"a name that cannot be restored", func(notes string) error {
			return os.WriteFile(filepath.Join(notes, "con.md"), []byte("only here"), 0o600)
		}, []int64{1, 2}},
		{"a link", func(notes string) error { return os.Symlink("elsewhere", filepath.Join(notes, "link")) }, []int64{2}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.note("one", "text\n")
			id := w.snapshot().ID
			if err := test.make(filepath.Join(w.gen(), "memdir")); err != nil {
				if runtime.GOOS == "windows" {
					t.Skipf("Windows makes no file that it could not name, and links only for some users: %v", err)
				}
				t.Fatal(err)
			}
			report := w.restore(id)
			must.Equal(t, "generations", w.generations(), test.want)
			must.Equal(t, "generation 1 was kept", report.OldGeneration == 1, len(test.want) == 2)
		})
	}
}

// A restore that dies after the switch leaves the generation it replaced. The safety snapshot holds
// that generation, so the next collection or the next restore removes it. It stays only where
// nothing proves any more that the safety snapshot holds it.
func TestAReplacedGenerationGoesLater(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		before func(*world, wire.RestoreReport)
		next   func(*world, wire.RestoreReport)
		want   []int64
	}{
		{"with the garbage", nil, func(w *world, _ wire.RestoreReport) { w.gc() }, []int64{2}},
		{"with the next restore", nil, func(w *world, r wire.RestoreReport) { w.restore(r.From) }, []int64{3}},
		{"not without its safety snapshot", (*world).dropSafety, func(w *world, _ wire.RestoreReport) { w.gc() }, []int64{1, 2}},
		{"not when nobody vouches for it", (*world).blurReplaced, func(w *world, _ wire.RestoreReport) { w.gc() }, []int64{1, 2}},
		{"not when nobody vouches for it, with the next restore", (*world).blurReplaced, func(w *world, r wire.RestoreReport) { w.restore(r.From) }, []int64{1, 3}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.remember("one")
			report := w.restore(w.snapshot().ID)
			// As if the process had died before it began to remove.
			must.Do(t, os.CopyFS(filepath.Join(w.agent.Dir(), "gen", "1"), os.DirFS(w.gen())))
			if test.before != nil {
				test.before(w, report)
			}
			test.next(w, report)
			must.Equal(t, "generations", w.generations(), test.want)
		})
	}
}

// dropSafety deletes the safety snapshot of a restore.
func (w *world) dropSafety(r wire.RestoreReport) {
	w.t.Helper()
	must.Do(w.t, w.engine.DeleteSnapshot(w.t.Context(), ref(r.SafetySnapshot)))
}

// blurReplaced damages what the live generation says about the one before.
func (w *world) blurReplaced(wire.RestoreReport) {
	w.t.Helper()
	path := filepath.Join(w.gen(), "REPLACED")
	b := must.Get(os.ReadFile(path))(w.t)
	b[len(b)/2] ^= 1
	must.Do(w.t, os.WriteFile(path, b, 0o600))
}

// Killed writers leave temporary files. The garbage collection removes these files once they are
// old; younger ones may still be in use and stay.
func TestTemporaryFilesGoWithTheGarbage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.remember("one")
	w.snapshot()
	old := time.Now().Add(-48 * time.Hour)
	heads := filepath.Join(w.home.KeysDir(), "heads", "default", "default")
	places := []string{filepath.Join(w.home.RepoDir("default"), "packs"), w.home.RepoDir("default"), w.home.CacheDir(), heads, w.agent.Dir()}
	var fresh []string
	for _, dir := range places {
		for name, at := range map[string]time.Time{"old": old, "new": time.Now()} {
			path := filepath.Join(dir, fsx.TempPrefix+name)
			must.Do(t, os.WriteFile(path, []byte("half"), 0o600))
			must.Do(t, os.Chtimes(path, at, at))
			if name == "new" {
				fresh = append(fresh, path)
			}
		}
	}
	w.gc()
	left := w.leftovers()
	slices.Sort(left)
	slices.Sort(fresh)
	must.Equal(t, "what is left", left, fresh)
	w.mustCheck()
}

func (w *world) gc() {
	w.t.Helper()
	must.Get(w.engine.CollectGarbage(w.t.Context(), wire.GCRequest{Tenant: "default"}))(w.t)
}

func (w *world) generations() []int64 {
	w.t.Helper()
	return must.Get(w.agent.Generations())(w.t)
}
