package client

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

var _ wire.Consolidator = (*Snapshots)(nil)

// BeginConsolidation implements [wire.Consolidator].
func (s *Snapshots) BeginConsolidation(ctx context.Context, r wire.ConsolidationBegin) (wire.Consolidation, error) {
	if err := s.ours(&r.Tenant, &r.Agent); err != nil {
		return wire.Consolidation{}, err
	}
	if _, err := r.Normalize(); err != nil {
		return wire.Consolidation{}, err
	}
	return post[wire.Consolidation](ctx, s.a.slow(), r, "consolidations")
}

// EndConsolidation implements [wire.Consolidator].
func (s *Snapshots) EndConsolidation(ctx context.Context, r wire.ConsolidationEnd) (wire.Consolidation, error) {
	if err := s.ours(&r.Tenant, &r.Agent); err != nil {
		return wire.Consolidation{}, err
	}
	if _, err := r.Normalize(); err != nil {
		return wire.Consolidation{}, err
	}
	c, err := post[wire.Consolidation](ctx, s.a, r, "consolidations", r.ID, "end")
	return c, about(c.ID, r.ID, err)
}

// OpenConsolidation implements [wire.Consolidator].
func (s *Snapshots) OpenConsolidation(ctx context.Context, tenant amber.TenantID, agent amber.AgentID) (wire.Consolidation, error) {
	if err := s.ours(&tenant, &agent); err != nil {
		return wire.Consolidation{}, err
	}
	return get[wire.Consolidation](ctx, s.a, nil, "consolidations", "open")
}
