package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
)

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
				return unknownCommand(cmd, args[0])
			case wantsVersion:
				return a.showVersion()
			}
			return cmd.Help()
		},
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			a.out = newPrinter(a)
			a.verb = cmd.Name()
			a.nameAgent(cmd)
			if err := a.chooseRemote(cmd); err != nil {
				return err
			}
			return a.checkAgent(cmd)
		},
	}
	f := root.PersistentFlags()
	f.StringVar(&a.global.home, "home", "", "the home folder (default $AMBER_HOME, else ~/.local/share/amber)")
	f.StringVar(&a.global.config, "config", "", "the configuration file")
	f.StringVar(&a.global.tenant, "tenant", string(amber.DefaultTenant), "the tenant (or $"+tenantVariable+")")
	f.StringVar(&a.global.agent, "agent", string(amber.DefaultAgent), "the agent (or $"+agentVariable+")")
	f.BoolVar(&a.global.newAgent, "new-agent", false, "let a command that writes make the agent of --agent")
	onlyHere(f, "home", "config")
	a.addRemoteFlags(f)
	f.BoolVar(&a.global.json, "json", false, "print one JSON document")
	f.BoolVar(&a.global.quiet, "quiet", false, "print results only")
	f.BoolVar(&a.global.noColor, "no-color", false, "print without colour")
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
	root.SetFlagErrorFunc(flagError)
	root.SetHelpCommand(a.helpCommand())
	root.CompletionOptions.DisableDefaultCmd = true
	a.addCommands(root)
	return root
}

// addCommands lists every verb.
func (a *app) addCommands(root *cobra.Command) {
	for _, g := range []struct {
		id    string
		verbs []*cobra.Command
	}{
		{groupRemember, remotely(
			a.rememberCommand(), a.recallCommand(),
			a.getCommand(), a.editCommand(), a.historyCommand(), a.listCommand(), a.timelineCommand(),
			a.contextCommand(), a.projectCommand(), a.statsCommand(), a.forgetCommand(), a.conceptCommand(), a.noteCommand(),
			a.sessionCommand(), a.turnCommand(), a.compactionCommand(), a.loopCommand(), a.stateCommand(),
		)},
		{groupKeep, []*cobra.Command{a.setupCommand(), a.hookCommand(), a.journalCommand()}},
		{groupFreeze, append(remotely(a.snapshotCommand(), a.consolidateCommand()), a.bundleCommand(), a.repoCommand(), a.keyCommand())},
		{groupShare, []*cobra.Command{a.syncCommand(), a.vaultCommand()}},
		{groupServe, []*cobra.Command{a.serveCommand(), a.mcpCommand(), a.tokenCommand(), a.auditCommand()}},
		{groupControl, remotely(
			a.taskCommand(), a.eventCommand(), a.approvalCommand(), a.resultCommand(), a.queueCommand(),
		)},
		{groupCare, append(remotely(a.doctorCommand(), a.agentCommand(), a.tenantCommand()),
			a.demoCommand(), a.configCommand(), a.redactCommand(), a.versionCommand(), a.completionCommand(), a.manCommand(),
		)},
	} {
		for _, v := range g.verbs {
			v.GroupID = g.id
			root.AddCommand(v)
		}
	}
}

// run executes one command line and returns the exit code.
func run(ctx context.Context, args []string, w world) int {
	a := &app{world: w, ctx: ctx}
	root := a.rootCommand()
	root.SetArgs(args)
	root.SetIn(w.stdin)
	root.SetOut(w.stdout)
	root.SetErr(w.stderr)
	if isCompletion(args) {
		a.addCompletions(root)
	}
	if isHook(root, args) {
		a.ctx = context.WithoutCancel(ctx)
		return a.runHook(ctx, root)
	}
	ran, err := root.ExecuteContextC(ctx)
	err = errors.Join(err, a.close())
	if err == nil {
		return 0
	}
	return a.fail(helpfully(err, ran), args)
}
