package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/home"
)

// Variables that name an agent where no flag does.
const (
	agentVariable  = "AMBER_AGENT"
	tenantVariable = "AMBER_TENANT"
)

// nameAgent takes tenant and agent from the environment where the flags do not
// say.
func (a *app) nameAgent(cmd *cobra.Command) {
	if v := a.getenv(tenantVariable); v != "" && !cmd.Flags().Changed("tenant") {
		a.global.tenant = v
	}
	if v := a.getenv(agentVariable); v != "" && !cmd.Flags().Changed("agent") {
		a.global.agent = v
	}
}

// Families whose verbs work on no agent, or look for it themselves: those about
// snapshots and vaults also know agents that are gone, and bring them back.
var otherFamilies = []string{
	"version", "help", "completion", "man", "config", "key", "token", "audit", "redact", "demo", "serve", "hook", "setup",
	"agent", "tenant", "repo", "snapshot", "bundle", "consolidate", "vault",
}

// finders are the verbs, by their last word, that only work on what is there: an
// agent is never made for them.
var finders = []string{
	"recall", "get", "edit", "history", "list", "timeline", "context", "project", "stats", "forget", "show", "log", "delete", "clear",
	"load", "rename", "select", "end", "activity", "replay", "compact", "decide", "claim", "ack", "nack", "renew", "dead", "status",
	"verify", "export", "quarantine", "discard", "doctor", "remove",
}

// checkAgent makes sure that the agent of the flags is there, or may be made: a
// typing error must not look like an agent that knows nothing. Errors: not_found.
func (a *app) checkAgent(cmd *cobra.Command) error {
	words := strings.Fields(cmd.CommandPath())
	if a.remote != nil || cmd.HasSubCommands() || len(words) < 2 || slices.Contains(otherFamilies, words[1]) {
		return nil
	}
	h, tenant, err := a.lookAtTenant()
	if err != nil {
		return nil // the verb says it, with what it was about to do
	}
	id := amber.AgentID(a.global.agent)
	agent, err := h.Agent(tenant, id)
	if err != nil {
		return err
	}
	finds := slices.Contains(finders, words[len(words)-1])
	// What cannot be read is there.
	switch exists, _ := agent.Exists(); {
	case exists:
	case a.mayMake(h, tenant):
		a.absent = finds
	case a.global.newAgent && !finds:
	default:
		err := a.noAgent(h, tenant, id)
		if !finds {
			err.Hint = fmt.Sprintf("repeat the command with --new-agent to make agent %s in tenant %s", id, tenant)
		}
		return err
	}
	return nil
}

// makeNamed makes the agent that a flag names, so that hooks and servers which are
// set up for it find it.
func (a *app) makeNamed(cmd *cobra.Command) error {
	if !cmd.Flags().Changed("agent") && !cmd.Flags().Changed("tenant") {
		return nil
	}
	agent, err := a.lookAtAgent()
	if err != nil {
		return err
	}
	if _, err := agent.Current(); amber.KindOf(err) != amber.KindNotFound {
		return nil
	}
	s, err := a.open(cmd.Context())
	if err != nil {
		return err
	}
	a.out.note("made agent %s in tenant %s", s.agentID(), s.tenantID())
	return s.Close()
}

// mayMake reports whether the agent of the flags may be made without being
// asked for: the default one, or one that the environment names, in a tenant that
// is the default, named there, or has an agent already.
func (a *app) mayMake(h *home.Home, tenant amber.TenantID) bool {
	wanted := func(name, usual, variable string) bool { return name == usual || name == a.getenv(variable) }
	if !wanted(a.global.agent, string(amber.DefaultAgent), agentVariable) {
		return false
	}
	return wanted(string(tenant), string(amber.DefaultTenant), tenantVariable) || len(agentsThere(h, tenant)) > 0
}

// agentsThere returns the agents of a tenant that exist.
func agentsThere(h *home.Home, tenant amber.TenantID) []amber.AgentID {
	ids, _ := h.Agents(tenant)
	return slices.DeleteFunc(ids, func(id amber.AgentID) bool {
		agent, err := h.Agent(tenant, id)
		if err != nil {
			return true
		}
		exists, _ := agent.Exists()
		return !exists
	})
}

// noAgent is the error about an agent that is not there. It names those that are,
// the nearest first; where the tenant is what is wrong, the tenants.
func (a *app) noAgent(h *home.Home, tenant amber.TenantID, id amber.AgentID) *amber.Error {
	agents := agentsThere(h, tenant)
	if len(agents) == 0 && tenant != amber.DefaultTenant {
		var tenants []amber.TenantID
		all, _ := h.Tenants()
		for _, t := range all {
			if len(agentsThere(h, t)) > 0 {
				tenants = append(tenants, t)
			}
		}
		e := amber.Errorf(amber.KindNotFound, "find tenant", string(tenant), "tenant %s does not exist, %s", tenant, namesThere("tenants", string(tenant), tenants))
		e.Hint = "amber tenant list"
		return e
	}
	e := amber.Errorf(amber.KindNotFound, "find agent", string(id), "agent %s does not exist in tenant %s, %s", id, tenant, namesThere("agents", string(id), agents))
	e.Hint = "amber agent list"
	return e
}

// maxNamedAgents is how many names an error has.
const maxNamedAgents = 10

// namesThere lists names, the nearest to what was asked for first.
func namesThere[T ~string](what, asked string, names []T) string {
	if len(names) == 0 {
		return "no " + what + " exist yet"
	}
	sorted := slices.SortedStableFunc(slices.Values(names), func(x, y T) int {
		return cmp.Or(distance(asked, string(x))-distance(asked, string(y)), strings.Compare(string(x), string(y)))
	})
	list := strings.Join(texts(sorted[:min(len(sorted), maxNamedAgents)]), ", ")
	if more := len(sorted) - maxNamedAgents; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return what + " are: " + list
}

// lookAtTenant returns the home, which is not made, and the tenant of the flags.
func (a *app) lookAtTenant() (*home.Home, amber.TenantID, error) {
	tenant, err := amber.ParseTenantID(a.global.tenant)
	if err != nil {
		return nil, "", err
	}
	h, err := a.lookAtHome()
	return h, tenant, err
}

// lookAtAgent returns the folder of the agent the flags name. Neither the folder nor
// the home need be there, and neither is made.
func (a *app) lookAtAgent() (*home.Agent, error) {
	at, err := a.closed(nil)
	if err != nil {
		return nil, err
	}
	return at.Folder(), nil
}

// lookAtHome is the home as it is, or would be: nothing is made.
func (a *app) lookAtHome() (*home.Home, error) {
	dir, err := a.homeDir()
	if err != nil {
		return nil, err
	}
	return home.At(dir, home.Options{Clock: a.clock, Random: a.random})
}
