package client

import (
	"context"

	"github.com/amber-memory/amber"
)

var _ amber.Consolidator = (*Snapshots)(nil)

// BeginConsolidation implements [amber.Consolidator].
func (s *Snapshots) BeginConsolidation(ctx context.Context, r amber.ConsolidationBegin) (amber.Consolidation, error) {
	if err := s.ours(&r.Tenant, &r.Agent); err != nil {
		return amber.Consolidation{}, err
	}
	if _, err := r.Normalize(); err != nil {
		return amber.Consolidation{}, err
	}
	return post[amber.Consolidation](ctx, s.a, r, "consolidations")
}

// EndConsolidation implements [amber.Consolidator].
func (s *Snapshots) EndConsolidation(ctx context.Context, r amber.ConsolidationEnd) (amber.Consolidation, error) {
	if err := s.ours(&r.Tenant, &r.Agent); err != nil {
		return amber.Consolidation{}, err
	}
	if _, err := r.Normalize(); err != nil {
		return amber.Consolidation{}, err
	}
	c, err := post[amber.Consolidation](ctx, s.a, r, "consolidations", r.ID, "end")
	return c, about(c.ID, r.ID, err)
}

// OpenConsolidation implements [amber.Consolidator].
func (s *Snapshots) OpenConsolidation(ctx context.Context, tenant amber.TenantID, agent amber.AgentID) (amber.Consolidation, error) {
	if err := s.ours(&tenant, &agent); err != nil {
		return amber.Consolidation{}, err
	}
	return get[amber.Consolidation](ctx, s.a, nil, "consolidations", "open")
}
