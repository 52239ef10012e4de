package server

import (
	"cmp"
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

// Local is the actor of the audit log for callers who need no token.
const Local = "local"

// Caller is who asks.
type Caller struct {
	Grant     wire.Grant
	RequestID string
}

// Actor returns the name the audit log knows the caller by.
func (c Caller) Actor() string {
	return cmp.Or(string(c.Grant.Token), Local)
}

// Allow says whether the caller may do something with an agent, or with a whole
// tenant when agent is "". Errors: not_found for what the grant does not reach;
// refused when it lacks the scope; invalid for ids that are not valid.
func (c Caller) Allow(tenant amber.TenantID, agent amber.AgentID, scope wire.TokenScope) error {
	if _, err := amber.ParseTenantID(string(tenant)); err != nil {
		return err
	}
	if agent != "" {
		if _, err := amber.ParseAgentID(string(agent)); err != nil {
			return err
		}
	}
	if !c.Grant.Reaches(tenant, agent) {
		return NotThere()
	}
	if !c.Grant.Has(scope) {
		return amber.Errorf(amber.KindRefused, "authorize", "", "the token lacks the scope %s", string(scope))
	}
	return nil
}

// NotThere is what callers are told about an agent that does not exist, and
// about an agent outside their grant.
func NotThere() error {
	return amber.Errorf(amber.KindNotFound, "open agent", "", "the agent does not exist")
}

// callerKey is the key of the caller in a context.
type callerKey struct{}

// WithCaller returns a context that knows who asks.
func WithCaller(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// CallerOf returns the caller of a context. Without one it returns a caller
// that may do nothing.
func CallerOf(ctx context.Context) Caller {
	c, _ := ctx.Value(callerKey{}).(Caller)
	return c
}
