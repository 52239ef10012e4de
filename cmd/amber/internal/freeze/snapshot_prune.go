package freeze

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/base/words"
	"github.com/amber-memory/amber/wire"
)

// pruneFlags say what to keep; what is not given is the configuration's.
type pruneFlags struct {
	keep        wire.PruneRequest // its rules
	maxAge      string
	yes, dryRun bool
}

func (a *app) snapshotPruneCommand() *cobra.Command {
	var f pruneFlags
	cmd := cli.Verb("prune", func(cmd *cobra.Command, _ []string) error {
		return a.WithSnapshots(cmd, cli.MayBeAbsent, func(ctx context.Context, s *cli.Opened, e cli.SnapshotEngine) error {
			r, err := f.request(a, cmd, s)
			if err != nil {
				return err
			}
			if err := a.known(ctx, s, e); err != nil {
				return err
			}
			return a.prune(ctx, e, r, f)
		})
	})
	fl := cmd.Flags()
	for _, rule := range f.keep.Rules() {
		about := "keep this many of the newest"
		if rule.Unit != "" {
			about = fmt.Sprintf("keep the last of each %s, for this many %ss", rule.Unit, rule.Unit)
		}
		fl.IntVar(rule.Count, "keep-"+rule.Name, 0, about)
	}
	fl.StringVar(&f.maxAge, "max-age", "", "delete older ones whatever the rules say: "+cli.TimeForms+" ago (0: no limit)")
	cli.AddPlanFlags(cmd, &f.yes, &f.dryRun, "show what would be deleted, and why the others are kept")
	return cmd
}

// request puts the flags over the configuration.
func (f pruneFlags) request(a *app, cmd *cobra.Command, s *cli.Opened) (wire.PruneRequest, error) {
	if s.Remote != nil && !f.anyRule(cmd) {
		return wire.PruneRequest{}, cli.Usage("--remote needs a rule, such as --keep-last; the server applies its own snapshot.retention by itself")
	}
	r := s.Config.Config.Snapshot.Retention.PruneRequest()
	r.Tenant, r.Agent, r.AutomaticOnly = s.TenantID(), s.AgentID(), false
	for i, given := range f.keep.Rules() {
		flag := "keep-" + given.Name
		if !cmd.Flags().Changed(flag) {
			continue
		}
		if *r.Rules()[i].Count = *given.Count; *given.Count < 0 {
			return r, cli.Usage("--%s is %d, want 0 or more", flag, *given.Count)
		}
	}
	if cmd.Flags().Changed("max-age") {
		d, err := a.Age("max-age", f.maxAge)
		if err != nil {
			return r, err
		}
		r.MaxAge = d
	}
	return r, nil
}

// anyRule reports whether a flag says what to keep.
func (f pruneFlags) anyRule(cmd *cobra.Command) bool {
	return cmd.Flags().Changed("max-age") || slices.ContainsFunc(f.keep.Rules(), func(rule wire.PruneRule) bool {
		return cmd.Flags().Changed("keep-" + rule.Name)
	})
}

// prune deletes once a person has seen the plan, or has said not to ask.
func (a *app) prune(ctx context.Context, e cli.SnapshotEngine, r wire.PruneRequest, f pruneFlags) error {
	run := func(dryRun bool) (wire.PruneReport, error) {
		r := r
		r.DryRun = dryRun
		report, err := cli.Working(a.App, "pruning", func() (wire.PruneReport, error) { return e.PruneSnapshots(ctx, r) })
		report.Deleted, report.Kept = cli.OrEmpty(report.Deleted), cli.OrEmpty(report.Kept)
		return report, err
	}
	return cli.Answer(confirmed(a, f.yes, f.dryRun, "prune snapshots", run, func(plan wire.PruneReport) string {
		if len(plan.Deleted) == 0 {
			return ""
		}
		printPruned(a.Stderr, plan)
		return "delete " + words.Count(int64(len(plan.Deleted)), "snapshot", "snapshots")
	}))(a.Out, printPruned)
}

func printPruned(w io.Writer, r wire.PruneReport) {
	did, kept := "deleted", "kept"
	if r.DryRun {
		did, kept = "would delete", "would keep"
	}
	for _, id := range r.Deleted {
		fmt.Fprintf(w, "%s %s\n", did, cli.Flat(string(id)))
	}
	for _, k := range r.Kept {
		fmt.Fprintf(w, "%s %s because: %s\n", kept, cli.Flat(string(k.ID)), cli.Flat(k.Reason))
	}
	fmt.Fprintf(w, "%s %s, %s %d\n", did, words.Count(int64(len(r.Deleted)), "snapshot", "snapshots"), kept, len(r.Kept))
}
