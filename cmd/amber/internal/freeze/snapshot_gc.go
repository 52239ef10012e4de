package freeze

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/base/words"
	"github.com/amber-memory/amber/wire"
)

func (a *app) snapshotGCCommand() *cobra.Command {
	var yes, dryRun, old bool
	cmd := cli.Verb("gc", func(cmd *cobra.Command, _ []string) error {
		return a.WithSnapshots(cmd, cli.MayBeAbsent, func(ctx context.Context, s *cli.Opened, e cli.SnapshotEngine) error {
			return a.collect(ctx, e, wire.GCRequest{Tenant: s.TenantID(), OldGenerations: old, DryRun: dryRun}, yes)
		})
	})
	cmd.Flags().BoolVar(&old, "old-generations", false, "also remove generations that restores have kept because no snapshot holds them")
	cli.AddPlanFlags(cmd, &yes, &dryRun, "show what would be freed and free nothing")
	return cmd
}

func (a *app) collect(ctx context.Context, e cli.SnapshotEngine, r wire.GCRequest, yes bool) error {
	run := func(dryRun bool) (wire.GCReport, error) {
		report, err := cli.Working(a.App, "collecting", func() (wire.GCReport, error) {
			r := r
			r.DryRun = dryRun
			return e.CollectGarbage(ctx, r)
		})
		report.Orphans = cli.OrEmpty(report.Orphans)
		return report, err
	}
	return cli.Answer(confirmed(a, yes, r.DryRun, "collect garbage", run, func(plan wire.GCReport) string {
		printCollected(a.Stderr, plan)
		return "collect garbage"
	}))(a.Out, printCollected)
}

func printCollected(w io.Writer, r wire.GCReport) {
	would := ""
	if r.DryRun {
		would = "would be "
	}
	fmt.Fprintf(w, "%sfreed: %s in %s\n", would, cli.ByteSize(r.Freed), words.Count(int64(r.Deleted), "pack", "packs"))
	if r.Repacked > 0 {
		fmt.Fprintf(w, "%spacked again: %s that were mostly unused\n", would, words.Count(int64(r.Repacked), "pack", "packs"))
	}
	if r.Condemned > 0 {
		fmt.Fprintf(w, "%scondemned: %s with %s, which go when the grace time is over\n", would, words.Count(int64(r.Condemned), "pack", "packs"), cli.ByteSize(r.CondemnedBytes))
	}
	for _, o := range r.Orphans {
		fmt.Fprintf(w, "%sremoved: %s\n", would, cli.Flat(o))
	}
}
