package control

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
)

func (a *app) queueCommand() *cobra.Command {
	return cli.Family("queue",
		a.queuePublishCommand(), a.queueClaimCommand(), a.queueAckCommand(), a.queueNackCommand(),
		a.queueRenewCommand(), a.queueStatsCommand(), a.queueDeadCommand(),
	)
}

func (a *app) queuePublishCommand() *cobra.Command {
	var e amber.Envelope
	var notBefore string
	cmd := cli.Verb("publish", func(cmd *cobra.Command, args []string) error {
		e := e
		e.EntryID = args[0]
		var err error
		if e.NotBefore, err = a.Future("not-before", notBefore); err != nil {
			return err
		}
		if e.Payload, err = a.Text(args[1], amber.MaxStateBytes); err != nil {
			return err
		}
		if e, err = e.Normalize(); err != nil {
			return err
		}
		return a.WithStore(cmd, func(ctx context.Context, s *cli.Opened) error {
			if err := s.Store.Queue.Publish(ctx, e); err != nil {
				return err
			}
			return a.Out.Show(e, func(w io.Writer) { fmt.Fprintln(w, cli.Safe(e.EntryID)) })
		})
	})
	fl := cmd.Flags()
	fl.StringVar(&e.TaskID, "task", "", "the task it is work for")
	fl.StringVar(&e.NodeID, "node", "", "the node it is work for")
	fl.IntVar(&e.Priority, "priority", 0, "higher comes first")
	fl.StringVar(&notBefore, "not-before", "", "do not hand it out before this time: "+cli.TimeForms+" from now")
	return cmd
}

func (a *app) queueStatsCommand() *cobra.Command {
	return cli.Verb("stats", func(cmd *cobra.Command, _ []string) error {
		return a.WithStore(cmd, func(ctx context.Context, s *cli.Opened) error {
			return cli.Answer(s.Store.QueueKeeper.Backpressure(ctx))(a.Out, func(w io.Writer, b amber.Backpressure) {
				fmt.Fprintf(w, "%d queued, %d leased of at most %d, %d dead\n", b.Queued, b.Leased, b.MaxInFlight, b.Dead)
			})
		})
	})
}

func (a *app) queueDeadCommand() *cobra.Command {
	var f cli.PageFlags
	cmd := cli.Verb("dead", func(cmd *cobra.Command, _ []string) error {
		return a.WithStore(cmd, func(ctx context.Context, s *cli.Opened) error {
			read := func(n int, c amber.Cursor) (amber.Page[amber.DeadEntry], error) {
				return s.Store.QueueKeeper.DeadEntries(ctx, amber.Paging{Limit: n, Cursor: c})
			}
			return cli.ShowPage(a.App, cmd, f, read, a.printDead)
		})
	})
	f.Add(cmd)
	return cmd
}

func (a *app) printDead(w io.Writer, items []amber.DeadEntry) {
	cli.TableOf(w, []string{"ENTRY", "TASK", "NODE", "ATTEMPTS", "DIED", "LAST REASON"}, items, func(d amber.DeadEntry) []string {
		last := ""
		if len(d.Reasons) > 0 {
			last = d.Reasons[len(d.Reasons)-1]
		}
		return []string{d.Envelope.EntryID, d.Envelope.TaskID, d.Envelope.NodeID, fmt.Sprint(d.Envelope.Attempt), a.Out.When(d.DeadAt), cli.OneLine(last, 60)}
	})
}
