package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
)

func (a *app) snapshotGCCommand() *cobra.Command {
	var yes, dryRun bool
	cmd := &cobra.Command{
		Use:   "gc",
		Short: "Free what no snapshot needs",
		Long: `Free what no snapshot of the tenant needs. What is found for the first time is only
condemned: it goes when the grace time (snapshot.gc.grace) is over and still nothing needs
it. What interrupted operations left behind is removed, too.

It asks first; without a terminal it needs --yes.`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withSnapshots(cmd, mayBeAbsent, func(ctx context.Context, s *opened, e snapshotEngine) error {
				return a.collect(ctx, s, e, yes, dryRun)
			})
		},
	}
	addPlanFlags(cmd, &yes, &dryRun, "tell what would be freed and free nothing")
	return cmd
}

func (a *app) collect(ctx context.Context, s *opened, e snapshotEngine, yes, dryRun bool) error {
	run := func(dryRun bool) (amber.GCReport, error) {
		report, err := working(a, "collecting", func() (amber.GCReport, error) {
			return e.CollectGarbage(ctx, amber.GCRequest{Tenant: s.agent.Tenant(), DryRun: dryRun})
		})
		report.Orphans = orEmpty(report.Orphans)
		return report, err
	}
	if !dryRun {
		err := a.confirmPlan(yes, "collect garbage", func() (string, error) {
			plan, err := run(true)
			if err != nil {
				return "", err
			}
			printCollected(a.stderr, plan)
			return "collect garbage", nil
		})
		if err != nil {
			return err
		}
	}
	report, err := run(dryRun)
	if err != nil {
		return err
	}
	return a.out.show(report, func(w io.Writer) { printCollected(w, report) })
}

func printCollected(w io.Writer, r amber.GCReport) {
	would := ""
	if r.DryRun {
		would = "would be "
	}
	fmt.Fprintf(w, "%sfreed: %s in %s\n", would, byteSize(r.Freed), count(int64(r.Deleted), "pack", "packs"))
	if r.Repacked > 0 {
		fmt.Fprintf(w, "%spacked again: %s that were mostly unused\n", would, count(int64(r.Repacked), "pack", "packs"))
	}
	if r.Condemned > 0 {
		fmt.Fprintf(w, "%scondemned: %s with %s, which go when the grace time is over\n", would, count(int64(r.Condemned), "pack", "packs"), byteSize(r.CondemnedBytes))
	}
	for _, o := range r.Orphans {
		fmt.Fprintf(w, "%sremoved: %s\n", would, flat(o))
	}
}
