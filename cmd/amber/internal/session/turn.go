package session

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/base/words"
)

func (a *app) turnCommand() *cobra.Command {
	return cli.Family("turn",
		a.turnAddCommand(), a.turnListCommand(), a.turnClearCommand(),
	)
}

func (a *app) turnAddCommand() *cobra.Command {
	var session sessionFlag
	var role, id, project string
	cmd := cli.Verb("add", func(cmd *cobra.Command, args []string) error {
		content, err := a.Text(args[0], amber.MaxContentBytes)
		if err != nil {
			return err
		}
		if cmd.Flags().Changed("id") {
			if err := amber.CheckID("turn id", id); err != nil {
				return err
			}
		}
		turn := amber.Turn{ID: amber.TurnID(id), Role: amber.Role(role), Content: content, ProjectID: project}
		return a.WithStore(cmd, func(ctx context.Context, s *cli.Opened) error {
			if !cmd.Flags().Changed("project") {
				dir, err := a.Directory()
				if err != nil {
					return &amber.Error{Op: "find working directory", Kind: amber.KindInternal, Err: err}
				}
				turn.ProjectID = a.Project(ctx, dir).ID
			}
			if turn.SessionID, err = session.find(ctx, cmd, s); err != nil {
				return err
			}
			err := cli.Answer(s.Store.Turns.AppendTurn(ctx, turn))(a.Out, func(w io.Writer, stored amber.Turn) {
				fmt.Fprintln(w, cli.Safe(string(stored.ID)))
			})
			if err == nil {
				s.IndexWritten(ctx, cli.WriteBudget)
			}
			return err
		})
	})
	session.add(cmd, "the session (default the active one)")
	fl := cmd.Flags()
	fl.StringVar(&role, "role", string(amber.RoleUser), "who speaks: user, assistant, system or tool")
	fl.StringVar(&id, "id", "", "an id of your own (default a new one)")
	fl.StringVar(&project, "project", "", "the project (default that of the working directory)")
	return cmd
}

func (a *app) turnListCommand() *cobra.Command {
	var session sessionFlag
	var n int
	var jsonl bool
	cmd := cli.Verb("list", func(cmd *cobra.Command, _ []string) error {
		if err := cli.Limit("-n", n); err != nil {
			return err
		}
		return session.with(a, cmd, func(ctx context.Context, s *cli.Opened, id amber.SessionID) error {
			return cli.Listing(amber.LastTurns(ctx, s.Store.Turns, id, n))(a.App, jsonl, a.printTurns)
		})
	})
	session.add(cmd, "the session (default the active one)")
	cmd.Flags().IntVarP(&n, "limit", "n", 20, "how many at most")
	cli.AddJSONL(cmd, &jsonl)
	return cmd
}

// turnsDeleted is the answer of `turn clear`.
type turnsDeleted struct {
	SessionID amber.SessionID `json:"session_id"`
	Deleted   int             `json:"deleted"`
}

func (a *app) turnClearCommand() *cobra.Command {
	var session sessionFlag
	cmd := cli.Verb("clear", func(cmd *cobra.Command, _ []string) error {
		return session.withNamed(a, cmd, func(ctx context.Context, s *cli.Opened, id amber.SessionID) error {
			n, err := s.Store.Turns.DeleteTurns(ctx, id)
			if err != nil {
				return err
			}
			return a.Out.Show(turnsDeleted{id, n}, func(w io.Writer) { fmt.Fprintf(w, "deleted %s\n", words.Count(n, "turn", "turns")) })
		})
	})
	session.add(cmd, "the session")
	return cmd
}

// roleColour tells the speakers of a transcript apart.
func roleColour(r amber.Role) string {
	switch r {
	case amber.RoleUser:
		return cli.Amb
	case amber.RoleAssistant:
		return "\x1b[36m" // cyan
	case amber.RoleTool:
		return "\x1b[32m" // green
	}
	return cli.Bold
}

// printTurns prints a transcript.
func (a *app) printTurns(w io.Writer, turns []amber.Turn) {
	p := a.Out
	for i, t := range turns {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "%s  %s\n%s\n", p.Style(roleColour(t.Role), cli.Flat(string(t.Role))), p.Style(cli.Dim, p.When(t.CreatedAt)), cli.Safe(t.Content))
	}
}
