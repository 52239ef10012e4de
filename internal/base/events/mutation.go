package events

import "github.com/amber-memory/amber"

// MutationEvent returns the event for an entry of an agent's change log. The same entry always
// gives the same event. An empty prefix means the default one.
func MutationEvent(prefix string, tenant amber.TenantID, agent amber.AgentID, c amber.Change) Event {
	return Event{
		ID: string(c.Position) + "/" + string(c.Scope) + "/" + c.Key, Name: EventMutated,
		Subject: MutationSubject(prefix, tenant, agent), Tenant: tenant, Agent: agent, At: c.At,
		Payload: Mutation{
			Tenant: tenant, Agent: agent, Op: c.Op, Scope: c.Scope, Key: c.Key,
			OldDigest: c.OldDigest, NewDigest: c.NewDigest, At: c.At,
		},
	}
}
