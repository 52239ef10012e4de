package main

import (
	"context"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/cmd/amber/internal/measure"
	"github.com/amber-memory/amber/internal/capture/hook"
	"github.com/amber-memory/amber/wire"
)

// isCompletion reports whether a shell asks what could follow.
func isCompletion(args []string) bool {
	return len(args) > 0 && (args[0] == cobra.ShellCompRequestCmd || args[0] == cobra.ShellCompNoDescRequestCmd)
}

// offer returns what could be typed, each with a tab and what it is.
type offer func(cmd *cobra.Command) []string

// addCompletions lets every argument and flag offer what is there. Nothing is
// made or changed for that.
func (a *app) addCompletions(root *cobra.Command) {
	a.Out = cli.Printer{Out: io.Discard, Err: io.Discard, Quiet: true, Now: a.Clock} // stdout and stderr are the shell's
	flags := map[string]offer{
		"agent": a.offerAgents, "to-agent": a.offerAgents, "tenant": a.offerTenants,
		"at": a.offerSnapshots, "snapshot": a.offerSnapshots, "label": a.offerLabels, "session": a.offerSessions,
	}
	arguments := map[string]offer{
		"amber setup": offerHosts, "amber hook": offerHosts, "amber bundle export": a.offerSnapshots,
		"amber agent show": a.offerAgents, "amber agent delete": a.offerAgents, "amber tenant delete": a.offerTenants,
	}
	for _, verb := range []string{"show", "verify", "diff", "restore", "delete", "pin", "unpin"} {
		arguments["amber snapshot "+verb] = a.offerSnapshots
	}
	for _, verb := range []string{"show", "end", "rename", "delete", "select", "activity"} {
		arguments["amber session "+verb] = a.offerSessions
	}
	words := map[string][]string{ // of flags that take other words in other families
		"kind": cli.Texts(amber.MemoryKinds()), "scope": cli.Texts(amber.Scopes()),
		"amber setup scope": {"user", "project"}, "amber token create scope": cli.Texts(wire.TokenScopes()),
		"amber event append kind": nil, "amber session activity kind": nil,
		"amber journal append host": cli.Texts(hook.Hosts()),
		"amber recall layer":        cli.Texts(amber.RecallLayers()), "amber ask layer": cli.Texts(amber.RecallLayers()),
		"amber eval recall baseline": {measure.BaselineBM25}, "amber eval recall layer": append(cli.Texts(amber.RecallLayers()), measure.LayerAll),
	}
	for _, verb := range []string{"recall", "context"} {
		words["amber eval "+verb+" model"] = []string{measure.ModelBuiltin, measure.ModelNone}
		words["amber eval "+verb+" only"] = []string{measure.OnlyWords, measure.OnlyMeaning, measure.OnlyBoth}
	}
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		if o := arguments[c.CommandPath()]; o != nil && c.ValidArgsFunction == nil {
			c.ValidArgsFunction = complete(o)
		}
		add := func(f *pflag.Flag) {
			o := flags[f.Name]
			list, special := words[c.CommandPath()+" "+f.Name]
			if !special {
				list = words[f.Name]
			}
			if o == nil && len(list) > 0 {
				o = func(*cobra.Command) []string { return list }
			}
			if o != nil {
				_ = c.RegisterFlagCompletionFunc(f.Name, complete(o)) // it fails for one that has a function
			}
		}
		c.LocalNonPersistentFlags().VisitAll(add)
		c.PersistentFlags().VisitAll(add)
		for _, below := range c.Commands() {
			visit(below)
		}
	}
	visit(root)
}

// complete makes an offer to the shell: what begins with what was typed.
func complete(o offer) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(cmd.Context(), completionPatience)
		defer cancel()
		cmd.SetContext(ctx)
		all := slices.DeleteFunc(o(cmd), func(s string) bool { return !strings.HasPrefix(s, typed) })
		if len(all) == 0 {
			return nil, cobra.ShellCompDirectiveDefault // a file may be meant
		}
		return all, cobra.ShellCompDirectiveNoFileComp
	}
}

// completionPatience is how long a shell may be kept waiting, completionItems how
// much it is offered.
const (
	completionPatience = 2 * time.Second
	completionItems    = 100
)

// choice is one line for the shell.
func choice(word, about string) string {
	return strings.TrimRight(word+"\t"+cli.OneLine(about, 60), "\t")
}

func offerHosts(*cobra.Command) []string { return cli.Texts(hook.Hosts()) }

func (a *app) offerAgents(cmd *cobra.Command) []string {
	tenant, err := amber.ParseTenantID(a.Global.Tenant)
	if err != nil {
		return nil
	}
	return cli.Texts(a.AgentsThere(cmd.Context(), tenant))
}

func (a *app) offerTenants(cmd *cobra.Command) []string {
	ids, _ := a.TenantsThere(cmd.Context())
	return cli.Texts(ids)
}

// snapshots returns the newest snapshots of the agent.
func (a *app) newestSnapshots(cmd *cobra.Command) (items []wire.SnapshotMeta) {
	_ = a.WithSnapshots(cmd, cli.MayBeAbsent, func(ctx context.Context, s *cli.Opened, e cli.SnapshotEngine) error {
		page, err := e.ListSnapshots(ctx, wire.SnapshotQuery{Tenant: s.TenantID(), Agent: s.AgentID(), Limit: completionItems})
		items = page.Items
		return err
	})
	return items
}

func (a *app) offerSnapshots(cmd *cobra.Command) (out []string) {
	for _, m := range a.newestSnapshots(cmd) {
		out = append(out, choice(cli.ShortID(string(m.ID)), m.CreatedAt.Time().Format("2006-01-02 15:04")+" "+m.Label))
	}
	return out
}

func (a *app) offerLabels(cmd *cobra.Command) (out []string) {
	for _, m := range a.newestSnapshots(cmd) {
		if m.Label != "" && !slices.Contains(out, m.Label) {
			out = append(out, m.Label)
		}
	}
	return out
}

func (a *app) offerSessions(cmd *cobra.Command) (out []string) {
	loaded, err := a.LoadConfig()
	if err != nil || loaded.Config.IsEdge() { // completion does not wait for a server
		return nil
	}
	s, err := a.Look(cmd.Context(), loaded)
	if err != nil {
		return nil
	}
	defer s.Close()
	page, err := s.Store.Sessions.ListSessions(cmd.Context(), amber.SessionQuery{Limit: completionItems})
	if err != nil {
		return nil
	}
	for _, item := range page.Items {
		out = append(out, choice(cli.ShortID(string(item.ID)), item.Name))
	}
	return out
}
