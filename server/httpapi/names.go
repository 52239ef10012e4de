package httpapi

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/server"
	"github.com/amber-memory/amber/wire"
)

// nameRoutes serve the names of agents.
func nameRoutes(a *API) {
	handle(a, operation{
		id: "agent.list", bound: true, method: "GET", path: namesPath, scope: wire.TokenRead, home: true,
		summary: "List the agents that the token reaches, by tenant and agent",
	}, func(ctx context.Context, part *server.Agent, _ ofHome) (answer[amber.Page[wire.AgentName]], error) {
		if a.o.Names == nil {
			return answer[amber.Page[wire.AgentName]]{}, unsupported("list agents", "this server does not list its agents")
		}
		names, err := a.o.Names(ctx, part.Tenant)
		if err != nil {
			return answer[amber.Page[wire.AgentName]]{}, err
		}
		found := within(part, names)
		if len(found) == 0 && part.ID != "" {
			return answer[amber.Page[wire.AgentName]]{}, server.NotThere()
		}
		return items(found, nil)
	})
}

// within are the names of a part of the home. The desk has let the caller in there, so the part is no more than
// its token reaches.
func within(part *server.Agent, names []server.AgentName) (found []wire.AgentName) {
	for _, n := range names {
		if (part.Tenant == "" || n.Tenant == part.Tenant) && (part.ID == "" || n.Agent == part.ID) {
			found = append(found, wire.AgentName(n))
		}
	}
	return found
}
