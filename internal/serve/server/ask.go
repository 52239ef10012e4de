package server

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/op"
	"github.com/amber-memory/amber/wire"
)

// Ask answers a question to everything of an agent that is there. No route and no tool leads here: a door that knows the owner gives
// the leave. A bound caller is refused. Errors: those of [Desk.Do] and of the store.
func (d *Desk) Ask(ctx context.Context, c op.Caller, tenant amber.TenantID, agent amber.AgentID, q amber.Query, leave amber.Leave) (r amber.RecallResult, err error) {
	j := Job{Tenant: tenant, Agent: agent, Scope: wire.TokenRead, Action: "memory.ask", Existing: true}
	err = d.Do(ctx, c, j, func(ctx context.Context, c *op.Call) error {
		r, err = c.Store.Everything.Ask(ctx, q, leave)
		return err
	})
	return r, err
}
