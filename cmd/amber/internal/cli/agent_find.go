package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/agent"
	"github.com/amber-memory/amber/store/home"
)

// Variables that name an agent where no flag does.
const (
	AgentVariable  = "AMBER_AGENT"
	TenantVariable = "AMBER_TENANT"
)

// NameAgent takes tenant and agent from the environment where the flags do not
// say.
func (a *App) NameAgent(cmd *cobra.Command) {
	if v := a.Getenv(TenantVariable); v != "" && !cmd.Flags().Changed("tenant") {
		a.Global.Tenant = v
	}
	if v := a.Getenv(AgentVariable); v != "" && !cmd.Flags().Changed("agent") {
		a.Global.Agent = v
	}
}

// Families whose verbs work on no agent, or look for it themselves: those about
// snapshots and vaults also know agents that are gone, and bring them back.
var otherFamilies = []string{
	"version", "help", "completion", "man", "config", "key", "token", "audit", "redact", "demo", "eval", "serve", "hook", "setup",
	"agent", "tenant", "repo", "migrate", "move", "snapshot", "bundle", "consolidate", "vault",
}

// homeless are the families whose verbs need no home.
var homeless = []string{"version", "help", "completion", "man", "config", "redact", "demo", "eval", "hook", "setup"}

// ringless is the verb of a family that needs a home which does without one: a signature is checked with no trusted key, too.
const ringless = "key verify"

// makers are the verbs that may be the first in a home, and make it.
var makers = []string{
	"remember", "compaction add", "loop save", "note write", "project set", "session start", "session state set", "state set", "tui", "turn add",
	"journal append", "journal import", "bundle import", "key new", "key trust", "repo add", "snapshot restore", "import", "sync import", "sync watch",
	"sync hook install", "vault backup", "vault restore", "mcp", "serve", "token create", "ui", "approval request", "event append", "queue publish",
	"result save", "task save", "migrate", "move",
}

// CheckHome makes sure that a home which --home names is there, unless the verb needs none or may make it: a typing error must not
// look like a home that holds nothing. A dry run makes none. Errors: not_found.
func (a *App) CheckHome(cmd *cobra.Command) error {
	words := strings.Fields(cmd.CommandPath())[1:]
	verb := strings.Join(words, " ")
	if slices.Contains(homeless, words[0]) || verb == ringless || slices.Contains(makers, verb) && !isSet(cmd, "dry-run") || isSet(cmd, "scan") {
		return nil
	}
	return a.HomeIsThere()
}

func isSet(cmd *cobra.Command, name string) bool {
	f := cmd.Flags().Lookup(name)
	return f != nil && f.Value.String() == "true"
}

// HomeIsThere is the error of a home that --home names and that is not there. Errors: not_found.
func (a *App) HomeIsThere() error {
	if a.Global.Home == "" {
		return nil
	}
	dir, err := a.HomeDir()
	if err != nil {
		return err
	}
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return amber.Errorf(amber.KindNotFound, "find home", dir, "the folder of --home is not there").WithHint("look at the spelling of --home; a command that writes makes a new home")
	}
	return nil
}

// finders are the verbs, by their last word, that only work on what is there: an
// agent is never made for them.
var finders = []string{
	"recall", "get", "edit", "history", "list", "timeline", "context", "project", "stats", "forget", "show", "log", "delete", "clear",
	"load", "rename", "select", "end", "activity", "replay", "compact", "decide", "claim", "ack", "nack", "renew", "dead", "status",
	"verify", "export", "quarantine", "discard", "doctor", "remove", "rebuild", "sync",
}

// CheckAgent makes sure that the agent of the flags is there, or may be made: a
// typing error must not look like an agent that knows nothing. Errors: not_found.
func (a *App) CheckAgent(cmd *cobra.Command) error {
	words := strings.Fields(cmd.CommandPath())
	if a.Remote != nil || onlyHolds(cmd) || len(words) < 2 {
		return nil
	}
	if err := a.CheckHome(cmd); err != nil || a.Edge || slices.Contains(otherFamilies, words[1]) {
		return err
	}
	h, tenant, err := a.LookAtTenant()
	if err != nil {
		return nil // the verb says it, with what it was about to do
	}
	id := amber.AgentID(a.Global.Agent)
	folder, err := h.Agent(tenant, id)
	if err != nil {
		return err
	}
	finds := slices.Contains(finders, words[len(words)-1])
	if words[1] == "doctor" && a.onPostgres() {
		return nil // it looks itself, also at a database that is away or empty
	}
	exists, err := a.IsThere(cmd.Context(), folder)
	if err != nil {
		return err
	}
	switch {
	case exists:
	case a.mayMake(cmd.Context(), tenant):
		a.absent = finds
	case a.Global.NewAgent && !finds:
	default:
		err := a.NoAgent(cmd.Context(), tenant, id)
		if !finds {
			err.Hint = fmt.Sprintf("repeat the command with --new-agent to make agent %s in tenant %s", id, tenant)
		}
		return err
	}
	return nil
}

// onPostgres reports whether agents are configured to live in a database.
func (a *App) onPostgres() bool {
	loaded, err := a.LoadConfig()
	return err == nil && loaded.Config.OnPostgres()
}

