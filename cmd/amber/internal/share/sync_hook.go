package share

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/share/gitsync/githook"
)

func (a *app) syncHookCommand(f *syncFlags) *cobra.Command {
	return cli.Family("hook",
		a.syncHookInstallCommand(f), a.syncHookRemoveCommand(f), a.syncHookStatusCommand(f))
}

// hookOutcome is the JSON of sync hook install and remove.
type hookOutcome struct {
	Dir      string           `json:"dir"` // of the hooks
	Upstream string           `json:"upstream,omitempty"`
	Hooks    []githook.Change `json:"hooks"`
}

// syncHookFlags say what the hooks do.
type syncHookFlags struct {
	projectFlags
	upstream  string
	preCommit bool
}

func (a *app) syncHookInstallCommand(f *syncFlags) *cobra.Command {
	var h syncHookFlags
	cmd := cli.Verb("install", func(cmd *cobra.Command, _ []string) error { return a.installHooks(cmd, f, h) })
	h.projectFlags.add(cmd)
	addUpstreamFlag(cmd, &h.upstream, "the branch to import from (default the one that the current branch tracks)")
	cmd.Flags().BoolVar(&h.preCommit, "pre-commit", false, "export before each commit, too")
	return cmd
}

func (a *app) installHooks(cmd *cobra.Command, f *syncFlags, h syncHookFlags) error {
	ctx := cmd.Context()
	o, tree, err := a.hookOptions(ctx, cmd, f, h)
	if err != nil {
		return err
	}
	changes, err := tree.Install(ctx, o)
	if err != nil {
		return err
	}
	if tree.Shared() {
		a.Out.Note("the hooks of this repository are part of the work tree, in %s: everybody who checks it out may run them", cli.Flat(tree.HooksDir()))
	}
	if a.Getenv("AMBER_HOME") != "" && !cmd.Flags().Changed("home") {
		a.Out.Note("$AMBER_HOME is set here; git started without that variable uses the default home: install with --home to fix the home")
	}
	out := hookOutcome{Dir: tree.HooksDir(), Upstream: o.Upstream, Hooks: cli.OrEmpty(changes)}
	return a.Out.Show(out, func(w io.Writer) {
		fmt.Fprintf(w, "after a merge git imports what %s holds in %s\n", cli.Flat(o.Upstream), cli.Flat(o.Folder))
		if o.PreCommit {
			fmt.Fprintf(w, "before a commit git exports to %s\n", cli.Flat(o.Folder))
		}
		printHookChanges(w, out.Hooks)
	})
}

// hookOptions finds out what the hooks are to do.
func (a *app) hookOptions(ctx context.Context, cmd *cobra.Command, f *syncFlags, h syncHookFlags) (githook.Install, *githook.Worktree, error) {
	o := githook.Install{PreCommit: h.preCommit}
	tree, dir, err := a.hookTree(ctx, cmd, f)
	if err != nil {
		return o, nil, err
	}
	if o.Folder, err = tree.Folder(dir); err != nil {
		return o, nil, err
	}
	switch {
	case cmd.Flags().Changed("upstream") && h.upstream == "":
		return o, nil, cli.Usage("--upstream is empty")
	case h.upstream == "" || h.upstream == githook.TrackedBranch:
		o.Upstream, err = tree.Upstream(ctx)
	default:
		o.Upstream, err = tree.Ref(ctx, h.upstream)
	}
	if err != nil {
		return o, nil, err
	}
	if _, err := a.exportProject(cmd, h.projectFlags); err != nil && h.preCommit {
		return o, nil, err
	}
	if cmd.Flags().Changed("format") {
		o.Flags = append(o.Flags, "--format="+f.format)
	}
	switch {
	case h.all:
		o.ExportFlags = []string{"--all"}
	case h.project != "":
		o.ExportFlags = []string{"--project=" + h.project}
	}
	if o.Globals, err = a.HookGlobals(cmd); err != nil {
		return o, nil, err
	}
	o.Binary, err = a.Executable()
	return o, tree, err
}

// hookTree opens the work tree the folder is in.
func (a *app) hookTree(ctx context.Context, cmd *cobra.Command, f *syncFlags) (*githook.Worktree, string, error) {
	dir, err := a.syncDir(cmd, f)
	if err != nil {
		return nil, "", err
	}
	tree, err := githook.Options{Environ: a.Environ}.OpenAt(ctx, dir)
	return tree, dir, err
}

func printHookChanges(w io.Writer, changes []githook.Change) {
	for _, c := range changes {
		if c.Action != githook.Unchanged {
			fmt.Fprintf(w, "  %-9s  %s\n", c.Action, cli.Flat(c.Path))
		}
	}
}

func (a *app) syncHookRemoveCommand(f *syncFlags) *cobra.Command {
	return cli.Verb("remove", func(cmd *cobra.Command, _ []string) error {
		tree, _, err := a.hookTree(cmd.Context(), cmd, f)
		if err != nil {
			return err
		}
		changes, err := tree.Remove(cmd.Context())
		if err != nil {
			return err
		}
		out := hookOutcome{Dir: tree.HooksDir(), Hooks: cli.OrEmpty(changes)}
		return a.Out.Show(out, func(w io.Writer) {
			fmt.Fprintln(w, "git does not call Amber in this repository")
			printHookChanges(w, out.Hooks)
		})
	})
}

func (a *app) syncHookStatusCommand(f *syncFlags) *cobra.Command {
	return cli.Verb("status", func(cmd *cobra.Command, _ []string) error {
		tree, _, err := a.hookTree(cmd.Context(), cmd, f)
		if err != nil {
			return err
		}
		states, err := tree.Status(cmd.Context())
		if err != nil {
			return err
		}
		out := struct {
			Dir   string          `json:"dir"`
			Hooks []githook.State `json:"hooks"`
		}{tree.HooksDir(), cli.OrEmpty(states)}
		return a.Out.Show(out, func(w io.Writer) {
			for _, s := range out.Hooks {
				state := "not installed"
				if s.Installed {
					state = "installed"
				}
				fmt.Fprintf(w, "%-11s %-14s %s\n", s.Hook, state, cli.Flat(s.Path))
			}
		})
	})
}
