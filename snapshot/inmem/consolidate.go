package inmem

import (
	"cmp"
	"context"

	"github.com/amber-memory/amber"
)

var _ amber.Consolidator = (*Snapshotter)(nil)

// BeginConsolidation implements [amber.Consolidator]; a snapshot is required.
func (s *Snapshotter) BeginConsolidation(ctx context.Context, r amber.ConsolidationBegin) (c amber.Consolidation, err error) {
	const op = "begin consolidation"
	if r, err = r.Normalize(); err != nil {
		return c, err
	}
	err = s.run(ctx, op, func() error {
		k := key{r.Tenant, r.Agent}
		open, found := s.open[k]
		switch {
		case s.agents[k] == nil:
			return noAgent(op, k)
		case !found && r.Abandon != "":
			return notFound(op, r.Abandon, "no consolidation is open")
		case found && open.ID != r.Abandon:
			return amber.Errorf(amber.KindConflict, op, open.ID, "a consolidation began at %s and has not ended", open.BeganAt.String())
		case found:
			open.EndedAt, open.Outcome, open.Unfinished = s.now(), amber.ConsolidationAbandoned, nil
			c.Unfinished = &open
		}
		if c.ID, err = amber.NewUUID(s.clock(), s.random); err != nil {
			return err
		}
		c.Run, c.BeganAt = r.Run, s.now()
		x, err := s.take(k, amber.LabelBeforeConsolidation+cmp.Or(c.Run, c.ID), false)
		if err != nil {
			return err
		}
		c.Snapshot = x.meta.ID
		s.open[k] = c
		return nil
	})
	return c, err
}

// EndConsolidation implements [amber.Consolidator].
func (s *Snapshotter) EndConsolidation(ctx context.Context, r amber.ConsolidationEnd) (c amber.Consolidation, err error) {
	if r, err = r.Normalize(); err != nil {
		return c, err
	}
	err = s.run(ctx, "end consolidation", func() error {
		k := key{r.Tenant, r.Agent}
		open, found := s.open[k]
		if !found || open.ID != r.ID {
			return notFound("end consolidation", r.ID, "this consolidation is not open")
		}
		delete(s.open, k)
		c = open
		c.EndedAt, c.Outcome = s.now(), r.Outcome
		return nil
	})
	return c, err
}

// OpenConsolidation implements [amber.Consolidator].
func (s *Snapshotter) OpenConsolidation(ctx context.Context, tenant amber.TenantID, agent amber.AgentID) (c amber.Consolidation, err error) {
	err = s.run(ctx, "read consolidation", func() error {
		open, found := s.open[key{tenant, agent}]
		if !found {
			return notFound("read consolidation", string(agent), "no consolidation is open")
		}
		c = open
		return nil
	})
	return c, err
}
