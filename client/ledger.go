package client

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/op"
	"github.com/amber-memory/amber/wire"
)

// ListAudit returns a page of the audit log of the server, newest first: entries
// about what the token is for. Errors: refused without the scope admin; not_found for
// a tenant or an agent that the token does not reach; unsupported.
func (c *Client) ListAudit(ctx context.Context, q wire.AuditQuery) (amber.Page[wire.AuditEntry], error) {
	return op.AuditList.Call(ctx, c, op.AuditIn{
		OfHomeIn: op.OfHomeIn{Tenant: q.Tenant, Agent: q.Agent}, Paging: op.Paging{Limit: q.Limit, Cursor: q.Cursor}, Actor: q.Actor, Action: q.Action, Since: q.Since,
	})
}

// VerifyAudit lets the server recompute its audit log. Damage is no error. Errors:
// refused for a token that is not for every tenant; unsupported.
func (c *Client) VerifyAudit(ctx context.Context) (wire.AuditReport, error) {
	return op.AuditVerify.Call(ctx, c, op.WholeHome{})
}

// ListTokens returns the tokens that reach no farther than the one of the client,
// oldest first: of a tenant and an agent, or of every one for "". Errors: as those of
// [Client.ListAudit].
func (c *Client) ListTokens(ctx context.Context, tenant amber.TenantID, agent amber.AgentID) ([]wire.Token, error) {
	return list(op.TokenList.Call(ctx, c, op.OfHomeIn{Tenant: tenant, Agent: agent}))
}

// ListAgents returns the agents that the token reaches, of a tenant or of every one for "".
// Errors: refused without the scope read; not_found for a tenant that the token does not reach; unsupported.
func (c *Client) ListAgents(ctx context.Context, tenant amber.TenantID) ([]wire.AgentName, error) {
	return list(op.AgentList.Call(ctx, c, op.OfHomeIn{Tenant: tenant}))
}

// CreateToken makes a token and returns it with its secret, which the server shows
// once. Errors: invalid; refused and not_found for a token that would be broader than
// the one of the client; conflict when the token was made and the answer that showed
// its secret was lost: the token in the answer is of no use then.
func (c *Client) CreateToken(ctx context.Context, r wire.TokenRequest) (wire.NewToken, error) {
	r, err := r.Normalize()
	if err != nil {
		return wire.NewToken{}, err
	}
	t, err := op.TokenCreate.Call(ctx, c, op.TokenCreateIn{Body: r})
	if err != nil {
		return wire.NewToken{}, err
	}
	if t.Secret == "" {
		return t, amber.Errorf(amber.KindConflict, "create token", string(t.ID), "the token was made, but the connection broke before its secret arrived").
			WithHint("amber token revoke " + string(t.ID) + ", then make another")
	}
	return t, nil
}

// RevokeToken ends a token. Revoking it twice does nothing. Errors: not_found, also for
// a token that reaches farther than the one of the client.
func (c *Client) RevokeToken(ctx context.Context, id wire.TokenID) (wire.Token, error) {
	return op.TokenRevoke.Call(ctx, c, op.TokenID{ID: id})
}
