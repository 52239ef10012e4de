package server

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/op"
)

// Agents opens agents.
type Agents interface {
	// Agent returns an agent; release lets it go and is called exactly once.
	// With create, an agent that does not exist is made. Errors: those of
	// [op.NotThere]; busy when too many are open; those of the store.
	Agent(ctx context.Context, tenant amber.TenantID, agent amber.AgentID, create bool) (a *op.Agent, release func(), err error)
}
