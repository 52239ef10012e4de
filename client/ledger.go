package client

import (
	"context"
	"net/http"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

// ListAudit returns a page of the audit log of the server, newest first: entries
// about what the token is for. Errors: refused without the scope admin; not_found for
// a tenant or an agent that the token does not reach; unsupported.
func (c *Client) ListAudit(ctx context.Context, q wire.AuditQuery) (amber.Page[wire.AuditEntry], error) {
	v := newValues().text("tenant", string(q.Tenant)).text("agent", string(q.Agent)).text("actor", q.Actor).text("action", q.Action).
		number("limit", q.Limit).text("cursor", string(q.Cursor))
	if !q.Since.IsZero() {
		v.text("since", q.Since.String())
	}
	p, err := call[amber.Page[wire.AuditEntry]](ctx, c, request{method: http.MethodGet, path: []string{"v1", "audit"}, query: v.Values})
	if err == nil && p.Items == nil {
		err = incomplete("items")
	}
	return p, err
}

// VerifyAudit lets the server recompute its audit log. Damage is no error. Errors:
// refused for a token that is not for every tenant; unsupported.
func (c *Client) VerifyAudit(ctx context.Context) (wire.AuditReport, error) {
	r, err := call[wire.AuditReport](ctx, c.slow(), request{method: http.MethodPost, path: []string{"v1", "audit", "verify"}, repeatable: true})
	if err == nil && (r.Checked == nil || r.NotChecked == nil || r.Damaged == nil) {
		err = incomplete("report")
	}
	return r, err
}

// ListTokens returns the tokens that reach no farther than the one of the client,
// oldest first: of a tenant and an agent, or of every one for "". Errors: as those of
// [Client.ListAudit].
func (c *Client) ListTokens(ctx context.Context, tenant amber.TenantID, agent amber.AgentID) ([]wire.Token, error) {
	v := newValues().text("tenant", string(tenant)).text("agent", string(agent))
	p, err := call[amber.Page[wire.Token]](ctx, c, request{method: http.MethodGet, path: []string{"v1", "tokens"}, query: v.Values})
	if err == nil && p.Items == nil {
		err = incomplete("items")
	}
	return p.Items, err
}

// ListAgents returns the agents that the token reaches, of a tenant or of every one for "".
// Errors: refused without the scope read; not_found for a tenant that the token does not reach; unsupported.
func (c *Client) ListAgents(ctx context.Context, tenant amber.TenantID) ([]wire.AgentName, error) {
	v := newValues().text("tenant", string(tenant))
	p, err := call[amber.Page[wire.AgentName]](ctx, c, request{method: http.MethodGet, path: []string{"v1", "agents"}, query: v.Values})
	if err == nil && p.Items == nil {
		err = incomplete("items")
	}
	return p.Items, err
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
	t, err := call[wire.NewToken](ctx, c, request{method: http.MethodPost, path: []string{"v1", "tokens"}, body: r, once: true})
	if err = hasID(t.ID, err); err != nil {
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
	t, err := call[wire.Token](ctx, c, request{method: http.MethodDelete, path: []string{"v1", "tokens", string(id)}, repeatable: true})
	return t, about(t.ID, id, err)
}
