package freeze

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/wire"
)

func (a *app) consolidateCommand() *cobra.Command {
	return cli.Family("consolidate",
		a.consolidateBeginCommand(), a.consolidateEndCommand(), a.consolidateStatusCommand())
}

// withConsolidations is withSnapshots for an engine that marks consolidations.
func (a *app) withConsolidations(cmd *cobra.Command, fn func(ctx context.Context, s *cli.Opened, c wire.Consolidator) error) error {
	return a.WithSnapshots(cmd, cli.MustBeThere, func(ctx context.Context, s *cli.Opened, e cli.SnapshotEngine) error {
		c, ok := e.(wire.Consolidator)
		if !ok {
			return amber.Errorf(amber.KindUnsupported, "consolidate", "", "these snapshots have no consolidations")
		}
		return fn(ctx, s, c)
	})
}

func (a *app) consolidateBeginCommand() *cobra.Command {
	var run, abandon string
	cmd := cli.Verb("begin", func(cmd *cobra.Command, _ []string) error {
		return a.withConsolidations(cmd, func(ctx context.Context, s *cli.Opened, c wire.Consolidator) error {
			r := wire.ConsolidationBegin{Tenant: s.TenantID(), Agent: s.AgentID(), Run: run, Abandon: abandon}
			began, err := cli.Working(a.App, "freezing", func() (wire.Consolidation, error) { return c.BeginConsolidation(ctx, r) })
			if err != nil {
				return err
			}
			if began.Warning != "" {
				a.Out.Warn("there is no snapshot of the memory before it: %s", began.Warning)
			}
			if u := began.Unfinished; u != nil {
				a.Out.Note("%s began at %s and never ended; it was given up", u.ID, u.BeganAt)
			}
			return a.Out.Show(began, func(w io.Writer) { fmt.Fprintln(w, began.ID) })
		})
	})
	cmd.Flags().StringVar(&run, "run", "", "what to call it; part of the label of the snapshot")
	cmd.Flags().StringVar(&abandon, "abandon", "", "give up this one, which is open and whose program is gone")
	return cmd
}

func (a *app) consolidateEndCommand() *cobra.Command {
	var outcome string
	cmd := cli.Verb("end", func(cmd *cobra.Command, args []string) error {
		return a.withConsolidations(cmd, func(ctx context.Context, s *cli.Opened, c wire.Consolidator) error {
			ended, err := c.EndConsolidation(ctx, wire.ConsolidationEnd{
				Tenant: s.TenantID(), Agent: s.AgentID(), ID: args[0], Outcome: wire.ConsolidationOutcome(outcome),
			})
			if err != nil {
				return err
			}
			return a.Out.Show(ended, func(w io.Writer) { a.printConsolidation(w, ended) })
		})
	})
	cmd.Flags().StringVar(&outcome, "outcome", string(wire.ConsolidationDone), "how it ended: done, failed or abandoned")
	return cmd
}

func (a *app) consolidateStatusCommand() *cobra.Command {
	return cli.Verb("status", func(cmd *cobra.Command, _ []string) error {
		return a.withConsolidations(cmd, func(ctx context.Context, s *cli.Opened, c wire.Consolidator) error {
			return cli.Answer(c.OpenConsolidation(ctx, s.TenantID(), s.AgentID()))(a.Out, a.printConsolidation)
		})
	})
}

func (a *app) printConsolidation(w io.Writer, c wire.Consolidation) {
	what := c.ID
	if c.Run != "" {
		what += " (" + cli.OneLine(c.Run, 64) + ")"
	}
	state := "is open"
	if c.Outcome != "" {
		state = string(c.Outcome)
	}
	frozen := "without a snapshot"
	if c.Snapshot != "" {
		frozen = "snapshot " + string(c.Snapshot)
	}
	fmt.Fprintf(w, "%s %s; began at %s, %s\n", what, state, c.BeganAt, frozen)
}
