package main

import (
	"context"

	"github.com/amber-memory/amber"
)

// freezer freezes an agent before something of it is folded together.
type freezer interface {
	BeforeConsolidation(ctx context.Context, tenant amber.TenantID, agent amber.AgentID, run string) (amber.SnapshotID, error)
}

// frozenEvents are the events of tasks, frozen before some of them are folded
// into a summary: that is one transaction, so it needs no mark.
type frozenEvents struct {
	amber.TaskEvents
	freezer freezer
	tenant  amber.TenantID
	agent   amber.AgentID
}

// compactionRun is what the label of the snapshot calls it.
const compactionRun = "event-compact"

// CompactEvents implements amber.TaskEvents. Where nothing would be folded nothing
// is frozen.
func (f frozenEvents) CompactEvents(ctx context.Context, taskID string, keep int) (amber.ReplaySnapshot, error) {
	events, err := f.ListEvents(ctx, taskID)
	if err == nil && keep >= 0 && len(events) > keep {
		_, err = f.freezer.BeforeConsolidation(ctx, f.tenant, f.agent, compactionRun)
	}
	if err != nil {
		return amber.ReplaySnapshot{}, err
	}
	return f.TaskEvents.CompactEvents(ctx, taskID, keep)
}

// compactor returns the events of the tasks of s, for whoever compacts them. What
// is served elsewhere is frozen there.
func (a *app) compactor(ctx context.Context, s *opened) (amber.TaskEvents, error) {
	if s.remote != nil {
		return s.Store.Events, nil
	}
	e, err := a.snapshots(ctx, s)
	if err != nil {
		return nil, err
	}
	f, ok := e.(freezer)
	if !ok {
		return s.Store.Events, nil
	}
	return frozenEvents{s.Store.Events, f, s.tenantID(), s.agentID()}, nil
}
