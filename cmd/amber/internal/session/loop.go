package session

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
)

func (a *app) loopCommand() *cobra.Command {
	return cli.Family("loop",
		a.loopSaveCommand(), a.loopLoadCommand(), a.loopClearCommand(),
	)
}

func (a *app) loopSaveCommand() *cobra.Command {
	var session sessionFlag
	var r amber.LoopSave
	cmd := cli.Verb("save", func(cmd *cobra.Command, args []string) error {
		state, err := a.Text(args[0], amber.MaxStateBytes)
		if err != nil {
			return err
		}
		r := r
		r.State = json.RawMessage(state)
		return session.with(a, cmd, func(ctx context.Context, s *cli.Opened, id amber.SessionID) error {
			r.SessionID = id
			return cli.Answer(s.Store.Loops.SaveLoop(ctx, r))(a.Out, func(w io.Writer, saved amber.PendingLoop) {
				fmt.Fprintf(w, "saved run %s, revision %d\n", cli.Flat(saved.RunID), saved.Revision)
			})
		})
	})
	session.add(cmd, "the session (default the active one)")
	fl := cmd.Flags()
	fl.StringVar(&r.RunID, "run", "", "the run that is suspended")
	fl.Int64Var(&r.IfRevision, "if-revision", 0, "the revision that is stored now; 0 means none is")
	fl.StringVar(&r.IfRunID, "if-run", "", "the run that is stored now (default --run)")
	return cmd
}

func (a *app) loopLoadCommand() *cobra.Command {
	var session sessionFlag
	cmd := cli.Verb("load", func(cmd *cobra.Command, _ []string) error {
		return session.with(a, cmd, func(ctx context.Context, s *cli.Opened, id amber.SessionID) error {
			l, err := s.Store.Loops.LoadLoop(ctx, id)
			if err != nil {
				return err
			}
			if l.Parked {
				a.Out.Note("this loop came back with a restore; check that the world still fits it")
			}
			return a.Out.Show(l, func(w io.Writer) {
				a.Out.Fact(w, "run", l.RunID)
				a.Out.Fact(w, "revision", fmt.Sprint(l.Revision))
				a.Out.Fact(w, "saved", l.CreatedAt.String())
				a.Out.Fact(w, "digest", l.Digest)
				fmt.Fprintf(w, "\n%s\n", cli.Safe(string(l.State)))
			})
		})
	})
	session.add(cmd, "the session (default the active one)")
	return cmd
}

// loopCleared is the answer of `loop clear`.
type loopCleared struct {
	SessionID amber.SessionID `json:"session_id"`
	RunID     string          `json:"run_id,omitempty"`
	Cleared   bool            `json:"cleared"`
}

func (a *app) loopClearCommand() *cobra.Command {
	var session sessionFlag
	var run string
	cmd := cli.Verb("clear", func(cmd *cobra.Command, _ []string) error {
		if cmd.Flags().Changed("run") {
			if err := amber.CheckID("run id", run); err != nil {
				return err
			}
		}
		return session.withNamed(a, cmd, func(ctx context.Context, s *cli.Opened, id amber.SessionID) error {
			if err := s.Store.Loops.ClearLoop(ctx, id, run); err != nil {
				return err
			}
			return a.Out.Show(loopCleared{id, run, true}, func(w io.Writer) { fmt.Fprintln(w, "cleared") })
		})
	})
	session.add(cmd, "the session")
	cmd.Flags().StringVar(&run, "run", "", "only the loop of this run")
	return cmd
}
