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
	"github.com/amber-memory/amber/internal/capture/project"
)

func (a *app) projectTrustCommand() *cobra.Command {
	var yes bool
	cmd := cli.Verb("trust", func(cmd *cobra.Command, args []string) error {
		if err := a.OwnerOnly("trust folder"); err != nil {
			return err
		}
		dir := "."
		if len(args) > 0 {
			dir = args[0]
		}
		dir, err := a.Absolute(dir)
		if err != nil {
			return err
		}
		return a.WithStore(cmd, func(ctx context.Context, s *cli.Opened) error { return a.confirmFolder(ctx, s, dir, yes) })
	})
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}

// confirmFolder asks whether a folder has the project that it claims, and gives it that.
func (a *app) confirmFolder(ctx context.Context, s *cli.Opened, dir string, yes bool) error {
	g := a.Project(ctx, dir)
	if g.ID == "" || g.Asks == "" && g.Source == project.Unconfirmed {
		return amber.Errorf(amber.KindNotFound, "trust folder", dir, "the folder claims no project").WithHint("amber project set NAME")
	}
	if g.Asks != "" {
		found, err := agent.StoredUnder(ctx, s.Store, g.Asks)
		if err != nil {
			return err
		}
		a.noteAsks(g)
		if err := a.Confirm(yes, fmt.Sprintf("give %s %s of %s", cli.Safe(g.Top), found, cli.Safe(g.Asks))); err != nil {
			return err
		}
	}
	g, err := TrustFolder(ctx, a.App, s, dir, g.Asks, a.Out.Note)
	if err != nil {
		return err
	}
	return a.showProject(ctx, s, g)
}

// TrustFolder gives a folder the project that it asks for, with what was said there; where it asks
// for none, what was said there joins the one that it has.
func TrustFolder(ctx context.Context, a *cli.App, s *cli.Opened, dir, asks string, note func(format string, args ...any)) (project.Grant, error) {
	folders, err := a.Projects(false)
	if err != nil {
		return project.Grant{}, err
	}
	var g project.Grant
	was := ""
	if asks != "" {
		g, was, err = folders.Trust(ctx, dir, asks)
	} else {
		g, err = folders.Of(ctx, dir)
	}
	if err != nil {
		return g, err
	}
	return g, joinProject(ctx, s, was, g, note)
}

// joinProject gives what was said in a folder under names of its own to its project.
func joinProject(ctx context.Context, s *cli.Opened, was string, now project.Grant, note func(format string, args ...any)) error {
	for _, name := range []string{was, now.Own()} {
		if name == "" || name == now.ID || now.Source == project.Unconfirmed {
			continue
		}
		found, err := agent.StoredUnder(ctx, s.Store, name)
		if err != nil {
			return err
		}
		if s.Local == nil {
			if found.Memories+found.Sessions > 0 {
				note("%s that were said here stay under %s: memory lies on a server", found, cli.Safe(name))
			}
			continue
		}
		memories, sessions, err := s.Local.JoinProject(ctx, name, now.ID, amber.TrustOwn)
		if err != nil {
			return err
		}
		if memories+sessions > 0 {
			note("%s of %s joined %s", agent.Stored{Memories: memories, Sessions: sessions}, cli.Safe(name), cli.Safe(now.ID))
		}
	}
	return nil
}

// noteAsks says what a folder waits for.
func (a *app) noteAsks(g project.Grant) {
	if g.Asks == "" {
		return
	}
	others := "records of this home have that name"
	if len(g.Folders) > 0 {
		others = "others have it: " + cli.OneLine(strings.Join(g.Folders, ", "), 400)
	}
	a.Out.Note("the folder claims %s, and is not given it until you confirm that; %s; if that is right: amber project trust", cli.Safe(g.Asks), others)
}

func (a *app) projectListCommand() *cobra.Command {
	return cli.Verb("list", func(*cobra.Command, []string) error {
		folders, err := a.Projects(true)
		if err != nil {
			return err
		}
		list, err := folders.Folders()
		if err != nil {
			return err
		}
		return a.Out.Show(list, func(w io.Writer) {
			for _, one := range list {
				asks := ""
				if one.Asks != "" {
					asks = "  claims " + one.Asks + ": amber project trust " + shellWord(one.Place)
				}
				fmt.Fprintf(w, "%s  %s%s\n", cli.Safe(one.Project), cli.Safe(one.Place), cli.Safe(asks))
			}
		})
	})
}
