package session

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
)

func (a *app) sessionCommand() *cobra.Command {
	return cli.Family("session",
		a.sessionStartCommand(), a.sessionEndCommand(), a.sessionListCommand(), a.sessionShowCommand(), a.sessionActivityCommand(),
		a.sessionRenameCommand(), a.sessionDeleteCommand(), a.sessionSelectCommand(), a.sessionStateCommand(),
	)
}

func (a *app) sessionStartCommand() *cobra.Command {
	var r amber.SessionStart
	var parent string
	cmd := cli.Verb("start", func(cmd *cobra.Command, args []string) error {
		r := r
		r.Parent = amber.SessionID(parent)
		if len(args) == 1 {
			id, err := amber.ParseSessionID(args[0])
			if err != nil {
				return err
			}
			r.ID = id
		}
		if err := checkNamed(cmd, r); err != nil {
			return err
		}
		return a.WithStore(cmd, func(ctx context.Context, s *cli.Opened) error {
			if err := a.placeSession(cmd, &r); err != nil {
				return err
			}
			started, err := s.Store.Sessions.StartSession(ctx, r)
			if err != nil {
				return err
			}
			return a.showSessionID(started)
		})
	})
	fl := cmd.Flags()
	fl.StringVar(&r.Name, "name", "", "a name (default the id)")
	fl.StringVar(&r.Binding, "binding", amber.DefaultBinding, "the chat or terminal it belongs to")
	fl.StringVar(&r.Project, "project", "", "the project (default that of the working directory)")
	fl.StringVar(&r.Directory, "directory", "", "the folder it works in (default the working directory)")
	fl.StringVar(&parent, "parent", "", "the session it continues")
	return cmd
}

// checkNamed refuses flags that were given and are empty: a script that lost
// its variable did not ask for the default.
func checkNamed(cmd *cobra.Command, r amber.SessionStart) error {
	if cmd.Flags().Changed("name") {
		if _, err := amber.CheckSessionName(r.Name); err != nil {
			return err
		}
	}
	return amber.CheckID("binding", r.Binding)
}

// placeSession fills in what the working directory tells where flags do not.
func (a *app) placeSession(cmd *cobra.Command, r *amber.SessionStart) error {
	dir, err := a.Directory()
	if err != nil {
		return &amber.Error{Op: "find working directory", Kind: amber.KindInternal, Err: err}
	}
	if !cmd.Flags().Changed("project") {
		r.Project = a.Project(cmd.Context(), dir).ID
	}
	if !cmd.Flags().Changed("directory") {
		r.Directory = dir
	}
	return nil
}

func (a *app) sessionEndCommand() *cobra.Command {
	var which sessionChoice
	var reason, summary string
	cmd := cli.Verb("end", func(cmd *cobra.Command, args []string) error {
		text, err := a.Text(summary, amber.MaxSummaryBytes)
		if err != nil {
			return err
		}
		return which.with(a, cmd, args, func(ctx context.Context, s *cli.Opened, id amber.SessionID) error {
			ended, err := s.Store.Names.EndSession(ctx, amber.SessionEnd{ID: id, Reason: amber.EndReason(reason), Summary: text})
			if err != nil {
				return err
			}
			err = a.showSessionID(ended)
			if err == nil && text != "" {
				s.IndexWritten(ctx, cli.WriteBudget)
			}
			return err
		})
	})
	which.add(cmd)
	cmd.Flags().StringVar(&reason, "reason", string(amber.EndEnded), "why it ends: ended, crash, idle or a word of your own")
	cmd.Flags().StringVar(&summary, "summary", "", "what came of it, or - for stdin")
	return cmd
}

func (a *app) sessionRenameCommand() *cobra.Command {
	return cli.Verb("rename", func(cmd *cobra.Command, args []string) error {
		return a.withNamed(cmd, args[0], func(ctx context.Context, s *cli.Opened, id amber.SessionID) error {
			renamed, err := s.Store.Names.RenameSession(ctx, id, args[1])
			if err != nil {
				return err
			}
			return a.showSessionID(renamed)
		})
	})
}

func (a *app) sessionSelectCommand() *cobra.Command {
	return cli.Verb("select", func(cmd *cobra.Command, args []string) error {
		return a.withNamed(cmd, args[0], func(ctx context.Context, s *cli.Opened, id amber.SessionID) error {
			selected, err := s.Store.Active.SelectSession(ctx, id)
			if err != nil {
				return err
			}
			return a.showSessionID(selected)
		})
	})
}

func (a *app) showSessionID(s amber.Session) error {
	return a.Out.Show(s, func(w io.Writer) { fmt.Fprintln(w, cli.Safe(string(s.ID))) })
}
