package control

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/base/words"
)

func (a *app) eventCommand() *cobra.Command {
	return cli.Family("event",
		a.eventAppendCommand(), a.eventListCommand(), a.eventCompactCommand(),
	)
}

func (a *app) eventAppendCommand() *cobra.Command {
	var e amber.TaskEvent
	var from, to, kind, class string
	cmd := cli.Verb("append", func(cmd *cobra.Command, args []string) error {
		if !cmd.Flags().Changed("from") {
			return cli.Usage("%s needs --from, the state the task is in", cmd.CommandPath())
		}
		e := e
		e.TaskID, e.From, e.To = args[0], amber.TaskState(from), amber.TaskState(to)
		e.Kind, e.ErrorClass = amber.TaskEventKind(kind), amber.ErrorClass(class)
		return a.withTask(cmd, e.TaskID, func(ctx context.Context, s *cli.Opened) error {
			return cli.Answer(s.Store.Events.AppendEvent(ctx, e))(a.Out, func(w io.Writer, stored amber.TaskEvent) {
				fmt.Fprintln(w, stored.Seq)
			})
		})
	})
	fl := cmd.Flags()
	fl.StringVar(&from, "from", "", "the state the task was in")
	fl.StringVar(&to, "to", "", "the state it went to (default --from)")
	fl.StringVar(&kind, "kind", string(amber.EventStateTransition), "state_transition, node_completed, approval_pending, approval_approved or approval_rejected")
	fl.StringVar(&e.Reason, "reason", "", "why")
	fl.StringVar(&e.NodeID, "node", "", "the node it is about")
	fl.StringVar(&e.NodeKind, "node-kind", "", "what kind of node that is")
	fl.IntVar(&e.Attempt, "attempt", 0, "which attempt it was")
	fl.StringVar(&class, "error-class", "", "validation, dependency, timeout, security, budget_exhausted or non_retriable")
	fl.StringVar(&e.ApprovalID, "approval", "", "the approval it is about")
	fl.StringVar(&e.Result, "result", "", "the result it brought")
	return cmd
}

func (a *app) eventListCommand() *cobra.Command {
	var jsonl bool
	cmd := cli.Verb("list", func(cmd *cobra.Command, args []string) error {
		return a.withTask(cmd, args[0], func(ctx context.Context, s *cli.Opened) error {
			return cli.Listing(amber.All(ctx, s.Store.Events.ListEvents, args[0]))(a.App, jsonl, a.printEvents)
		})
	})
	cli.AddJSONL(cmd, &jsonl)
	return cmd
}

func (a *app) printEvents(w io.Writer, events []amber.TaskEvent) {
	cli.TableOf(w, []string{"SEQ", "AT", "KIND", "STATE", "ABOUT", "ERROR", "REASON"}, events, func(e amber.TaskEvent) []string {
		step := string(e.From)
		if e.To != e.From {
			step += " > " + string(e.To)
		}
		about := e.NodeID
		if e.ApprovalID != "" {
			about += " " + cli.ShortID(e.ApprovalID)
		}
		return []string{fmt.Sprint(e.Seq), e.At.String(), string(e.Kind), step, about, string(e.ErrorClass), cli.OneLine(e.Reason, 60)}
	})
}

func (a *app) eventCompactCommand() *cobra.Command {
	var keep int
	cmd := cli.Verb("compact", func(cmd *cobra.Command, args []string) error {
		if !cmd.Flags().Changed("keep") {
			return cli.Usage("%s needs --keep, how many events stay", cmd.CommandPath())
		}
		return a.withTask(cmd, args[0], func(ctx context.Context, s *cli.Opened) error {
			events := s.Store.Events
			if s.Local != nil {
				events = s.Local.Events()
			}
			return cli.Answer(events.CompactEvents(ctx, args[0], keep))(a.Out, func(w io.Writer, snapshot amber.ReplaySnapshot) {
				fmt.Fprintf(w, "%s compacted, up to state %s\n", words.Count(snapshot.CompactedEventCount, "event", "events"), snapshot.ReplayedState)
			})
		})
	})
	cmd.Flags().IntVar(&keep, "keep", 0, "how many events stay as they are")
	return cmd
}
