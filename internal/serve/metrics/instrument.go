package metrics

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/events"
	"github.com/amber-memory/amber/wire"
)

// The layers of operations that are told to observers, beside those of
// [amber.Method].
const (
	layerSnapshots  = "snapshots"
	layerRepository = "repository"
	layerEvents     = "events"
)

// Instrument returns s with every call told to the observers, the first of
// them outermost. A part that s does not have stays as it is, and so do the
// capabilities.
func Instrument(tenant amber.TenantID, agent amber.AgentID, s amber.Store, observers ...wire.Observer) amber.Store {
	if len(observers) == 0 {
		return s
	}
	w := watched{wire.Operation{Tenant: tenant, Agent: agent}, observers}
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

// InstrumentSnapshots is [Instrument] for the snapshots of an agent. An empty
// tenant or agent means that they are of many: each operation is of the one it
// asks about.
func InstrumentSnapshots(tenant amber.TenantID, agent amber.AgentID, s wire.Snapshotter, observers ...wire.Observer) wire.Snapshotter {
	if len(observers) == 0 {
		return s
	}
	return snapshotter{watched{wire.Operation{Tenant: tenant, Agent: agent, Layer: layerSnapshots}, observers}, s}
}

// InstrumentRepository is [Instrument] for the checks of a tenant's repository.
func InstrumentRepository(tenant amber.TenantID, c wire.RepositoryChecker, observers ...wire.Observer) wire.RepositoryChecker {
	if len(observers) == 0 {
		return c
	}
	return checker{watched{wire.Operation{Tenant: tenant, Layer: layerRepository}, observers}, c}
}

// InstrumentPublisher is [Instrument] for a publisher; an operation is of the
// agent its event is about.
func InstrumentPublisher(p events.Publisher, observers ...wire.Observer) events.Publisher {
	if len(observers) == 0 {
		return p
	}
	return publisher{watched{wire.Operation{Layer: layerEvents}, observers}, p}
}
