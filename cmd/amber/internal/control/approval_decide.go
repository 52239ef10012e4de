package control

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
)

// outcomeFlags are the three answers to an approval.
type outcomeFlags struct{ approve, reject, cancel bool }

// outcome returns the one answer that was given.
func (f outcomeFlags) outcome() (amber.ApprovalStatus, error) {
	var given []amber.ApprovalStatus
	for _, o := range []struct {
		set    bool
		status amber.ApprovalStatus
	}{
		{f.approve, amber.ApprovalApproved}, {f.reject, amber.ApprovalRejected}, {f.cancel, amber.ApprovalCancelled},
	} {
		if o.set {
			given = append(given, o.status)
		}
	}
	if len(given) != 1 {
		return "", cli.Usage("give exactly one of --approve, --reject and --cancel")
	}
	return given[0], nil
}

func (a *app) approvalDecideCommand() *cobra.Command {
	var f outcomeFlags
	var d amber.ApprovalDecision
	cmd := cli.Verb("decide", func(cmd *cobra.Command, args []string) error {
		outcome, err := f.outcome()
		if err != nil {
			return err
		}
		d := d
		d.Outcome = outcome
		if !cmd.Flags().Changed("actor") {
			d.Actor = cmp.Or(a.Getenv("USER"), a.Getenv("USERNAME"))
		}
		if d.Actor == "" {
			return cli.Usage("%s needs --actor, who decides", cmd.CommandPath())
		}
		if cmd.Flags().Changed("digest") && d.Digest == "" {
			return cli.Usage("--digest is empty; leave it out to decide without looking at the payload")
		}
		return a.WithStore(cmd, func(ctx context.Context, s *cli.Opened) error {
			if d.ID, err = findApproval(ctx, s, args[0]); err != nil {
				return err
			}
			return cli.Answer(s.Store.Approvals.DecideApproval(ctx, d))(a.Out, func(w io.Writer, decided amber.Approval) {
				fmt.Fprintf(w, "%s is %s\n", cli.Flat(decided.ID), decided.Status)
			})
		})
	})
	fl := cmd.Flags()
	fl.BoolVar(&f.approve, "approve", false, "yes, run it")
	fl.BoolVar(&f.reject, "reject", false, "no")
	fl.BoolVar(&f.cancel, "cancel", false, "the question needs no answer any more")
	fl.StringVar(&d.Actor, "actor", "", "who decides (default the user)")
	fl.StringVar(&d.Comment, "comment", "", "why")
	fl.StringVar(&d.Digest, "digest", "", "the digest of the payload that was looked at")
	return cmd
}
