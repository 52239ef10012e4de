package httpapi_test

import (
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/serve/httpapi"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// A token sees the names of the agents that it reaches, and no others.
func TestAgentsAreListedAsFarAsTheTokenReaches(t *testing.T) {
	t.Parallel()
	r, d := doored(t)
	token := func(tenant amber.TenantID, agent amber.AgentID) string {
		secret, _ := d.token(r.clock.Read(), tenant, agent, 0, wire.TokenRead)
		return secret
	}
	const acmes, all = `{"items":[{"tenant":"acme","agent":"ada"},{"tenant":"acme","agent":"bob"}]}`, `{"items":[{"tenant":"acme","agent":"ada"},{"tenant":"acme","agent":"bob"},{"tenant":"umbrella","agent":"eve"}]}`
	for _, c := range []struct{ name, token, query, want string }{
		{"the home", token("", ""), "", all},
		{"a tenant of the home", token("", ""), "?tenant=acme", acmes},
		{"an agent of any tenant", token("", ""), "?agent=bob", `{"items":[{"tenant":"acme","agent":"bob"}]}`},
		{"the tenant", token("acme", ""), "", acmes},
		{"the agent", token("acme", "bob"), "", `{"items":[{"tenant":"acme","agent":"bob"}]}`},
		{"a tenant without agents", token("", ""), "?tenant=nosuch", `{"items":[]}`},
	} {
		a := r.ask(call{method: "GET", path: "/v1/agents" + c.query, token: c.token}).want(200)
		must.Equal(t, c.name, strings.TrimSpace(string(a.body)), c.want)
	}
	must.Equal(t, "agents opened", r.openings(), 0)
}

func TestAServerMayListNoAgents(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(_ *rig, o *httpapi.Options) { o.Names = nil })
	r.ask(call{method: "GET", path: "/v1/agents"}).failed(amber.KindUnsupported)
}
