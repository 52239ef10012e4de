package agent

import (
	"context"

	"github.com/amber-memory/amber"
)

// freezer freezes an agent before something of it is folded together.
type freezer interface {
	BeforeConsolidation(ctx context.Context, tenant amber.TenantID, agent amber.AgentID, run string) (amber.SnapshotID, error)
}

// frozenEvents are the events of tasks. The agent is frozen before some of them are
// folded into a summary: that is one transaction, so it needs no mark.
type frozenEvents struct {
	amber.TaskEvents
	agent *Agent
}

// Events are the events of tasks: the agent is frozen before some are compacted.
func (a *Agent) Events() amber.TaskEvents { return frozenEvents{a.plain.Events, a} }

// compactionRun names the compaction in the label of its snapshot.
const compactionRun = "event-compact"

// CompactEvents implements amber.TaskEvents. Nothing is frozen where nothing would be
// folded.
func (f frozenEvents) CompactEvents(ctx context.Context, taskID string, keep int) (amber.ReplaySnapshot, error) {
	events, err := amber.All(ctx, f.ListEvents, taskID)
	if err == nil && keep >= 0 && len(events) > keep {
		err = f.agent.freeze(ctx, compactionRun)
	}
	if err != nil {
		return amber.ReplaySnapshot{}, err
	}
	return f.TaskEvents.CompactEvents(ctx, taskID, keep)
}

// freeze takes a snapshot before a consolidation, as the configuration says.
func (a *Agent) freeze(ctx context.Context, run string) error {
	e, err := a.Snapshots(ctx)
	if err != nil {
		return err
	}
	if f, ok := e.(freezer); ok {
		_, err = f.BeforeConsolidation(ctx, a.Tenant(), a.ID(), run)
	}
	return err
}
