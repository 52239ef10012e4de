package httpapi

import (
	"context"
	"net/http"

	"github.com/amber-memory/amber/server"
	"github.com/amber-memory/amber/wire"
)

const consolidationPath = agentPath + "/consolidations"

// consolidationRoutes mark when a program rewrites memory.
func consolidationRoutes(a *API) {
	type begin struct {
		whose
		Body wire.ConsolidationBegin `body:"json"`
	}
	handle(a, operation{
		id: "consolidation.begin", method: "POST", path: consolidationPath, scope: wire.TokenSnapshot, mutates: true, long: true, closed: true,
		status: http.StatusCreated, summary: "Take a snapshot as snapshot.auto.before_consolidation says, and begin a consolidation",
	}, func(ctx context.Context, ag *server.Agent, in begin) (answer[wire.Consolidation], error) {
		if err := in.same(&in.Body.Tenant, &in.Body.Agent); err != nil {
			return answer[wire.Consolidation]{}, err
		}
		in.Body.Run = server.Redact(ctx, in.Body.Run)
		out, err := consolidating(ctx, ag, func(c wire.Consolidator) (wire.Consolidation, error) { return c.BeginConsolidation(ctx, in.Body) })
		out.subject = out.body.ID
		return out, err
	})

	type end struct {
		whose
		ID   string                `path:"id" doc:"the id of the consolidation"`
		Body wire.ConsolidationEnd `body:"json"`
	}
	handle(a, operation{
		id: "consolidation.end", method: "POST", path: consolidationPath + "/{id}/end", scope: wire.TokenSnapshot, mutates: true, closed: true,
		summary: "End a consolidation",
	}, func(ctx context.Context, ag *server.Agent, in end) (answer[wire.Consolidation], error) {
		err := in.same(&in.Body.Tenant, &in.Body.Agent)
		if err == nil {
			err = agree("consolidation", in.ID, &in.Body.ID)
		}
		if err != nil {
			return answer[wire.Consolidation]{}, err
		}
		return consolidating(ctx, ag, func(c wire.Consolidator) (wire.Consolidation, error) { return c.EndConsolidation(ctx, in.Body) })
	})

	handle(a, operation{
		id: "consolidation.open", method: "GET", path: consolidationPath + "/open", scope: wire.TokenRead,
		summary: "Read the open consolidation",
	}, func(ctx context.Context, ag *server.Agent, in whose) (answer[wire.Consolidation], error) {
		return consolidating(ctx, ag, func(c wire.Consolidator) (wire.Consolidation, error) {
			return c.OpenConsolidation(ctx, in.Tenant, in.Agent)
		})
	})
}

// consolidating calls fn with what marks consolidations. Why there is no snapshot
// may name places of the machine.
func consolidating(ctx context.Context, ag *server.Agent, fn func(c wire.Consolidator) (wire.Consolidation, error)) (answer[wire.Consolidation], error) {
	if ag.Consolidations == nil {
		return answer[wire.Consolidation]{}, unsupported("consolidate", "this server keeps no snapshots")
	}
	out, err := fn(ag.Consolidations)
	return got(placeless(ctx, out), err)
}
