package web

import (
	"cmp"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

// agentsPage is how many agents the list shows at once.
const agentsPage = 200

// startScreens are where a visitor begins: the choice of an agent.
type startScreens struct{ *visit }

func startRoutes(p *Page) {
	p.handle("GET "+Root+"/{$}", true, on(startScreens.start))
	p.handle("GET "+Root, true, func(v *visit) error { return v.redirect(Root + "/") })
	p.handle("GET "+Root+"/-/agents", true, on(startScreens.agents))
}

// start leads to the agent that a visitor means: the only one the token reaches, or the list to choose from.
func (v startScreens) start() error {
	if v.grant.Agent != "" {
		return v.redirect(agentPath(v.grant.Tenant, v.grant.Agent))
	}
	names, err := v.api.ListAgents(v.r.Context(), "")
	if err != nil {
		return err
	}
	if len(names) == 1 {
		return v.redirect(agentPath(names[0].Tenant, names[0].Agent))
	}
	return v.showAgents(names)
}

func (v startScreens) agents() error {
	names, err := v.api.ListAgents(v.r.Context(), "")
	if v.grant.Agent != "" && amber.KindOf(err) == amber.KindNotFound {
		err = nil // nothing was stored for the agent of the token yet
		names = []wire.AgentName{{Tenant: v.grant.Tenant, Agent: v.grant.Agent}}
	}
	if err != nil {
		return err
	}
	return v.showAgents(names)
}

// agentsData is what the choice of an agent shows.
type agentsData struct {
	Words   string // that names must have
	All     int    // how many agents there are
	Tenants []tenantAgents
	Next    string // where the next page begins; "": this is the last
	First   string // the tenant that a new agent belongs to
}

// tenantAgents are agents of one tenant.
type tenantAgents struct {
	Tenant amber.TenantID
	Agents []agentLink
}

type agentLink struct {
	Name amber.AgentID
	URL  string
}

// showAgents shows a page of agents, those behind the one in the query that have the words.
func (v startScreens) showAgents(names []wire.AgentName) error {
	d := agentsData{Words: v.query("q"), All: len(names), First: cmp.Or(string(v.grant.Tenant), "default")}
	key := func(n wire.AgentName) string { return string(n.Tenant) + "/" + string(n.Agent) }
	after, words := v.query("after"), strings.ToLower(d.Words)
	found := slices.DeleteFunc(names, func(n wire.AgentName) bool {
		return key(n) <= after || !strings.Contains(strings.ToLower(key(n)), words)
	})
	slices.SortFunc(found, func(a, b wire.AgentName) int { return strings.Compare(key(a), key(b)) })
	if len(found) > agentsPage {
		found = found[:agentsPage]
		d.Next = key(found[agentsPage-1])
	}
	for _, n := range found {
		if last := len(d.Tenants) - 1; last < 0 || d.Tenants[last].Tenant != n.Tenant {
			d.Tenants = append(d.Tenants, tenantAgents{Tenant: n.Tenant})
		}
		t := &d.Tenants[len(d.Tenants)-1]
		t.Agents = append(t.Agents, agentLink{n.Agent, agentPath(n.Tenant, n.Agent)})
	}
	title := "Choose an agent"
	if d.All == 0 {
		title = "Welcome to Amber"
	}
	return v.render("agents", screen{Title: title, Command: "amber agent list --all"}, d)
}
