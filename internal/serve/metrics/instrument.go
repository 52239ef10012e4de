package metrics

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/events"
	"github.com/amber-memory/amber/wire"
)

// The layers of operations that observers see, beside those of
// [amber.Method].
const (
	layerSnapshots  = "snapshots"
	layerRepository = "repository"
	layerEvents     = "events"
)

// watch is the watching of operations by the observer beside and by the metrics.
func (m *Metrics) watch(op wire.Operation) watched {
	if m.o.Beside == nil {
		return watched{op, []wire.Observer{m}}
	}
	return watched{op, []wire.Observer{m.o.Beside, m}}
}

// Store returns s, measured. A part that s does not have stays as it is, and so do the
// capabilities.
func (m *Metrics) Store(tenant amber.TenantID, agent amber.AgentID, s amber.Store) amber.Store {
	w := m.watch(wire.Operation{Tenant: tenant, Agent: agent})
	return amber.Around(s, nil, func(ctx context.Context, c *amber.Call) (err error) {
		if c.Absent {
			return c.Next(ctx)
		}
		w := w
		w.op.Layer = string(c.Method.Layer)
		defer w.watch(&ctx, &err, c.Method.Name)(func() size { return sizeOf(c) })
		return c.Next(ctx)
	})
}

// Snapshots returns s, measured. An empty tenant or agent means that the snapshots are of many: each operation is
// of the agent that it asks about.
func (m *Metrics) Snapshots(tenant amber.TenantID, agent amber.AgentID, s wire.Snapshotter) wire.Snapshotter {
	return snapshotter{m.watch(wire.Operation{Tenant: tenant, Agent: agent, Layer: layerSnapshots}), snapshotMeter{s, m}}
}

// Repository returns the checks of a tenant's repository, measured.
func (m *Metrics) Repository(tenant amber.TenantID, c wire.RepositoryChecker) wire.RepositoryChecker {
	return checker{m.watch(wire.Operation{Tenant: tenant, Layer: layerRepository}), checkMeter{c, m}}
}

// Publisher returns p, measured. An operation is of the agent that its event is about.
func (m *Metrics) Publisher(p events.Publisher) events.Publisher {
	return publisher{m.watch(wire.Operation{Layer: layerEvents}), p}
}
