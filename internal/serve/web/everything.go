package web

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/op"
	"github.com/amber-memory/amber/wire"
)

// everything is the choice of the screen of recall that asks every project.
const everything = "*"

// Ask answers a question to everything of an agent for a caller.
type Ask func(ctx context.Context, c op.Caller, tenant amber.TenantID, agent amber.AgentID, q amber.Query, leave amber.Leave) (amber.RecallResult, error)

// owns reports whether the visitor is the owner: no token is needed, or the one that the visitor logged in with has the scope own or
// admin and is bound to nothing.
func (v *visit) owns() bool {
	return v.p.o.Ask != nil && v.known && v.grant.Has(wire.TokenOwn) && v.grant.Has(wire.TokenRead) && v.grant.Bound.None()
}

// askEverything asks everything for the owner. Errors: refused for any other visitor.
func (v *visit) askEverything(ctx context.Context, q amber.Query) (amber.RecallResult, error) {
	if !v.owns() {
		return amber.RecallResult{}, amber.Leave{}.Check()
	}
	c := op.Caller{Grant: v.grant, RequestID: v.w.Header().Get("X-Request-Id"), Program: "page"}
	return v.p.o.Ask(ctx, c, v.tenant, v.agent, q, amber.LeaveOfOwner())
}
