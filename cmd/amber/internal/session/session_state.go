package session

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/wire"
)

func (a *app) sessionStateCommand() *cobra.Command {
	return cli.Family("state",
		a.sessionStateGetCommand(), a.sessionStateSetCommand(), a.sessionStateDeleteCommand())
}

func (a *app) sessionStateGetCommand() *cobra.Command {
	var choice sessionChoice
	cmd := cli.Verb("get", func(cmd *cobra.Command, args []string) error {
		return choice.with(a, cmd, args, func(ctx context.Context, s *cli.Opened, id amber.SessionID) error {
			return cli.Answer(s.Store.States.LoadState(ctx, id))(a.Out, func(w io.Writer, state amber.SessionState) {
				a.PrintNote(w, string(state.Document))
			})
		})
	})
	choice.add(cmd)
	return cmd
}

func (a *app) sessionStateSetCommand() *cobra.Command {
	var session sessionFlag
	var u wire.StateUpdate
	var version int64
	cmd := cli.Verb("set", func(cmd *cobra.Command, args []string) error {
		u := u
		if cmd.Flags().Changed("if-version") {
			u.IfVersion = &version
		}
		text, err := a.Text(args[0], amber.MaxStateBytes)
		if err != nil {
			return err
		}
		u.Document = json.RawMessage(text)
		return session.with(a, cmd, func(ctx context.Context, s *cli.Opened, id amber.SessionID) error {
			u.SessionID = id
			return cli.Answer(wire.UpdateState(ctx, s.Store.States, u))(a.Out, func(w io.Writer, state amber.SessionState) {
				fmt.Fprintf(w, "%s version %d\n", cli.Flat(string(state.SessionID)), state.Version)
			})
		})
	})
	session.add(cmd, "the session (default the active one)")
	cmd.Flags().BoolVar(&u.Merge, "merge", false, "set only the fields that the document names")
	cmd.Flags().Int64Var(&version, "if-version", 0, "store it only over this version; 0: there is no state yet")
	return cmd
}

// deletedState is the JSON of session state delete.
type deletedState struct {
	SessionID amber.SessionID `json:"session_id"`
	Deleted   bool            `json:"deleted"`
}

func (a *app) sessionStateDeleteCommand() *cobra.Command {
	var session sessionFlag
	cmd := cli.Verb("delete", func(cmd *cobra.Command, _ []string) error {
		return session.withNamed(a, cmd, func(ctx context.Context, s *cli.Opened, id amber.SessionID) error {
			if err := s.Store.States.DeleteState(ctx, id); err != nil {
				return err
			}
			return a.Out.Show(deletedState{id, true}, func(w io.Writer) { fmt.Fprintln(w, id) })
		})
	})
	session.add(cmd, "the session")
	return cmd
}
