package server_test

import (
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/op"
	"github.com/amber-memory/amber/wire"
)

// A caller may ask about the part of the home that its grant is for, and about less. More
// than that is refused, and anything else does not exist.
func TestPartsOfTheHome(t *testing.T) {
	t.Parallel()
	admin := func(tenant amber.TenantID, agent amber.AgentID) op.Caller {
		return op.Caller{Grant: wire.Grant{Tenant: tenant, Agent: agent, Scopes: []wire.TokenScope{wire.TokenAdmin}}}
	}
	all, acme, ada := admin("", ""), admin("acme", ""), admin("acme", "ada")
	for _, c := range []struct {
		caller op.Caller
		tenant amber.TenantID
		agent  amber.AgentID
		want   amber.Kind
	}{
		{all, "", "", ""},
		{all, "acme", "", ""},
		{all, "acme", "ada", ""},
		{all, "", "ada", ""},
		{all, "../x", "", amber.KindInvalid},
		{all, "", "../x", amber.KindInvalid},
		{all, "acme", "../x", amber.KindInvalid},
		{acme, "acme", "", ""},
		{acme, "acme", "ada", ""},
		{acme, "", "", amber.KindRefused},
		{acme, "", "ada", amber.KindRefused},
		{acme, "umbrella", "", amber.KindNotFound},
		{acme, "umbrella", "ada", amber.KindNotFound},
		{ada, "acme", "ada", ""},
		{ada, "acme", "", amber.KindRefused},
		{ada, "", "", amber.KindRefused},
		{ada, "", "ada", amber.KindRefused},
		{ada, "acme", "bob", amber.KindNotFound},
		{ada, "umbrella", "", amber.KindNotFound},
		{ada, "umbrella", "ada", amber.KindNotFound},
		{op.Caller{}, "", "", amber.KindRefused},
		{op.Caller{}, "acme", "ada", amber.KindRefused},
	} {
		err := c.caller.AllowPart(c.tenant, c.agent, wire.TokenAdmin)
		if amber.KindOf(err) != c.want {
			t.Errorf("%s/%s of %q and %q: %v, want %q", c.caller.Grant.Tenant, c.caller.Grant.Agent, c.tenant, c.agent, err, c.want)
		}
	}
	tenant, agent := ada.Part("", "")
	must.Equal(t, "the part of a token", [2]string{string(tenant), string(agent)}, [2]string{"acme", "ada"})
	tenant, agent = all.Part("umbrella", "")
	must.Equal(t, "the part of a request", [2]string{string(tenant), string(agent)}, [2]string{"umbrella", ""})
}
