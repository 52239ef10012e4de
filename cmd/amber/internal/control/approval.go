package control

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/agent"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
)

func (a *app) approvalCommand() *cobra.Command {
	return cli.Family("approval",
		a.approvalRequestCommand(), a.approvalDecideCommand(), a.approvalShowCommand(), a.approvalListCommand(),
	)
}

func (a *app) approvalRequestCommand() *cobra.Command {
	var r amber.ApprovalRequest
	cmd := cli.Verb("request", func(cmd *cobra.Command, args []string) error {
		payload, err := a.Text(args[0], amber.MaxStateBytes)
		if err != nil {
			return err
		}
		r := r
		r.Payload = json.RawMessage(payload)
		if cmd.Flags().Changed("id") {
			if err := amber.CheckID("approval id", r.ID); err != nil {
				return err
			}
		}
		return a.withTask(cmd, r.TaskID, func(ctx context.Context, s *cli.Opened) error {
			return cli.Answer(s.Store.Approvals.RequestApproval(ctx, r))(a.Out, func(w io.Writer, asked amber.Approval) {
				fmt.Fprintln(w, cli.Safe(asked.ID))
			})
		})
	})
	fl := cmd.Flags()
	fl.StringVar(&r.TaskID, "task", "", "the task that waits")
	fl.StringVar(&r.NodeID, "node", "", "the node that waits")
	fl.StringVar(&r.Summary, "summary", "", "the question, for a person")
	fl.StringVar(&r.ID, "id", "", "an id of your own (default a new one)")
	return cmd
}

// findApproval returns the approval that text names: a whole id, or the end
// of a UUID among those that are pending, which are the ones people type.
func findApproval(ctx context.Context, s *cli.Opened, text string) (string, error) {
	if err := amber.CheckID("approval id", text); err != nil {
		return "", err
	}
	end, err := agent.ParseIDEnd(text)
	if _, whole := end.Whole(); err != nil || whole {
		return text, nil
	}
	if _, err := s.Store.Approvals.Approval(ctx, text); amber.KindOf(err) != amber.KindNotFound {
		return text, err
	}
	pending, err := amber.All(ctx, s.Store.Approvals.ListApprovals, "")
	if err != nil {
		return "", err
	}
	var fits []string
	for _, p := range pending {
		if end.Ends(p.ID) {
			fits = append(fits, p.ID)
		}
	}
	if len(fits) == 0 {
		return "", amber.Errorf(amber.KindNotFound, "find approval", text, "no pending approval has an id that is this or ends so").
			WithHint("amber approval list; one that is decided needs its whole id")
	}
	return end.Only("approval", fits)
}

func (a *app) approvalShowCommand() *cobra.Command {
	return cli.Verb("show", func(cmd *cobra.Command, args []string) error {
		return a.WithStore(cmd, func(ctx context.Context, s *cli.Opened) error {
			id, err := findApproval(ctx, s, args[0])
			if err != nil {
				return err
			}
			return cli.Answer(s.Store.Approvals.Approval(ctx, id))(a.Out, a.printApproval)
		})
	})
}

func (a *app) printApproval(w io.Writer, v amber.Approval) {
	fmt.Fprintln(w, a.Out.Style(cli.Bold, cli.OneLine(v.Summary, 400)))
	a.Out.Fact(w, "id", v.ID)
	a.Out.Fact(w, "status", string(v.Status))
	a.Out.Fact(w, "task", v.TaskID)
	a.Out.Fact(w, "node", v.NodeID)
	a.Out.Fact(w, "asked", a.Out.When(v.CreatedAt))
	a.Out.Fact(w, "asked by", v.RequestedBy)
	if v.Status != amber.ApprovalPending {
		a.Out.Fact(w, "decided", fmt.Sprintf("%s by %s", a.Out.When(v.DecidedAt), v.DecidedBy))
		a.Out.Fact(w, "claimed by", v.ClaimedBy)
		a.Out.Fact(w, "comment", v.Comment)
	}
	a.Out.Fact(w, "digest", v.Digest)
	fmt.Fprintf(w, "\n%s\n", cli.Safe(string(v.Payload)))
}

func (a *app) approvalListCommand() *cobra.Command {
	var task string
	var jsonl bool
	cmd := cli.Verb("list", func(cmd *cobra.Command, _ []string) error {
		if cmd.Flags().Changed("task") {
			if err := amber.CheckID("task id", task); err != nil {
				return err
			}
		}
		return a.WithStore(cmd, func(ctx context.Context, s *cli.Opened) error {
			return cli.Listing(amber.All(ctx, s.Store.Approvals.ListApprovals, task))(a.App, jsonl, a.printApprovals)
		})
	})
	cmd.Flags().StringVar(&task, "task", "", "every approval of this task, decided ones too")
	cli.AddJSONL(cmd, &jsonl)
	return cmd
}

func (a *app) printApprovals(w io.Writer, items []amber.Approval) {
	cli.TableOf(w, []string{"ID", "STATUS", "TASK", "NODE", "ASKED", "SUMMARY"}, items, func(v amber.Approval) []string {
		return []string{shownID(v), string(v.Status), v.TaskID, v.NodeID, a.Out.When(v.CreatedAt), cli.OneLine(v.Summary, 60)}
	})
}

// shownID is what has to be typed to name an approval.
func shownID(v amber.Approval) string {
	if v.Status == amber.ApprovalPending {
		return cli.ShortID(v.ID)
	}
	return v.ID
}
