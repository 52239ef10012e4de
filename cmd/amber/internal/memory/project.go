package memory

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/agent"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/base/words"
	"github.com/amber-memory/amber/internal/capture/project"
)

func (a *app) projectCommand() *cobra.Command {
	c := cli.Verb("project", func(cmd *cobra.Command, _ []string) error {
		dir, err := a.Absolute(".")
		if err != nil {
			return err
		}
		return a.WithStore(cmd, func(ctx context.Context, s *cli.Opened) error { return a.showProject(ctx, s, a.Project(ctx, dir)) })
	})
	c.AddCommand(a.projectSetCommand(), a.projectTrustCommand(), a.projectListCommand())
	return cli.Acting(c)
}

func (a *app) projectSetCommand() *cobra.Command {
	var yes, dryRun bool
	cmd := cli.Verb("set", func(cmd *cobra.Command, args []string) error {
		name := args[0]
		if !dryRun { // a name is a key to what lies under it
			if err := a.OwnerOnly("name project"); err != nil {
				return err
			}
		}
		if err := amber.CheckID("project id", name); err != nil {
			return err
		}
		dir, err := a.Absolute(".")
		if err != nil {
			return err
		}
		return a.WithStore(cmd, func(ctx context.Context, s *cli.Opened) error {
			return a.setProject(ctx, s, dir, name, yes, dryRun)
		})
	})
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "show what the name would bring in and change nothing")
	return cmd
}

func (a *app) showProject(ctx context.Context, s *cli.Opened, p project.Grant) error {
	r, err := agent.ReportProject(ctx, s.Store, p)
	if err != nil {
		return err
	}
	if err := a.Out.Show(r, func(w io.Writer) { fmt.Fprintln(w, cli.Safe(p.ID)) }); err != nil {
		return err
	}
	a.noteProject(r)
	return nil
}

// projectSources say what names a project, for people.
var projectSources = map[project.Source]string{
	project.Choice: "named with amber project set", project.File: "named by .amber/project",
	project.Remote: "named by the git remote", project.Path: "named by where the repository lies",
	project.Pinned:      "named as this home has known the folder since before",
	project.Unconfirmed: "a name of its own, since no user has confirmed what the folder claims",
}

// noteProject tells people what they should know beside the name.
func (a *app) noteProject(r agent.ProjectReport) {
	if r.ID == "" {
		a.Out.Note("the working directory belongs to no project; amber project set NAME names one")
	} else {
		a.Out.Note("%s; %s", projectSources[r.Source], r.Stored)
	}
	a.noteAsks(r.Grant)
	if r.Ignored != "" {
		a.Out.Note("%s; the file is ignored", cli.Safe(r.Ignored))
	}
	if r.Claimed != "" {
		a.Out.Note(".amber/project says %s; if that is right: amber project set %s", cli.Safe(r.Claimed), shellWord(r.Claimed))
	}
	for _, o := range r.Others {
		if o.ID == r.Own() {
			a.Out.Note("%s are stored under %s: amber project trust joins them", o, cli.Safe(o.ID))
			continue
		}
		a.Out.Note("%s are stored under %s: amber project set %s goes on with them", o, cli.Safe(o.ID), shellWord(o.ID))
	}
}

// shellWord quotes a word for a shell where it has to be.
func shellWord(s string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/@+,=:-"
	if strings.Trim(s, plain) == "" {
		return s
	}
	return "'" + strings.ReplaceAll(cli.Safe(s), "'", `'\''`) + "'"
}

// setProject names the project of a directory.
func (a *app) setProject(ctx context.Context, s *cli.Opened, dir, name string, yes, dryRun bool) error {
	now := a.Project(ctx, dir)
	found, err := agent.StoredUnder(ctx, s.Store, name)
	if err != nil {
		return err
	}
	n := 0
	for _, d := range found.Directories {
		if !now.Contains(d) {
			n++
		}
	}
	if n > 0 && name != now.ID && !dryRun {
		question := fmt.Sprintf("take %s of %s, of which some ran in %s", found, cli.Safe(name), words.Count(n, "other folder", "other folders"))
		if err := a.Confirm(yes, question); err != nil {
			return err
		}
	}
	if !dryRun {
		folders, err := a.Projects(false)
		if err != nil {
			return err
		}
		was := ""
		if now, was, err = folders.Set(ctx, dir, name); err != nil {
			return err
		}
		if err := joinProject(ctx, s, was, now, a.Out.Note); err != nil {
			return err
		}
	}
	r, err := agent.ReportProject(ctx, s.Store, now)
	if err != nil {
		return err
	}
	r.DryRun = dryRun
	if dryRun {
		r.ID, r.Source, r.Stored = name, project.Choice, found
	}
	if err := a.Out.Show(r, func(w io.Writer) { fmt.Fprintln(w, cli.Safe(r.ID)) }); err != nil {
		return err
	}
	a.noteProject(r)
	return nil
}

// noteOtherNames tells, where nothing was found, what the folder waits for, and that something is stored under another name of the repository.
func (a *app) noteOtherNames(ctx context.Context, s *cli.Opened, named string) {
	dir, err := a.Absolute(".")
	if named != "" || err != nil {
		return
	}
	here := a.Project(ctx, dir)
	a.noteAsks(here)
	for _, name := range here.Others {
		if found, err := agent.StoredUnder(ctx, s.Store, name); err == nil && found.Memories > 0 {
			a.Out.Note("%s are stored under another name of this repository, %s: see amber project", found, cli.Safe(name))
		}
	}
}
