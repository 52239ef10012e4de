package snapshot_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

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
		w.restore(meta.ID, func(r *wire.RestoreRequest) { r.To, r.WithControl = name, with })
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
	_, err := w.engine.Restore(t.Context(), wire.RestoreRequest{SnapshotRef: ref(meta.ID), To: "default"})
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
	r := wire.RestoreRequest{SnapshotRef: wire.SnapshotRef{Tenant: "default", Agent: "other", ID: meta.ID}}
	if _, err := w.engine.Restore(t.Context(), r); amber.KindOf(err) != amber.KindCrossTenant {
		t.Errorf("a snapshot of another agent: %v, want cross_tenant", err)
	}
	r.To = "new"
	if _, err := w.engine.Restore(t.Context(), r); err != nil {
		t.Errorf("a new agent of it: %v", err)
	}
}
