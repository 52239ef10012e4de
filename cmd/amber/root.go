package main

import (
	"context"
	_ "embed"
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/agent"
	"github.com/amber-memory/amber/cmd/amber/internal/capture"
	"github.com/amber-memory/amber/cmd/amber/internal/care"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/cmd/amber/internal/control"
	"github.com/amber-memory/amber/cmd/amber/internal/exchange"
	"github.com/amber-memory/amber/cmd/amber/internal/freeze"
	"github.com/amber-memory/amber/cmd/amber/internal/measure"
	"github.com/amber-memory/amber/cmd/amber/internal/memory"
	"github.com/amber-memory/amber/cmd/amber/internal/serve"
	"github.com/amber-memory/amber/cmd/amber/internal/session"
	"github.com/amber-memory/amber/cmd/amber/internal/share"
)

//go:embed verbs.md
var verbs string // the words of the verbs of this package

// group titles of the help page.
const (
	groupRemember = "remember"
	groupKeep     = "keep"
	groupFreeze   = "freeze"
	groupShare    = "share"
	groupServe    = "serve"
	groupControl  = "control"
	groupCare     = "care"
)

// app is one run of the command, with the verbs of this package.
type app struct{ *cli.App }

// rootCommand is `amber`.
func (a *app) rootCommand() *cobra.Command {
	var wantsVersion bool
	root := &cobra.Command{
		Use:   "amber",
		Short: "Durable memory for AI agents",
		Long: `Amber keeps what agents know: memories, sessions, turns, suspended loops, notes,
tasks and queues. What it has acknowledged survives a crash.

No setup is needed. Try:

  amber remember "We chose PostgreSQL for JSONB"
  amber recall "which database did we pick and why"`,
		SilenceErrors:     true,
		SilenceUsage:      true,
		DisableAutoGenTag: true,
		Args:              cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) > 0:
				return cli.UnknownCommand(cmd, args[0])
			case wantsVersion:
				return a.showVersion()
			}
			return cmd.Help()
		},
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			a.Out = cli.NewPrinter(a.App)
			a.Verb = cmd.Name()
			a.NameAgent(cmd)
			if err := a.ChooseRemote(cmd); err != nil {
				return err
			}
			return a.CheckAgent(cmd)
		},
	}
	f := root.PersistentFlags()
	f.StringVar(&a.Global.Home, "home", "", "the home folder (default $AMBER_HOME, else ~/.local/share/amber)")
	f.StringVar(&a.Global.Config, "config", "", "the configuration file")
	f.StringVar(&a.Global.Tenant, "tenant", string(amber.DefaultTenant), "the tenant (or $"+cli.TenantVariable+")")
	f.StringVar(&a.Global.Agent, "agent", string(amber.DefaultAgent), "the agent (or $"+cli.AgentVariable+")")
	f.BoolVar(&a.Global.NewAgent, "new-agent", false, "let a command that writes make the agent of --agent")
	cli.OnlyHere(f, "home", "config")
	a.AddRemoteFlags(f)
	f.BoolVar(&a.Global.JSON, "json", false, "print one JSON document")
	f.BoolVar(&a.Global.Quiet, "quiet", false, "print results only")
	f.BoolVar(&a.Global.NoColor, "no-color", false, "print without colour")
	root.AddGroup(
		&cobra.Group{ID: groupRemember, Title: "Remember:"},
		&cobra.Group{ID: groupKeep, Title: "Never lose:"},
		&cobra.Group{ID: groupFreeze, Title: "Freeze and bring back:"},
		&cobra.Group{ID: groupShare, Title: "Share:"},
		&cobra.Group{ID: groupServe, Title: "Serve:"},
		&cobra.Group{ID: groupControl, Title: "Control plane:"},
		&cobra.Group{ID: groupCare, Title: "Care:"},
	)
	root.Flags().BoolVar(&wantsVersion, "version", false, "print the version")
	root.SetFlagErrorFunc(cli.FlagError)
	root.SetHelpCommand(a.helpCommand())
	root.CompletionOptions.DisableDefaultCmd = true
	a.addCommands(root)
	return root
}

// addCommands lists every verb.
func (a *app) addCommands(root *cobra.Command) {
	tui, about := cli.Remotely(a.tuiCommand()), cli.Anywhere(a.versionCommand(), a.completionCommand(), a.manCommand())
	cli.Describe(verbs, nil, slices.Concat(tui, about)...)
	for _, g := range []struct {
		id    string
		verbs []*cobra.Command
	}{
		{groupRemember, slices.Concat(memory.Commands(a.App), session.Commands(a.App), tui)},
		{groupKeep, capture.Commands(a.App)},
		{groupFreeze, freeze.Commands(a.App)},
		{groupShare, append(cli.Remotely(exchange.Commands(a.App)...), share.Commands(a.App)...)},
		{groupServe, serve.Commands(a.App)},
		{groupControl, cli.Remotely(control.Commands(a.App)...)},
		{groupCare, slices.Concat(care.Commands(a.App), measure.Commands(a.App, run), about)},
	} {
		for _, v := range g.verbs {
			v.GroupID = g.id
			root.AddCommand(v)
		}
	}
}

// run executes one command line and returns the exit code.
func run(ctx context.Context, args []string, w cli.World) int {
	b := thisBuild()
	a := &app{&cli.App{World: w, Ctx: ctx, Databases: &agent.Databases{Keep: true}, Version: b.Version, Commit: b.Commit}}
	root := a.rootCommand()
	root.SetArgs(cli.TextsBehindFlags(root, args))
	root.SetIn(w.Stdin)
	root.SetOut(w.Stdout)
	root.SetErr(w.Stderr)
	if isCompletion(args) {
		a.addCompletions(root)
	}
	if capture.IsHook(root, args) {
		a.Ctx = context.WithoutCancel(ctx)
		return capture.RunHook(ctx, a.App, root)
	}
	ran, err := root.ExecuteContextC(ctx)
	err = errors.Join(err, a.Close())
	if err == nil {
		return 0
	}
	return a.Fail(cli.Helpfully(err, ran), args)
}
