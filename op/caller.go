package op

import (
	"cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/guard/authorship"
	"github.com/amber-memory/amber/wire"
)

// Local is the actor of the audit log for callers who need no token.
const Local = "local"

// Caller is the program or the person that calls an operation.
type Caller struct {
	Grant     wire.Grant
	RequestID string
	Program   string          // that speaks, as far as the door knows
	Session   amber.SessionID // in which it speaks; "": unknown
	// Model says that a model speaks, so what it writes is the word of an agent whatever the grant has.
	Model bool
}

// Writer returns who speaks for the caller: the owner where the grant has the scope own, and an agent otherwise.
func (c Caller) Writer() authorship.Writer {
	w := authorship.Writer{Trust: amber.TrustAgent, Author: amber.Author{Host: authorship.Name(c.Program), Session: c.Session, Token: authorship.Name(c.Grant.Name)}}
	if !c.Model && c.Grant.Has(wire.TokenOwn) {
		w.Trust = amber.TrustOwn
	}
	return w
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
		return lacks(scope)
	}
	return nil
}

// AllowPart says whether the caller may do something with a part of the home: what
// belongs to an agent, to every agent when agent is "", or to every tenant when
// tenant is "". Errors: those of [Caller.Allow]; refused for a part that is more than
// the grant reaches and includes it.
func (c Caller) AllowPart(tenant amber.TenantID, agent amber.AgentID, scope wire.TokenScope) error {
	g := c.Grant
	if tenant != "" && (agent != "" || g.Agent == "") {
		return c.Allow(tenant, agent, scope)
	}
	switch {
	case tenant != "" && tenant != g.Tenant:
		return NotThere()
	case g.Agent != "" && agent == "" || g.Tenant != "" && tenant == "":
		return amber.Errorf(amber.KindRefused, "authorize", "", "the token is for %s; this takes a token for %s", partName(g.Tenant, g.Agent), partName(tenant, agent))
	case agent != "":
		if _, err := amber.ParseAgentID(string(agent)); err != nil {
			return err
		}
	}
	if !g.Has(scope) {
		return lacks(scope)
	}
	return nil
}

// AllowWhole says whether the caller may do something that is about a whole agent, or more. Errors: refused for a caller that is bound.
func (c Caller) AllowWhole() error {
	if c.Grant.Bound.None() {
		return nil
	}
	return amber.Errorf(amber.KindRefused, "authorize", "", "the caller is bound to %s; this is about the whole agent", c.Grant.Bound)
}

// partName says in words what a part of the home is.
func partName(tenant amber.TenantID, agent amber.AgentID) string {
	switch {
	case tenant == "":
		return "every tenant"
	case agent == "":
		return "every agent of tenant " + string(tenant)
	}
	return "agent " + string(agent) + " of tenant " + string(tenant)
}

func lacks(scope wire.TokenScope) error {
	return amber.Errorf(amber.KindRefused, "authorize", "", "the token lacks the scope %s", string(scope))
}

// Part is the part of the home that a caller asks about: what the request names, and
// otherwise what the grant is for.
func (c Caller) Part(tenant amber.TenantID, agent amber.AgentID) (amber.TenantID, amber.AgentID) {
	return cmp.Or(tenant, c.Grant.Tenant), cmp.Or(agent, c.Grant.Agent)
}

// NotThere is the error that callers get for an agent that does not exist, and
// for an agent outside their grant.
func NotThere() error {
	return amber.Errorf(amber.KindNotFound, "open agent", "", "the agent does not exist")
}
