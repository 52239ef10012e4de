package client

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/op"
	"github.com/amber-memory/amber/wire"
)

var _ wire.Consolidator = (*Snapshots)(nil)

// BeginConsolidation implements [wire.Consolidator].
func (s *Snapshots) BeginConsolidation(ctx context.Context, r wire.ConsolidationBegin) (wire.Consolidation, error) {
	return op.ConsolidationBegin.Call(ctx, s.a, op.ConsolidationBeginIn{Body: r})
}

// EndConsolidation implements [wire.Consolidator].
func (s *Snapshots) EndConsolidation(ctx context.Context, r wire.ConsolidationEnd) (wire.Consolidation, error) {
	return op.ConsolidationEnd.Call(ctx, s.a, op.ConsolidationEndIn{ID: r.ID, Body: r})
}

// OpenConsolidation implements [wire.Consolidator].
func (s *Snapshots) OpenConsolidation(ctx context.Context, tenant amber.TenantID, agent amber.AgentID) (wire.Consolidation, error) {
	return op.ConsolidationOpen.Call(ctx, s.a, op.Whose{Tenant: tenant, Agent: agent})
}
