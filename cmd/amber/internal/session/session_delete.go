package session

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/base/words"
)

// sessionRemoval says what goes with a session.
type sessionRemoval struct {
	ID     amber.SessionID `json:"id"`
	Name   string          `json:"name"`
	DryRun bool            `json:"dry_run"`
	Turns  int             `json:"turns"`
	State  bool            `json:"state"`
	Loop   bool            `json:"loop"`
}

func (a *app) sessionDeleteCommand() *cobra.Command {
	var yes, dryRun bool
	cmd := cli.Verb("delete", func(cmd *cobra.Command, args []string) error {
		return a.withNamed(cmd, args[0], func(ctx context.Context, s *cli.Opened, id amber.SessionID) error {
			plan, err := planRemoval(ctx, s, id)
			if err != nil {
				return err
			}
			if plan.DryRun = dryRun; dryRun {
				return a.showRemoval(plan, "would delete")
			}
			if err := a.Confirm(yes, "delete "+plan.String()); err != nil {
				return err
			}
			// Entries that are still on their way would make the session again.
			for _, left := range a.Site(s).Settle(ctx) {
				a.Out.Note("not deleted: %s", left)
			}
			if err := s.Store.Sessions.DeleteSession(ctx, id); err != nil {
				return err
			}
			return a.showRemoval(plan, "deleted")
		})
	})
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "show what would be deleted and delete nothing")
	return cmd
}

// planRemoval looks at what deleting a session takes with it.
func planRemoval(ctx context.Context, s *cli.Opened, id amber.SessionID) (plan sessionRemoval, err error) {
	found, err := s.Store.Sessions.Session(ctx, id)
	if err != nil {
		return plan, err
	}
	turns, err := allTurns(ctx, s, id)
	if err != nil {
		return plan, err
	}
	plan = sessionRemoval{ID: id, Name: found.Name, Turns: len(turns)}
	_, err = s.Store.States.LoadState(ctx, id)
	if plan.State, err = isThere(err); err != nil {
		return plan, err
	}
	_, err = s.Store.Loops.LoadLoop(ctx, id)
	plan.Loop, err = isThere(err)
	return plan, err
}

// isThere reports, from the error of a read, whether there is something to delete. A damaged record is there.
func isThere(err error) (bool, error) {
	switch amber.KindOf(err) {
	case "", amber.KindDamaged:
		return true, nil
	case amber.KindNotFound, amber.KindUnsupported:
		return false, nil
	}
	return false, err
}

// String names the session and what goes with it.
func (r sessionRemoval) String() string {
	with := []string{words.Count(r.Turns, "turn", "turns")}
	if r.State {
		with = append(with, "its state")
	}
	if r.Loop {
		with = append(with, "its loop")
	}
	return fmt.Sprintf("session %s with %s", cli.Flat(r.Name), strings.Join(with, ", "))
}

func (a *app) showRemoval(r sessionRemoval, did string) error {
	return a.Out.Show(r, func(w io.Writer) {
		fmt.Fprintf(w, "%s %s; long-term memories stay\n", did, r)
	})
}
