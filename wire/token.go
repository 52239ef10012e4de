package wire

import (
	"context"
	"slices"

	"github.com/amber-memory/amber"
)

// TokenID names a token. It is no secret: listings and the audit log show it.
type TokenID string

// TokenScope is something a token lets its holder do.
type TokenScope string

// The scopes. None implies another, but admin implies all.
const (
	TokenRead     TokenScope = "read"     // look at memory, sessions, notes, tasks and snapshots
	TokenWrite    TokenScope = "write"    // change them, all but the following
	TokenApprove  TokenScope = "approve"  // decide approvals that another token has asked for
	TokenSnapshot TokenScope = "snapshot" // take, pin, verify, delete and prune snapshots
	TokenRestore  TokenScope = "restore"  // put a snapshot in the place of the live agent
	TokenErase    TokenScope = "erase"    // remove the text of memories for good
	TokenOwn      TokenScope = "own"      // speak as the owner: without it, what is written is an agent's word
	TokenAdmin    TokenScope = "admin"    // everything, and what concerns a whole tenant
)

// TokenScopes lists every scope in the order above.
func TokenScopes() []TokenScope {
	return []TokenScope{TokenRead, TokenWrite, TokenApprove, TokenSnapshot, TokenRestore, TokenErase, TokenOwn, TokenAdmin}
}

// MaxTokenName bounds the name of a token in bytes.
const MaxTokenName = 100

// AgentName names an agent of a home.
type AgentName struct {
	Tenant amber.TenantID `json:"tenant"`
	Agent  amber.AgentID  `json:"agent"`
}

// Grant is what a caller may do, and where.
type Grant struct {
	Token  TokenID        `json:"token"`            // "" for a local caller, who needs no token
	Name   string         `json:"name,omitempty"`   // of the token
	Tenant amber.TenantID `json:"tenant,omitempty"` // "": every tenant
	Agent  amber.AgentID  `json:"agent,omitempty"`  // "": every agent of the tenant
	Scopes []TokenScope   `json:"scopes"`
	Bound
}

// Reaches reports whether the grant is about an agent at all. A caller it
// does not reach gets the error that the agent does not exist. An empty agent asks for
// the whole tenant.
func (g Grant) Reaches(tenant amber.TenantID, agent amber.AgentID) bool {
	return (g.Tenant == "" || g.Tenant == tenant) && (g.Agent == "" || g.Agent == agent)
}

// Has reports whether the grant has a scope.
func (g Grant) Has(s TokenScope) bool {
	return slices.Contains(g.Scopes, s) || slices.Contains(g.Scopes, TokenAdmin)
}

// Token is what is known about a token; its secret is not.
type Token struct {
	ID         TokenID        `json:"id"`
	Name       string         `json:"name"`
	Tenant     amber.TenantID `json:"tenant,omitempty"` // "": every tenant
	Agent      amber.AgentID  `json:"agent,omitempty"`  // "": every agent of the tenant
	Scopes     []TokenScope   `json:"scopes"`
	CreatedAt  amber.Time     `json:"created_at"`
	ExpiresAt  amber.Time     `json:"expires_at,omitzero"` // absent: never
	RevokedAt  amber.Time     `json:"revoked_at,omitzero"`
	LastUsedAt amber.Time     `json:"last_used_at,omitzero"` // to the minute
	Bound
}

// Grant returns what the token is for.
func (t Token) Grant() Grant {
	return Grant{Token: t.ID, Name: t.Name, Tenant: t.Tenant, Agent: t.Agent, Scopes: t.Scopes, Bound: t.Bound}
}

// NewToken is a token that was made just now. Its secret is shown once.
type NewToken struct {
	Token
	Secret string `json:"secret"`
}

// TokenRequest asks for a token.
type TokenRequest struct {
	Name      string         `json:"name"`
	Tenant    amber.TenantID `json:"tenant,omitempty"` // "": every tenant
	Agent     amber.AgentID  `json:"agent,omitempty"`  // "": every agent
	Scopes    []TokenScope   `json:"scopes"`
	ExpiresAt amber.Time     `json:"expires_at,omitzero"` // absent: never
	Bound
}

// Normalize checks the request and brings the scopes into order. The error is
// of kind invalid.
func (r TokenRequest) Normalize() (TokenRequest, error) {
	if len(r.Scopes) == 0 {
		return r, amber.Errorf(amber.KindInvalid, "check token", "", "no scope is given, want at least one of %v", TokenScopes())
	}
	for _, s := range r.Scopes {
		if err := amber.CheckOneOf("scope", s, TokenScopes()...); err != nil {
			return r, err
		}
	}
	r.Scopes = slices.DeleteFunc(TokenScopes(), func(s TokenScope) bool { return !slices.Contains(r.Scopes, s) })
	if r.Tenant != "" {
		if _, err := amber.ParseTenantID(string(r.Tenant)); err != nil {
			return r, err
		}
	} else if r.Agent != "" {
		return r, amber.Errorf(amber.KindInvalid, "check token", "", "agent %.40q needs a tenant", r.Agent)
	}
	if r.Agent != "" {
		if _, err := amber.ParseAgentID(string(r.Agent)); err != nil {
			return r, err
		}
	}
	if err := r.checkBound(); err != nil {
		return r, err
	}
	return r, amber.CheckText("name", r.Name, MaxTokenName, amber.Required|amber.OneLine)
}

// checkBound refuses scopes that are about the whole agent for a token that is bound. The error is of kind invalid.
func (r TokenRequest) checkBound() error {
	if !r.Bound.None() && r.Tenant == "" {
		return amber.Errorf(amber.KindInvalid, "check token", "", "a token for %s is for one tenant; name the tenant", r.Bound)
	}
	for _, s := range []TokenScope{TokenSnapshot, TokenRestore, TokenAdmin} {
		if !r.Bound.None() && slices.Contains(r.Scopes, s) {
			return amber.Errorf(amber.KindInvalid, "check token", "", "scope %s is about the whole agent; a token for %s has read, write, approve and erase", s, r.Bound)
		}
	}
	return r.Bound.Check()
}

// Tokens keeps tokens. Secrets are kept as hashes. Safe for concurrent use,
// also between processes: a token that was revoked is refused at once.
type Tokens interface {
	// CreateToken makes a token and returns it with its secret. Errors:
	// invalid.
	CreateToken(ctx context.Context, r TokenRequest) (NewToken, error)
	// ListTokens returns the tokens of a tenant, or of everybody for "",
	// oldest first, also revoked and expired ones.
	ListTokens(ctx context.Context, tenant amber.TenantID) ([]Token, error)
	// RevokeToken ends a token. Revoking it twice does nothing. Errors:
	// not_found.
	RevokeToken(ctx context.Context, id TokenID) (Token, error)
	// Authenticate returns what a secret grants. Errors: refused, with the same
	// words whether it is unknown, wrong, expired or revoked.
	Authenticate(ctx context.Context, secret string) (Grant, error)
}
