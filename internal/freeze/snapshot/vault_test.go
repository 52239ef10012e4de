package snapshot_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/colony/shelf"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// vault returns the vault of the agent.
func (w *world) vault() *shelf.Shelf {
	w.t.Helper()
	return must.Get(shelf.Open(w.agent, shelf.Options{Clock: time.Now}))(w.t)
}

// vaultFiles reads everything in the vault of the agent.
func (w *world) vaultFiles() map[string]string {
	w.t.Helper()
	s, all := w.vault(), map[string]string{}
	for _, f := range must.Get(s.List(w.t.Context(), ""))(w.t) {
		file := must.Get(s.Get(w.t.Context(), f.Name))(w.t)
		all[f.Name] = file.Content
	}
	return all
}

func putVault(t *testing.T, s *shelf.Shelf, all map[string]string) {
	t.Helper()
	for name, content := range all {
		must.Get(s.Put(t.Context(), name, content))(t)
	}
}

// A snapshot holds the vault as it was, and a restore brings exactly that back.
func TestRestoreBringsBackTheVault(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	none := w.snapshot()
	before := map[string]string{"MEMORY.md": "what I know\n", "a/b/ü.md": "", "part.json": strings.Repeat("QUJD", 175_000)}
	putVault(t, w.vault(), before)
	meta := w.snapshot()
	w.mustVerify(meta.ID)
	s := w.vault()
	putVault(t, s, map[string]string{"MEMORY.md": "something else\n", "new.md": "new"})
	must.Do(t, s.Delete(t.Context(), "a/b/ü.md"))
	after := w.vaultFiles()
	report := w.restore(meta.ID)
	mustHold := func(want map[string]string) {
		t.Helper()
		if diff := cmp.Diff(want, w.vaultFiles()); diff != "" {
			t.Fatalf("the vault differs (-want +got):\n%s", diff)
		}
	}
	mustHold(before)
	putVault(t, s, map[string]string{"MEMORY.md": "life goes on\n"}) // the same handle, another generation
	w.restore(report.SafetySnapshot)
	mustHold(after)
	w.restore(none.ID)
	mustHold(map[string]string{})
	must.Equal(t, "quota of a vault that nobody wrote to", must.Get(w.vault().Status(t.Context()))(t).QuotaBytes, 0)
}

// counter puts one number after another under three names, in order, until it is
// stopped. Wait returns when a whole round was made meanwhile, stop the last number
// that was put under all.
func counter(t *testing.T, s *shelf.Shelf) (wait func(), stop func() int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	last := 0
	rounds := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		defer close(rounds)
		for n := 1; ctx.Err() == nil; n++ {
			for _, name := range []string{"x", "y", "z"} {
				if _, err := s.Put(ctx, name, fmt.Sprint(n, strings.Repeat(" ", n%3*5000))); err != nil {
					if ctx.Err() == nil {
						t.Error(err)
					}
					return
				}
			}
			last = n
			select {
			case rounds <- struct{}{}:
			default:
			}
		}
	})
	// The first of two may have begun before.
	return func() { <-rounds; <-rounds }, func() int { cancel(); wg.Wait(); return last }
}

// number reads what a counter put.
func number(t *testing.T, all map[string]string, name string) int {
	t.Helper()
	n, err := strconv.Atoi(strings.TrimSpace(all[name]))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// A writer puts files into the vault all the time. Each snapshot holds one moment of the vault, and
// a restore loses nothing that was put after that moment.
func TestVaultIsCapturedWhileItIsWritten(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	putVault(t, w.vault(), map[string]string{"still": "nobody touches it"})
	wait, stop := counter(t, w.vault())
	var ids []amber.SnapshotID
	for range 4 {
		wait()
		ids = append(ids, w.snapshot().ID)
	}
	w.restore(ids[0]) // under the feet of the writer
	wait()
	last := stop()
	if t.Failed() {
		return
	}
	now := w.vaultFiles()
	if x, z := number(t, now, "x"), number(t, now, "z"); z < last || x > last+1 {
		t.Errorf("%d was put last, and %d to %d are there", last, z, x)
	}
	before := 0
	for _, id := range ids {
		w.restore(id)
		all := w.vaultFiles()
		x, y, z := number(t, all, "x"), number(t, all, "y"), number(t, all, "z")
		if x < y || y < z || x > z+1 || len(all) != 4 || all["still"] != "nobody touches it" {
			t.Errorf("snapshot %s holds %d, %d, %d of %d files", id, x, y, z, len(all))
		}
		must.Hold(t, z > before, "snapshot %s holds %d, the one before it %d", id, z, before)
		before = z
	}
}

// A bundle without secrets holds no vault, and says so. An exact one does.
func TestRedactedBundleHoldsNoVault(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	files := map[string]string{"MEMORY.md": telling(inMemory), "a.md": "clean\n"}
	putVault(t, w.vault(), files)
	w.state("extract_cursor", `{"at":7}`)
	id := w.snapshot().ID
	report := w.export(id)
	mustHoldNone(t, report, []string{inMemory})
	for name := range entries(t, report.File) {
		must.Hold(t, !strings.Contains(name, "vault"), "the bundle holds %s", name)
	}
	want := []wire.Skipped{{Part: wire.PartState, Path: "vault", Reason: wire.SkipUnsupported, Detail: "files of a vault cannot be redacted"}}
	must.Equal(t, "left out", report.LeftOut, want)
	must.Hold(t, entries(t, report.File)["state/extract_cursor.json"] != nil, "the rest of the state is left out too")
	n := 0
	for name := range entries(t, w.export(id, exact).File) {
		if ok, _ := filepath.Match("state/vault/*/*", name); ok && !strings.HasSuffix(name, "/") {
			n++
		}
	}
	must.Equal(t, "files of the vault in an exact bundle", n, len(files))
}
