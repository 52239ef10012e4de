package snapshot_test

import (
	"fmt"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/snapshot"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// TestADeletionThatIsCutLeavesTheAgentOrItsLastSnapshot cuts the deletion of an agent
// at its calls, by a kill and by a full disk. Afterwards the agent is whole, or it is
// gone and its last snapshot brings back all of it.
func TestADeletionThatIsCutLeavesTheAgentOrItsLastSnapshot(t *testing.T) {
	t.Parallel()
	about := newPrepared(t)
	whole := newMortal(0, nil)
	must.Get(deleteDefault(newActor(t.Context(), t, about.copied(t), whole)))(t)
	calls, _ := whole.reached()
	for _, full := range []bool{false, true} {
		for at := range cutsOf(t, calls) {
			t.Run(fmt.Sprintf("full=%v/%d", full, at), func(t *testing.T) {
				t.Parallel()
				dir := about.copied(t)
				var made snapshot.AgentDeletion
				err := cutAt(t, dir, at, full, func(p *actor) (err error) {
					made, err = deleteDefault(p)
					return err
				})
				afterDeletion(t, dir, about, made.Snapshot, err)
			})
		}
	}
}

func deleteDefault(p *actor) (snapshot.AgentDeletion, error) {
	return p.engine.DeleteAgent(p.ctx, "default", "default", false)
}

// afterDeletion opens what a deletion has left, acknowledged or not.
func afterDeletion(t *testing.T, dir string, about *prepared, last *wire.SnapshotMeta, err error) {
	t.Helper()
	p := newActor(t.Context(), t, dir, newMortal(0, nil))
	agent := must.Get(p.home.Agent("default", "default"))(t)
	_, absent := agent.Current()
	switch {
	case absent == nil && err == nil:
		t.Fatal("the deletion was acknowledged, and the agent is there")
	case absent == nil:
		w := openQuickly(t, dir, newMortal(0, nil))
		defer w.store.Close()
		w.mustBe(about.now)
		w.mustCheck()
		must.Get(deleteDefault(p))(t)
		return
	}
	must.Kind(t, "the agent that is gone", absent, amber.KindNotFound)
	page := must.Get(p.engine.ListSnapshots(t.Context(), wire.SnapshotQuery{Tenant: "default", Agent: "default", Limit: amber.MaxPageSize}))(t)
	newest := page.Items[0]
	if newest.Label != wire.LabelBeforeDelete || last != nil && last.ID != newest.ID {
		t.Fatalf("the newest snapshot is %s %q, acknowledged was %+v", newest.ID, newest.Label, last)
	}
	must.Get(p.engine.Restore(t.Context(), wire.RestoreRequest{SnapshotRef: ref(newest.ID)}))(t)
	w := openQuickly(t, dir, newMortal(0, nil))
	defer w.store.Close()
	w.mustBe(about.now)
	for _, id := range append(about.snapshots, newest.ID) {
		w.mustVerify(id)
	}
	w.mustCheck()
}
