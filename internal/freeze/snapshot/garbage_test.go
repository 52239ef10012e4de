package snapshot_test

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber/internal/freeze/snapshot"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/sqlite"
	"github.com/amber-memory/amber/wire"
)

// Neither gc nor the sweep of what was left behind touches what a running
// snapshot or restore relies on, however old it looks.
func TestGarbageCollectionSparesWhatRunningOperationsNeed(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"capture memory.db", "read back"} {
		t.Run("snapshot, "+step, func(t *testing.T) {
			t.Parallel()
			p := newPause(step)
			w := newWorld(t, func(o *snapshot.Options) { o.Progress = p.progress })
			w.remember("one")
			w.note("a", "one\n")
			want := w.all()
			var meta wire.SnapshotMeta
			p.during(t, func() (err error) {
				meta, err = w.trySnapshot()
				return err
			}, func() { sweepHard(t, w.dir) })
			w.mustVerify(meta.ID)
			w.mustCheck()
			w.remember("two")
			w.restore(meta.ID)
			w.mustBe(want)
		})
	}
	t.Run("restore", func(t *testing.T) {
		t.Parallel()
		p := newPause("write memory.db")
		w := newWorld(t, func(o *snapshot.Options) { o.Progress = p.progress })
		w.remember("one")
		want := w.all()
		meta := w.snapshot()
		w.remember("two")
		p.during(t, func() error { return w.tryRestore(meta.ID) }, func() {
			building := filepath.Join(w.agent.Dir(), "gen", "2")
			must.Kind(t, "what is being built", must.Err(os.Stat(building)), "")
			sweepHard(t, w.dir)
			must.Kind(t, "what is being built, after gc", must.Err(os.Stat(building)), "")
		})
		w.mustBe(want)
		w.mustCheck()
	})
	t.Run("verify", func(t *testing.T) {
		t.Parallel()
		p := newPause("write memory.db")
		w, meta := frozen(t, "one", func(o *snapshot.Options) { o.Progress = p.progress })
		p.during(t, func() error {
			r, err := w.engine.VerifySnapshot(t.Context(), wire.VerifyRequest{SnapshotRef: ref(meta.ID), ReadData: true})
			if err == nil && !r.OK() {
				err = fmt.Errorf("damaged: %v", r.Damaged)
			}
			return err
		}, func() { sweepHard(t, w.dir) })
	})
}

// A lost index is made again from the packs.
func TestGarbageCollectionMakesALostIndexAgain(t *testing.T) {
	t.Parallel()
	w, meta := frozen(t, "then")
	must.Do(t, os.RemoveAll(filepath.Join(w.home.RepoDir("default"), "index")))
	w.gc()
	w.mustVerify(meta.ID)
	w.mustCheck()
}

// One agent that cannot be settled keeps no other from being swept.
func TestSweepGoesOnBehindADamagedAgent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.remember("something")
	w.snapshot()
	other := must.Get(w.home.Agent("default", "zoe"))(t)
	store := must.Get(sqlite.Open(t.Context(), other, sqlite.Options{Clock: time.Now, Random: rand.Reader}))(t)
	must.Do(t, store.Close())
	for _, agent := range []string{w.agent.Dir(), other.Dir()} {
		must.Do(t, os.WriteFile(filepath.Join(agent, "RESTORING"), []byte("no note"), 0o600))
	}
	_, err := w.engine.CollectGarbage(t.Context(), wire.GCRequest{Tenant: "default"})
	must.Hold(t, err != nil && strings.Contains(err.Error(), "default") && strings.Contains(err.Error(), "zoe"), "got %v", err)
}
