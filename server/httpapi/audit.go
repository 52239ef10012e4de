package httpapi

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/server"
	"github.com/amber-memory/amber/wire"
)

// ofHome is in the query of listings of what belongs to the home. The desk has
// looked at both; what a caller may see of the rest is what its token is for.
type ofHome struct {
	Tenant amber.TenantID `query:"tenant" doc:"only of this tenant; default all that the token is for"`
	Agent  amber.AgentID  `query:"agent" doc:"only of this agent; default all that the token is for"`
}

// wholeHome is the input of what concerns every tenant.
type wholeHome struct{}

func (wholeHome) aim(_ context.Context, _ *API, j *server.Job) { j.Tenant, j.Agent = "", "" }

// auditRoutes serve the audit log.
func auditRoutes(a *API) {
	type listing struct {
		ofHome
		paging
		Actor  string     `query:"actor" doc:"only what this actor did: the id of a token, local, or cli"`
		Action string     `query:"action" doc:"only this operation, as in memory.write"`
		Since  amber.Time `query:"since" doc:"only what happened at this time or later"`
	}
	handleList(a, operation{
		id: "audit.list", method: "GET", path: auditPath, scope: wire.TokenAdmin, home: true,
		summary: "List entries of the audit log, newest first; a token for one tenant or agent is shown only entries about it, without hashes",
	}, func(ctx context.Context, part *server.Agent, in listing, p paging) (amber.Page[wire.AuditEntry], error) {
		if a.o.Desk.Audit == nil {
			return amber.Page[wire.AuditEntry]{}, noAudit()
		}
		return server.ListAudit(ctx, a.o.Desk.Audit, wire.AuditQuery{
			Tenant: part.Tenant, Agent: part.ID, Actor: in.Actor, Action: in.Action, Since: in.Since, Limit: p.Limit, Cursor: p.Cursor,
		})
	})

	handle(a, operation{
		id: "audit.verify", method: "POST", path: auditPath + "/verify", scope: wire.TokenAdmin, home: true, long: true,
		summary: "Recompute the audit log and find what was changed; needs a token for every tenant, because the entries of all tenants are one chain",
	}, func(ctx context.Context, _ *server.Agent, _ wholeHome) (answer[wire.AuditReport], error) {
		if a.o.Desk.Audit == nil {
			return answer[wire.AuditReport]{}, noAudit()
		}
		return got(a.o.Desk.Audit.VerifyAudit(ctx))
	})
}

func noAudit() error { return unsupported("read audit log", "this server keeps no audit log") }
