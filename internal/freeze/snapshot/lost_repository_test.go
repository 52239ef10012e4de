package snapshot_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/snapshot"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// A repository that is gone is no clean slate, and what is left of it is no
// garbage.
func TestALostRepositoryIsNoticed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.remember("x")
	w.snapshot()
	repo := w.home.RepoDir("default")
	must.Do(t, os.RemoveAll(filepath.Join(repo, "snapshots")))
	must.Fail(w.engine.CollectGarbage(t.Context(), wire.GCRequest{Tenant: "default"}))(t, "gc", amber.KindDamaged)
	must.Do(t, os.RemoveAll(repo))
	must.Fail(w.engine.ListSnapshots(t.Context(), wire.SnapshotQuery{Tenant: "default", Agent: "default"}))(t, "list", amber.KindDamaged)
}

// Another repository is another chain: moving to a new disk is no damage.
func TestAnotherRootBeginsAnotherChain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := openWorld(t, dir)
	w.remember("x")
	w.snapshot()
	other := openWorld(t, dir, func(o *snapshot.Options) { o.Root = filepath.Join(t.TempDir(), "elsewhere") })
	must.Equal(t, "counter of the first snapshot there", other.snapshot().Counter, 1)
	other.mustCheck()
	w.mustCheck()
}

func TestARepositoryThatIsGoneIsDamage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if r := w.check(); !r.OK() {
		t.Errorf("before the first snapshot: %+v", r.Damaged)
	}
	meta := w.snapshot()
	must.Do(t, os.RemoveAll(w.home.RepoDir("default")))
	r := w.check()
	if len(r.Damaged) != 1 || !strings.Contains(r.Damaged[0].Object, "agent default") || !slices.Equal(r.Damaged[0].Snapshots, []amber.SnapshotID{meta.ID}) {
		t.Errorf("%+v", r.Damaged)
	}
	must.Fail(w.engine.VerifySnapshot(t.Context(), wire.VerifyRequest{SnapshotRef: ref(meta.ID)}))(t, "verify", amber.KindNotFound)
}
