package op

import (
	"context"
	"net/http"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

// OfHomeIn is in the query of listings of what belongs to the home. The desk has looked at both; what a caller may see of the rest is what
// its token is for.
type OfHomeIn struct {
	Tenant amber.TenantID `query:"tenant" doc:"only of this tenant; default all that the token is for"`
	Agent  amber.AgentID  `query:"agent" doc:"only of this agent; default all that the token is for"`
}

// WholeHome is the input of what concerns every tenant.
type WholeHome struct{}

func (WholeHome) aim(context.Context, *House, Caller) (Aim, bool) { return Aim{}, true }

// AuditIn asks for a page of the audit log.
type AuditIn struct {
	OfHomeIn
	Paging
	Actor  string     `query:"actor" doc:"only what this actor did: the id of a token, local, or cli"`
	Action string     `query:"action" doc:"only this operation, as in memory.write"`
	Since  amber.Time `query:"since" doc:"only what happened at this time or later"`
}

// AuditList lists entries of the audit log.
var AuditList = list(Row{
	ID: "audit.list", HTTP: "GET /v1/audit", Scope: wire.TokenAdmin, Kind: OfHome,
	Doc: "List entries of the audit log, newest first; a token for one tenant or agent is shown only entries about it, without hashes",
}, func(ctx context.Context, c *Call, in AuditIn, p Paging) (amber.Page[wire.AuditEntry], error) {
	if c.House.Audit == nil {
		return amber.Page[wire.AuditEntry]{}, noAudit()
	}
	return ListAudit(ctx, c.Caller, c.House.Audit, wire.AuditQuery{
		Tenant: c.Tenant, Agent: c.ID, Actor: in.Actor, Action: in.Action, Since: in.Since, Limit: p.Limit, Cursor: p.Cursor,
	})
})

// AuditVerify recomputes the audit log.
var AuditVerify = do(Row{
	ID: "audit.verify", HTTP: "POST /v1/audit/verify", Scope: wire.TokenAdmin, Kind: OfHome | Long,
	Sure: []string{"checked", "not_checked", "damaged"}, Doc: "Recompute the audit log and find what was changed; needs a token for every tenant, because the entries of all tenants are one chain",
}, func(ctx context.Context, c *Call, _ WholeHome) (wire.AuditReport, error) {
	if c.House.Audit == nil {
		return wire.AuditReport{}, noAudit()
	}
	return c.House.Audit.VerifyAudit(ctx)
})

func noAudit() error { return unsupported("read audit log", "this server keeps no audit log") }

// TokenCreateIn asks for a token; the part of the home that it is for is in the body.
type TokenCreateIn struct {
	Body wire.TokenRequest `body:"json"`
}

func (in TokenCreateIn) aim(context.Context, *House, Caller) (Aim, bool) {
	return Aim{Tenant: in.Body.Tenant, Agent: in.Body.Agent}, true
}

// TokenID names a token.
type TokenID struct {
	ID wire.TokenID `path:"id" doc:"the whole id of the token"`
}

// aim is the part of the home that the token is for, so that the entry of the audit log is seen by those whom it concerns. A token that
// the caller may not see has none.
func (t TokenID) aim(ctx context.Context, h *House, c Caller) (Aim, bool) {
	if h.Tokens == nil {
		return Aim{}, false
	}
	found, err := FindToken(ctx, c, h.Tokens, t.ID)
	return Aim{found.Tenant, found.Agent, string(found.ID)}, err == nil
}

// TokenList lists tokens.
var TokenList = do(Row{
	ID: "token.list", HTTP: "GET /v1/tokens", Scope: wire.TokenAdmin, Kind: OfHome,
	Doc: "List the tokens that reach no farther than the one that asks, oldest first, revoked and expired ones too; never a secret",
}, func(ctx context.Context, c *Call, _ OfHomeIn) (amber.Page[wire.Token], error) {
	if c.House.Tokens == nil {
		return amber.Page[wire.Token]{}, noTokens()
	}
	return items(ListTokens(ctx, c.Caller, c.House.Tokens, c.Tenant, c.ID))
})

// TokenCreate makes a token.
var TokenCreate = do(Row{
	ID: "token.create", HTTP: "POST /v1/tokens", Scope: wire.TokenAdmin, Kind: OfHome | Changes | Keyed, Status: http.StatusCreated, Kept: withoutSecret,
	Sure: []string{"id"}, Doc: "Make a token that may do no more than the one that asks, in no other place and not for longer; its secret is in this answer and never again, so a repetition with the same Idempotency-Key has an empty one",
}, func(ctx context.Context, c *Call, in TokenCreateIn) (wire.NewToken, error) {
	tokens := c.House.Tokens
	if tokens == nil {
		return wire.NewToken{}, noTokens()
	}
	in.Body.Name = c.Redact(in.Body.Name)
	t, err := CreateToken(ctx, c.Caller, tokens, in.Body)
	c.Subject = string(t.ID)
	c.Undo = func(ctx context.Context) {
		if _, err := tokens.RevokeToken(ctx, t.ID); err != nil {
			c.House.Log.WarnContext(ctx, "revoke token that was not written down", "error", err, "token", string(t.ID))
		}
	}
	return t, err
})

// withoutSecret is what is kept of the answer that shows a secret: no secret is stored anywhere.
func withoutSecret(out any) any {
	t := out.(wire.NewToken)
	t.Secret = ""
	return t
}

// TokenRevoke revokes a token.
var TokenRevoke = do(Row{
	ID: "token.revoke", HTTP: "DELETE /v1/tokens/{id}", Scope: wire.TokenAdmin, Kind: OfHome | Changes | Repeats | Lasting,
	Sure: []string{"id=id"}, Doc: "Revoke a token, at once and for good; revoking it twice does nothing",
}, func(ctx context.Context, c *Call, in TokenID) (wire.Token, error) {
	if c.House.Tokens == nil {
		return wire.Token{}, noTokens()
	}
	t, err := FindToken(ctx, c.Caller, c.House.Tokens, in.ID)
	if err == nil {
		t, err = c.House.Tokens.RevokeToken(ctx, t.ID)
	}
	return t, err
})

func noTokens() error { return unsupported("open tokens", "this server has no tokens") }

// AgentList lists agents.
var AgentList = do(Row{
	ID: "agent.list", HTTP: "GET /v1/agents", Scope: wire.TokenRead, Kind: OfHome | Bound, Doc: "List the agents that the token reaches, by tenant and agent",
}, func(ctx context.Context, c *Call, _ OfHomeIn) (amber.Page[wire.AgentName], error) {
	if c.House.Names == nil {
		return amber.Page[wire.AgentName]{}, unsupported("list agents", "this server does not list its agents")
	}
	names, err := c.House.Names(ctx, c.Tenant)
	if err != nil {
		return amber.Page[wire.AgentName]{}, err
	}
	var found []wire.AgentName // the desk has let the caller in, so the part is no more than its token reaches
	for _, n := range names {
		if (c.Tenant == "" || n.Tenant == c.Tenant) && (c.ID == "" || n.Agent == c.ID) {
			found = append(found, n)
		}
	}
	if len(found) == 0 && c.ID != "" {
		return amber.Page[wire.AgentName]{}, NotThere()
	}
	return items(found, nil)
})
