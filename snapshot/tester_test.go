package snapshot_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/snapshot"
)

// A plan does not promise what a restore would not do.
func TestAPlanKnowsWhatWasErasedAndWhatWouldBeGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	gone := w.remember("to be erased")
	w.note("a", "one\n")
	meta := w.snapshot()
	if _, err := w.store.Erase(t.Context(), gone); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.gen(), "memdir", "con.md"), []byte("x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	report := w.restore(meta.ID, func(r *amber.RestoreRequest) { r.DryRun = true })
	if n := report.Plan.Store.Table("memories").Added; n != 0 {
		t.Errorf("the plan brings back %d erased memories", n)
	}
	if report.Plan.Notes.Removed != 1 {
		t.Errorf("the plan for the notes is %+v, want one file gone", report.Plan.Notes)
	}
}

// A repository that is gone is no clean slate, and what is left of it is no
// garbage.
func TestALostRepositoryIsNoticed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.remember("x")
	w.snapshot()
	repo := w.home.RepoDir("default")
	if err := os.RemoveAll(filepath.Join(repo, "snapshots")); err != nil {
		t.Fatal(err)
	}
	if _, err := w.engine.CollectGarbage(t.Context(), amber.GCRequest{Tenant: "default"}); amber.KindOf(err) != amber.KindDamaged {
		t.Errorf("gc frees what a lost snapshot needs: %v", err)
	}
	if err := os.RemoveAll(repo); err != nil {
		t.Fatal(err)
	}
	if _, err := w.engine.ListSnapshots(t.Context(), amber.SnapshotQuery{Tenant: "default", Agent: "default"}); amber.KindOf(err) != amber.KindDamaged {
		t.Errorf("the list of a repository that is gone: %v, want damaged", err)
	}
}

// Another repository is another chain: moving to a new disk is no damage.
func TestAnotherRootBeginsAnotherChain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := openWorld(t, dir)
	w.remember("x")
	w.snapshot()
	other := openWorld(t, dir, func(o *snapshot.Options) { o.Root = filepath.Join(t.TempDir(), "elsewhere") })
	if meta := other.snapshot(); meta.Counter != 1 {
		t.Errorf("the first snapshot there has counter %d", meta.Counter)
	}
	other.mustCheck()
	w.mustCheck()
}

// A restore without a safety snapshot only reads the repository.
func TestARestoreWithoutASafetySnapshotWritesNothingToTheRepository(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.remember("then")
	meta := w.snapshot()
	before := w.packs()
	w.remember("later")
	w.restore(meta.ID, func(r *amber.RestoreRequest) { r.NoSafetySnapshot = true })
	if !slices.Equal(before, w.packs()) {
		t.Error("it wrote to the repository")
	}
}

// The control plane comes back only when it is asked for, in a new agent too.
func TestANewAgentHasAnEmptyControlPlane(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.remember("then")
	if err := w.store.Publish(t.Context(), amber.Envelope{EntryID: "e1", TaskID: "t1", NodeID: "n1", Payload: `{}`}); err != nil {
		t.Fatal(err)
	}
	meta := w.snapshot()
	for _, with := range []bool{false, true} {
		name := map[bool]amber.AgentID{false: "bare", true: "whole"}[with]
		w.restore(meta.ID, func(r *amber.RestoreRequest) { r.To, r.WithControl = name, with })
		agent, err := w.home.Agent("default", name)
		if err != nil {
			t.Fatal(err)
		}
		other := &world{t: t, dir: w.dir, home: w.home, agent: agent}
		other.openStore()
		b, err := other.store.Backpressure(t.Context())
		if err != nil || (b.Queued == 1) != with {
			t.Errorf("%s has %d entries in its queue, %v", name, b.Queued, err)
		}
	}
}

// An agent that exists is never replaced by a fork.
func TestAForkNeverReplacesAnAgent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.remember("then")
	meta := w.snapshot()
	_, err := w.engine.Restore(t.Context(), amber.RestoreRequest{SnapshotRef: ref(meta.ID), To: "default"})
	if amber.KindOf(err) != amber.KindConflict {
		t.Errorf("a fork to the agent itself: %v, want a conflict", err)
	}
}

// Whose manifests they are is told apart from damage, and a new agent may be
// made of them.
func TestASnapshotOfAnotherAgentIsRefusedUnlessItBecomesANewOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.remember("mine")
	meta := w.snapshot()
	from := filepath.Join(w.home.RepoDir("default"), "snapshots", "default", string(meta.ID)+".json")
	b, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(w.home.RepoDir("default"), "snapshots", "other", string(meta.ID)+".json")
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, b, 0o600); err != nil {
		t.Fatal(err)
	}
	r := amber.RestoreRequest{SnapshotRef: amber.SnapshotRef{Tenant: "default", Agent: "other", ID: meta.ID}}
	if _, err := w.engine.Restore(t.Context(), r); amber.KindOf(err) != amber.KindCrossTenant {
		t.Errorf("a snapshot of another agent: %v, want cross_tenant", err)
	}
	r.To = "new"
	if _, err := w.engine.Restore(t.Context(), r); err != nil {
		t.Errorf("a new agent of it: %v", err)
	}
}

// A lost index is made again from the packs.
func TestGarbageCollectionMakesALostIndexAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.remember("then")
	meta := w.snapshot()
	if err := os.RemoveAll(filepath.Join(w.home.RepoDir("default"), "index")); err != nil {
		t.Fatal(err)
	}
	w.gc()
	w.mustVerify(meta.ID)
	w.mustCheck()
}

// Nothing is ever captured of an agent of which nothing can be read.
func TestAnAgentWithoutDatabasesIsNoSnapshot(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.remember("then")
	meta := w.snapshot()
	if err := w.store.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(w.gen()); err != nil {
		t.Fatal(err)
	}
	_, err := w.engine.Snapshot(t.Context(), amber.SnapshotRequest{Tenant: "default", Agent: "default"})
	if amber.KindOf(err) != amber.KindDamaged {
		t.Errorf("a snapshot of nothing: %v, want damaged", err)
	}
	report := w.restore(meta.ID, func(r *amber.RestoreRequest) { r.WithControl = true })
	if report.SafetySnapshot != "" || !strings.Contains(strings.Join(report.Warnings, " "), "no safety snapshot") {
		t.Errorf("the report is %+v", report)
	}
}
