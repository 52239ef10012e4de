package capture

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/capture/hook"
	"github.com/amber-memory/amber/internal/capture/hook/setup"
)

// setupFlags are those of `setup`.
type setupFlags struct {
	scope                   string
	uninstall, dryRun, list bool
}

func (a *app) setupCommand() *cobra.Command {
	var f setupFlags
	cmd := cli.Verb("setup", func(cmd *cobra.Command, args []string) error {
		if f.list {
			return a.setupList(cmd, f, args)
		}
		if err := cli.Exactly("HOST: "+hostNames()+", or --list")(cmd, args); err != nil {
			return err
		}
		return a.setup(cmd, f, args[0])
	})
	cmd.Args = cobra.ArbitraryArgs
	cmd.Flags().StringVar(&f.scope, "scope", string(setup.User), "user: every project; project: the one in this folder")
	cmd.Flags().BoolVar(&f.uninstall, "uninstall", false, "take Amber out of the host's settings")
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "show what would change, and change nothing")
	cmd.Flags().BoolVar(&f.list, "list", false, "list the hosts, and which are set up")
	return cmd
}

// setup sets up one host or takes Amber out of it.
func (a *app) setup(cmd *cobra.Command, f setupFlags, name string) error {
	host, err := hook.ParseHost(name)
	if err != nil {
		return err
	}
	scope, err := setup.ParseScope(f.scope)
	if err != nil {
		return err
	}
	o, err := SetupOptions(cmd, a.App)
	if err != nil {
		return err
	}
	if host == hook.Generic {
		return a.setupGeneric(o, f)
	}
	planned := setup.Install
	if f.uninstall {
		planned = setup.Uninstall
	}
	plan, err := planned(string(host), scope, o)
	if err != nil {
		return err
	}
	if !f.uninstall && plan.Any() && a.Getenv("AMBER_HOME") != "" && !cmd.Flags().Changed("home") {
		plan.Notes = append(plan.Notes, "$AMBER_HOME is set here; a host that is started without it keeps its events in the usual home, unless you set up with --home")
	}
	if !f.dryRun {
		if !f.uninstall {
			if err := a.MakeNamed(cmd); err != nil {
				return err
			}
		}
		if err := plan.Apply(); err != nil {
			return err
		}
	}
	return a.Out.Show(outcome(plan, f.dryRun), func(w io.Writer) { a.printPlan(w, plan, f) })
}

// setupOutcome is the JSON of setup.
type setupOutcome struct {
	Host   string      `json:"host"`
	Scope  setup.Scope `json:"scope"`
	DryRun bool        `json:"dry_run"`
	Files  []setupFile `json:"files"`
	Notes  []string    `json:"notes"`
	Next   []string    `json:"next"`
}

type setupFile struct {
	Path   string       `json:"path"`
	Action setup.Action `json:"action"`
	Backup string       `json:"backup,omitempty"`
	Diff   string       `json:"diff,omitempty"`
}

func outcome(p *setup.Plan, dryRun bool) setupOutcome {
	out := setupOutcome{
		Host: p.Host, Scope: p.Scope, DryRun: dryRun, Files: []setupFile{},
		Notes: append([]string{}, p.Notes...), Next: append([]string{}, p.Next...),
	}
	for _, c := range p.Changes {
		f := setupFile{Path: c.Path, Action: c.Action}
		if dryRun {
			f.Diff = c.Diff()
		} else {
			f.Backup = c.Backup
		}
		out.Files = append(out.Files, f)
	}
	return out
}

func (a *app) printPlan(w io.Writer, p *setup.Plan, f setupFlags) {
	if f.dryRun {
		for _, c := range p.Changes {
			fmt.Fprint(w, cli.Safe(c.Diff()))
		}
		a.printRemarks(p.Notes, nil)
		if p.Any() {
			a.Out.Note("this is what would change; nothing was")
		} else {
			a.Out.Note("nothing would change")
		}
		return
	}
	switch {
	case !p.Any() && f.uninstall:
		fmt.Fprintf(w, "Amber is not in the settings of %s.\n", p.Title)
	case !p.Any():
		fmt.Fprintf(w, "%s is set up already.\n", p.Title)
	case f.uninstall:
		fmt.Fprintf(w, "%s has forgotten about Amber.\n", p.Title)
	default:
		fmt.Fprintf(w, "%s tells Amber what happens from now on.\n", p.Title)
	}
	for _, c := range p.Changes {
		fmt.Fprintf(w, "  %-9s  %s\n", c.Action, cli.Flat(c.Path))
		if c.Backup != "" {
			fmt.Fprintf(w, "  %-9s  %s\n", "", a.Out.Style(cli.Dim, "as it was: "+cli.Flat(c.Backup)))
		}
	}
	if !p.Any() {
		p.Next = nil
	}
	a.printRemarks(p.Notes, p.Next)
}

// printRemarks prints what the user should know and do, beside the result.
func (a *app) printRemarks(notes, next []string) {
	for _, n := range notes {
		a.Out.Note("note: %s", cli.Flat(n))
	}
	for _, n := range next {
		a.Out.Note("next: %s", cli.Flat(n))
	}
}

// setupGeneric tells how a host that Amber does not know calls it.
func (a *app) setupGeneric(o setup.Options, f setupFlags) error {
	if f.uninstall {
		return cli.Usage("generic has no settings to take anything out of")
	}
	out := setupOutcome{Host: string(hook.Generic), Scope: setup.User, DryRun: f.dryRun, Files: []setupFile{}, Next: []string{}, Notes: []string{
		"run this program for every event, with the event as a JSON object on stdin: " + o.Executable + " hook generic --event NAME",
		"NAME is session.start, prompt, tool.after, turn.end, compact.before, subagent.end, session.end or error; names that other hosts use are understood, too",
		"the object has at least session_id; prompt, cwd, tool_name, tool_input, tool_response and last_assistant_message are understood",
		"the program always exits with 0; run it with a time limit of some seconds",
	}}
	return a.Out.Show(out, func(w io.Writer) {
		fmt.Fprintln(w, "There is nothing to change for a host that Amber does not know.")
		for _, n := range out.Notes {
			fmt.Fprintf(w, "  - %s\n", cli.Flat(n))
		}
	})
}
