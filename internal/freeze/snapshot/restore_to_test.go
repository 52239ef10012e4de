package snapshot_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// The control plane comes back only when the request asks for it, also in a new agent.
func TestANewAgentHasAnEmptyControlPlane(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.remember("then")
	must.Do(t, w.store.Publish(t.Context(), amber.Envelope{EntryID: "e1", TaskID: "t1", NodeID: "n1", Payload: `{}`}))
	meta := w.snapshot()
	for _, with := range []bool{false, true} {
		name := map[bool]amber.AgentID{false: "bare", true: "whole"}[with]
		w.restore(meta.ID, func(r *wire.RestoreRequest) { r.To, r.WithControl = name, with })
		agent := must.Get(w.home.Agent("default", name))(t)
		other := &world{t: t, dir: w.dir, home: w.home, agent: agent}
		other.openStore()
		b := must.Get(other.store.Backpressure(t.Context()))(t)
		must.Equal(t, fmt.Sprintf("%s has an entry in its queue", name), b.Queued == 1, with)
	}
}

// Whose manifests they are is told apart from damage, and a new agent may be
// made of them.
func TestASnapshotOfAnotherAgentIsRefusedUnlessItBecomesANewOne(t *testing.T) {
	t.Parallel()
	w, meta := frozen(t, "mine")
	from := filepath.Join(w.home.RepoDir("default"), "snapshots", "default", string(meta.ID)+".json")
	b := must.Get(os.ReadFile(from))(t)
	to := filepath.Join(w.home.RepoDir("default"), "snapshots", "other", string(meta.ID)+".json")
	must.Do(t, os.MkdirAll(filepath.Dir(to), 0o700))
	must.Do(t, os.WriteFile(to, b, 0o600))
	r := wire.RestoreRequest{SnapshotRef: wire.SnapshotRef{Tenant: "default", Agent: "other", ID: meta.ID}}
	must.Fail(w.engine.Restore(t.Context(), r))(t, "a snapshot of another agent", amber.KindCrossTenant)
	r.To = "new"
	must.Kind(t, "a new agent of it", must.Err(w.engine.Restore(t.Context(), r)), "")
}
