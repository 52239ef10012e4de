package agent

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/snapshot"
	"github.com/amber-memory/amber/wire"
)

// Deletion says what became of an agent that was deleted.
type Deletion struct {
	Snapshot *wire.SnapshotMeta // the last one, which holds the agent as it was; nil without one
	Left     []string           // what could not be removed, and why
}

// Delete deletes the agent for good: its store, notes, state and journal, and what
// a server keeps about it. A last snapshot is taken first unless noSnapshot is set.
// Snapshots, bundles and backups stay. The agent's own store must be closed. Errors:
// those of [snapshot.Engine.DeleteAgent]; unsupported where another engine stands in
// for that of the home.
func (a *Agent) Delete(ctx context.Context, noSnapshot bool) (Deletion, error) {
	e, err := a.Snapshots(ctx)
	if err != nil {
		return Deletion{}, err
	}
	engine, ok := e.(interface {
		DeleteAgent(ctx context.Context, tenant amber.TenantID, id amber.AgentID, noSnapshot bool) (snapshot.AgentDeletion, error)
	})
	if !ok {
		return Deletion{}, amber.Errorf(amber.KindUnsupported, "delete agent", string(a.ID()), "the engine of snapshots deletes no agents")
	}
	done, err := engine.DeleteAgent(ctx, a.Tenant(), a.ID(), noSnapshot)
	if err != nil {
		return Deletion{}, err
	}
	return Deletion{Snapshot: done.Snapshot, Left: append(a.ForgetAnswers(ctx), a.leftOnViking()...)}, nil
}
