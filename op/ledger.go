package op

import (
	"context"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

// ListAudit returns a page of the audit log as the caller may see it. The query names
// a part of the home that the caller may see. A caller of one tenant gets no hash:
// the hash is that of an entry before, which may be another tenant's. Errors: those of
// [wire.AuditLog].
func ListAudit(ctx context.Context, c Caller, l wire.AuditLog, q wire.AuditQuery) (amber.Page[wire.AuditEntry], error) {
	page, err := l.ListAudit(ctx, q)
	if err != nil || c.Grant.Tenant == "" {
		return page, err
	}
	for i := range page.Items {
		page.Items[i].Prev, page.Items[i].Hash = "", ""
	}
	return page, nil
}

// ListTokens returns the tokens that reach no farther than the caller, of a tenant and
// an agent where they are named. Errors: those of [wire.Tokens].
func ListTokens(ctx context.Context, c Caller, s wire.Tokens, tenant amber.TenantID, agent amber.AgentID) ([]wire.Token, error) {
	tokens, err := s.ListTokens(ctx, tenant)
	g := c.Grant
	return slices.DeleteFunc(tokens, func(t wire.Token) bool {
		return !g.Reaches(t.Tenant, t.Agent) || agent != "" && t.Agent != agent
	}), err
}

// CreateToken makes a token that may do no more than the token of the caller, in no
// other place, and not for longer. Errors: refused; those of [wire.Tokens].
func CreateToken(ctx context.Context, c Caller, s wire.Tokens, r wire.TokenRequest) (wire.NewToken, error) {
	const op = "create token"
	r, err := r.Normalize()
	if err != nil {
		return wire.NewToken{}, err
	}
	if err := c.AllowWhole(); err != nil {
		return wire.NewToken{}, err
	}
	for _, scope := range r.Scopes {
		if err := c.AllowPart(r.Tenant, r.Agent, scope); err != nil {
			return wire.NewToken{}, err
		}
	}
	end, err := endOf(ctx, s, c.Grant)
	if err != nil {
		return wire.NewToken{}, err
	}
	if !end.IsZero() && (r.ExpiresAt.IsZero() || end.Before(r.ExpiresAt)) {
		return wire.NewToken{}, amber.Errorf(amber.KindRefused, op, "", "the token that makes it ends at %s; want expires_at at that time or before", end)
	}
	return s.CreateToken(ctx, r)
}

// endOf is when the token of a grant ends; zero for never, and for a caller who needs
// no token. Errors: refused for a token that is there no more.
func endOf(ctx context.Context, s wire.Tokens, g wire.Grant) (amber.Time, error) {
	if g.Token == "" {
		return amber.Time{}, nil
	}
	tokens, err := s.ListTokens(ctx, g.Tenant)
	if err != nil {
		return amber.Time{}, err
	}
	i := slices.IndexFunc(tokens, func(t wire.Token) bool { return t.ID == g.Token })
	if i < 0 || !tokens[i].RevokedAt.IsZero() {
		return amber.Time{}, amber.Errorf(amber.KindRefused, "create token", "", "the token that makes it is not valid any more")
	}
	return tokens[i].ExpiresAt, nil
}

// FindToken returns a token that reaches no farther than the caller. Errors:
// not_found, in the same words for one that reaches farther; it does not show the
// id, which may be a secret by mistake.
func FindToken(ctx context.Context, c Caller, s wire.Tokens, id wire.TokenID) (wire.Token, error) {
	g := c.Grant
	tokens, err := ListTokens(ctx, c, s, g.Tenant, g.Agent)
	if err != nil {
		return wire.Token{}, err
	}
	for _, t := range tokens {
		if t.ID == id {
			return t, nil
		}
	}
	return wire.Token{}, amber.Errorf(amber.KindNotFound, "find token", "", "no token has this id").WithHint("amber token list")
}
