package ledger_test

import (
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// TestATokenKeepsItsBound, whatever is in the names: also what would be a scope for an older Amber.
func TestATokenKeepsItsBound(t *testing.T) { both(t, testATokenKeepsItsBound) }

func testATokenKeepsItsBound(t *testing.T, p place) {
	d := p.open(t)
	scopes := []wire.TokenScope{wire.TokenRead, wire.TokenWrite}
	for _, b := range []wire.Bound{
		{User: "bob"}, {Project: "acme/shop", Workspace: "w"}, {User: "x,admin,y", Project: "a&scope=admin", Workspace: "ä;=%2C ,read"}, {},
	} {
		made := newToken(t, d, wire.TokenRequest{Tenant: "acme", Bound: b})
		grant := must.Get(p.open(t).Authenticate(t.Context(), made.Secret))(t)
		must.Equal(t, "grant of "+b.String(), grant, wire.Grant{Token: made.ID, Name: "ci", Tenant: "acme", Scopes: scopes, Bound: b})
		listed := must.Get(d.ListTokens(t.Context(), "acme"))(t)
		must.Equal(t, "in the list", listed[len(listed)-1].Bound, b)
		revoked := must.Get(d.RevokeToken(t.Context(), made.ID))(t)
		must.Equal(t, "revoked", revoked.Bound, b)
	}
	must.Fail(d.CreateToken(t.Context(), wire.TokenRequest{Name: "x", Tenant: "acme", Scopes: wire.TokenScopes(), Bound: wire.Bound{User: "bob"}}))(t, "every scope", amber.KindInvalid)
	must.Fail(d.CreateToken(t.Context(), wire.TokenRequest{Name: "x", Scopes: scopes, Bound: wire.Bound{User: "bob"}}))(t, "every tenant", amber.KindInvalid)
}