// IsThere reports whether an agent is there. An agent whose folder cannot be read counts as there, and the verb
// says more.
func (a *App) IsThere(ctx context.Context, folder *home.Agent) (bool, error) {
	loaded, err := a.LoadConfig()
	if err != nil || !loaded.Config.OnPostgres() {
		exists, _ := folder.Exists()
		return exists, nil
	}
	at, err := a.Closed(&loaded.Config)
	if err != nil {
		return false, err
	}
	exists, err := at.Exists(ctx)
	return exists, errors.Join(err, at.Close())
}

// MakeNamed makes the agent that a flag names, so that hooks and servers which are
// set up for it find it.
func (a *App) MakeNamed(cmd *cobra.Command) error {
	if a.Edge || !cmd.Flags().Changed("agent") && !cmd.Flags().Changed("tenant") {
		return nil // the server of an edge makes it with the first event
	}
	folder, err := a.lookAtAgent()
	if err != nil {
		return err
	}
	if _, err := folder.Current(); amber.KindOf(err) != amber.KindNotFound {
		return nil
	}
	s, err := a.Open(cmd.Context())
	if err != nil {
		return err
	}
	a.Out.Note("made agent %s in tenant %s", s.AgentID(), s.TenantID())
	return s.Close()
}

// mayMake reports whether the agent of the flags may be made without being
// asked for: the default one, or one that the environment names, in a tenant that
// is the default, named there, or has an agent already.
func (a *App) mayMake(ctx context.Context, tenant amber.TenantID) bool {
	wanted := func(name, usual, variable string) bool { return name == usual || name == a.Getenv(variable) }
	if !wanted(a.Global.Agent, string(amber.DefaultAgent), AgentVariable) {
		return false
	}
	return wanted(string(tenant), string(amber.DefaultTenant), TenantVariable) || len(a.AgentsThere(ctx, tenant)) > 0
}

// AgentsThere returns the agents of a tenant that exist, in the home or in the database; none
// where that cannot be found out.
func (a *App) AgentsThere(ctx context.Context, tenant amber.TenantID) []amber.AgentID {
	at, err := a.roster()
	if err != nil {
		return nil
	}
	ids, _ := at.AgentsThere(ctx, tenant)
	return ids
}

// TenantsThere returns the tenants, as [App.AgentsThere] does agents. Errors: those of the home and of
// the database.
func (a *App) TenantsThere(ctx context.Context) ([]amber.TenantID, error) {
	at, err := a.roster()
	if err != nil {
		return nil, err
	}
	return at.TenantsThere(ctx)
}

// roster knows which agents there are. A configuration that cannot be read is that of a home: the
// verb says more.
func (a *App) roster() (*agent.Agent, error) {
	o, err := a.AgentOptions(nil)
	if err != nil { // no agent is called as the flags say
		if o.Home, err = a.HomeDir(); err != nil {
			return nil, err
		}
		o.Tenant, o.Agent = "", ""
	}
	if loaded, err := a.LoadConfig(); err == nil {
		o.Config = &loaded.Config
	}
	return agent.At(o)
}

// NoAgent is the error about an agent that is not there. It names those that are,
// the nearest first; where the tenant is what is wrong, the tenants.
func (a *App) NoAgent(ctx context.Context, tenant amber.TenantID, id amber.AgentID) *amber.Error {
	agents := a.AgentsThere(ctx, tenant)
	if len(agents) == 0 && tenant != amber.DefaultTenant {
		var tenants []amber.TenantID
		all, _ := a.TenantsThere(ctx)
		for _, t := range all {
			if len(a.AgentsThere(ctx, t)) > 0 {
				tenants = append(tenants, t)
			}
		}
		return amber.Errorf(amber.KindNotFound, "find tenant", string(tenant), "tenant %s does not exist, %s", tenant, namesThere("tenants", string(tenant), tenants)).
			WithHint("amber tenant list")
	}
	return amber.Errorf(amber.KindNotFound, "find agent", string(id), "agent %s does not exist in tenant %s, %s", id, tenant, namesThere("agents", string(id), agents)).
		WithHint("amber agent list")
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
	list := strings.Join(Texts(sorted[:min(len(sorted), maxNamedAgents)]), ", ")
	if more := len(sorted) - maxNamedAgents; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return what + " are: " + list
}

// LookAtTenant returns the home, which is not made, and the tenant of the flags.
func (a *App) LookAtTenant() (*home.Home, amber.TenantID, error) {
	tenant, err := amber.ParseTenantID(a.Global.Tenant)
	if err != nil {
		return nil, "", err
	}
	h, err := a.LookAtHome()
	return h, tenant, err
}

// lookAtAgent returns the folder of the agent the flags name. Neither the folder nor
// the home need be there, and neither is made.
func (a *App) lookAtAgent() (*home.Agent, error) {
	at, err := a.Closed(nil)
	if err != nil {
		return nil, err
	}
	return at.Folder(), nil
}

// LookAtHome is the home as it is, or would be: nothing is made.
func (a *App) LookAtHome() (*home.Home, error) {
	dir, err := a.HomeDir()
	if err != nil {
		return nil, err
	}
	return home.At(dir, home.Options{Clock: a.Clock, Random: a.Random})
}
