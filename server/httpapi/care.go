package httpapi

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/server"
	"github.com/amber-memory/amber/wire"
)

// careRoutes tell what an agent's store can do and how it is doing.
func careRoutes(a *API) {
	handle(a, operation{
		id: "agent.capabilities", bound: true, method: "GET", path: agentPath + "/capabilities", scope: wire.TokenRead, summary: "Read the capabilities of the agent's store",
	}, func(_ context.Context, ag *server.Agent, _ nothing) (answer[amber.Capabilities], error) {
		return got(ag.Store.Capabilities(), nil)
	})

	handle(a, operation{
		id: "agent.stats", bound: true, method: "GET", path: agentPath + "/stats", scope: wire.TokenRead, summary: "Count the records of the agent's store",
	}, func(ctx context.Context, ag *server.Agent, _ nothing) (answer[amber.Stats], error) {
		return got(ag.Store.Stats.Stats(ctx))
	})

	handle(a, operation{
		id: "agent.health", bound: true, method: "GET", path: agentPath + "/health", scope: wire.TokenRead, summary: "Read the health of long-term memory",
	}, func(ctx context.Context, ag *server.Agent, _ nothing) (answer[amber.Health], error) {
		h, err := ag.Store.LongTerm.Health(ctx)
		return got(placeless(ctx, h), err)
	})

	handle(a, operation{
		id: "agent.generation", method: "GET", path: agentPath + "/generation", scope: wire.TokenRead, closed: true,
		summary: "Read which generation of the agent is live, which restore made the generation, and whether a restore is unfinished",
	}, func(ctx context.Context, ag *server.Agent, in whose) (answer[wire.Generation], error) {
		if ag.Generations == nil {
			return answer[wire.Generation]{}, unsupported("look at generation", "this server keeps no snapshots")
		}
		g, err := ag.Generations.Generation(ctx, in.Tenant, in.Agent)
		if amber.KindOf(err) == amber.KindNotFound {
			err = server.NotThere() // in the words for an agent of somebody else
		}
		return got(placeless(ctx, g), err)
	})

	type doctor struct {
		Deep bool `query:"deep" doc:"look at every row"`
	}
	handle(a, operation{
		id: "agent.doctor", method: "GET", path: agentPath + "/doctor", scope: wire.TokenAdmin, long: true,
		summary: "Check the agent; only callers that may see every tenant get the details of findings",
	}, func(ctx context.Context, ag *server.Agent, in doctor) (answer[wire.Checkup], error) {
		if ag.Doctor == nil {
			return answer[wire.Checkup]{}, unsupported("check agent", "this server has no check of agents")
		}
		found, err := ag.Doctor(ctx, in.Deep)
		return got(discreet(ctx, found), err)
	})

	type sync struct {
		Place string `query:"place" doc:"the place, by the name that sync gave it; default what every place has in quarantine, and conflicts"`
	}
	handle(a, operation{
		id: "agent.sync", method: "GET", path: agentPath + "/sync", scope: wire.TokenRead, summary: "Read the state of the sync with a place",
	}, func(ctx context.Context, ag *server.Agent, in sync) (answer[amber.SyncReport], error) {
		report, err := ag.Store.Sync.SyncReport(ctx, in.Place)
		return got(placeless(ctx, report), err)
	})
}

// discreet leaves out what a checkup says in words for callers of one tenant:
// folders, disks and keys of the machine are none of their business.
func discreet(ctx context.Context, c wire.Checkup) wire.Checkup {
	if server.CallerOf(ctx).Grant.Tenant == "" {
		return c
	}
	out := wire.Checkup{OK: c.OK}
	for _, f := range c.Checks {
		out.Checks = append(out.Checks, wire.Finding{Code: f.Code, Status: f.Status, Kind: f.Kind})
	}
	return out
}

// unsupported is the error of what this server cannot do.
func unsupported(op, why string) error {
	return amber.Errorf(amber.KindUnsupported, op, "", "%s", why)
}
