package snapshot

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/wire"
)

// AgentDeletion says what became of an agent that was deleted.
type AgentDeletion struct {
	// Snapshot is the last one, which holds the agent as it was; nil without one.
	Snapshot *wire.SnapshotMeta
}

// DeleteAgent deletes an agent for good, once a last snapshot holds all of it;
// without one where noSnapshot is set. The snapshot is taken while all writers
// are kept out, so nothing that was acknowledged is missing in it. Snapshots stay
// in the repository. Whatever interrupts it, the agent is whole or gone. Errors:
// not_found; busy; refused where snapshots are switched off; damaged when the
// snapshot cannot hold all of it, and nothing is deleted then.
func (e *Engine) DeleteAgent(ctx context.Context, tenant amber.TenantID, id amber.AgentID, noSnapshot bool) (out AgentDeletion, err error) {
	agent, err := e.place.Folder(tenant, id)
	if err != nil {
		return out, err
	}
	if e.place.Copies() {
		return out, amber.Errorf(amber.KindUnsupported, "delete agent", string(id), "agents that live in a database cannot be deleted yet")
	}
	d := deletion{e: e, agent: agent}
	err = e.operate(ctx, agent, func(ctx context.Context, o operation) error {
		if noSnapshot {
			if err := o.Ask(ctx); err != nil {
				return err
			}
			return agent.Delete(ctx, nil)
		}
		return d.save(ctx, o)
	})
	if err == nil && d.meta.ID != "" {
		out.Snapshot = &d.meta
		e.created(ctx, d.meta)
	}
	return out, fail("delete agent", string(id), err)
}

// deletion is one agent that is being deleted.
type deletion struct {
	e     *Engine
	agent *home.Agent
	meta  wire.SnapshotMeta
}

// save deletes the agent under a last snapshot. Most of that is taken before
// anybody has to wait.
func (d *deletion) save(ctx context.Context, o operation) error {
	if d.e.o.Disabled != "" {
		return amber.Errorf(amber.KindRefused, "take last snapshot", string(d.agent.ID()), "%s", d.e.o.Disabled)
	}
	if _, err := d.agent.Current(); err != nil {
		return err
	}
	v, err := d.e.open(ctx, d.agent.Tenant(), fsx.Shared, creating)
	if err != nil {
		return err
	}
	defer v.close()
	if _, err := d.e.refresh(ctx, d.agent); err != nil {
		return err
	}
	r := wire.SnapshotRequest{Tenant: d.agent.Tenant(), Agent: d.agent.ID(), Label: wire.LabelBeforeDelete}
	rehearsal, err := d.e.capture(ctx, d.agent, v, r, under{fence: d.agent.Exclusive}, nil)
	if err != nil {
		return err
	}
	rehearsal.close()
	// As in a restore the journal comes before the lock, and nothing is opened once
	// the lock is held.
	hold, err := d.e.holdSpool(ctx, d.agent)
	if err != nil {
		return err
	}
	defer hold.close()
	return d.agent.Delete(ctx, func(c home.Current) error {
		last, err := d.e.capture(ctx, d.agent, v, r, held(c, hold), rehearsal)
		if err != nil {
			return err
		}
		defer last.close()
		if !last.complete() {
			return amber.Errorf(amber.KindDamaged, "take last snapshot", string(d.agent.ID()), "%s", d.missing(last))
		}
		d.meta, err = last.publish(ctx, o.Permit)
		return err
	})
}

// missing says what a capture does not hold.
func (d *deletion) missing(c *capture) string {
	for _, s := range c.inner.Skipped {
		return "snapshot would not hold " + s.Part + " " + s.Path + ": " + s.Reason
	}
	for _, text := range c.warn {
		return text
	}
	return "snapshot would not hold all of the agent"
}
