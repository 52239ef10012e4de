package share

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/base/words"
	"github.com/amber-memory/amber/internal/share/colony"
)

func (a *app) vaultPruneCommand(f *vaultFlags) *cobra.Command {
	var keep int
	var yes, dryRun bool
	cmd := cli.Verb("prune", func(cmd *cobra.Command, _ []string) error {
		if err := cli.Limit("--keep", keep); cmd.Flags().Changed("keep") && err != nil {
			return err
		}
		return a.withVaultOnly(cmd, f, func(ctx context.Context, s *cli.Opened, v *colony.Vault) error {
			if !cmd.Flags().Changed("keep") {
				keep = cmp.Or(s.Config.Config.Vault.Keep, 5) // 0 there means that a server prunes nothing
			}
			return a.vaultRemove(yes, dryRun, "prune snapshots", func(dryRun bool) (colony.PruneReport, error) { return v.Prune(ctx, keep, dryRun) })
		})
	})
	cmd.Flags().IntVar(&keep, "keep", 0, "keep this many of the newest (default vault.keep, 5)")
	cli.AddPlanFlags(cmd, &yes, &dryRun, "show what would be deleted and delete nothing")
	return cmd
}

func (a *app) vaultDeleteCommand(f *vaultFlags) *cobra.Command {
	var snapshot string
	var yes, dryRun bool
	cmd := cli.Verb("delete", func(cmd *cobra.Command, args []string) error {
		id, err := vaultSnapshot(args, snapshot)
		if err == nil && id == "" {
			err = cli.Usage("%s needs the id of a snapshot", cmd.CommandPath())
		}
		if err != nil {
			return err
		}
		return a.withVaultOnly(cmd, f, func(ctx context.Context, _ *cli.Opened, v *colony.Vault) error {
			return a.vaultRemove(yes, dryRun, "delete snapshot "+string(id), func(dryRun bool) (colony.PruneReport, error) { return v.Delete(ctx, id, dryRun) })
		})
	})
	addSnapshotFlag(cmd, &snapshot, "the snapshot")
	cli.AddPlanFlags(cmd, &yes, &dryRun, "show what would be deleted and delete nothing")
	return cmd
}

// vaultRemove deletes once a person has confirmed the plan, or has said not to ask,
// and never more than the plan showed. It fails as the first deletion that did.
func (a *app) vaultRemove(yes, dryRun bool, what string, remove func(dryRun bool) (colony.PruneReport, error)) error {
	run := func(dryRun bool) (colony.PruneReport, error) {
		r, err := cli.Working(a.App, "deleting", func() (colony.PruneReport, error) { return remove(dryRun) })
		tidyPruned(&r)
		return r, err
	}
	var plan *colony.PruneReport // the one that was confirmed
	if !dryRun {
		err := a.ConfirmPlan(yes, what, func() (string, error) {
			shown, err := run(true)
			plan = &shown
			if err != nil || len(shown.Deleted)+len(shown.Orphans) == 0 {
				return "", err
			}
			printVaultPruned(a.Stderr, shown)
			return "delete " + words.Count(int64(len(shown.Deleted)), "snapshot", "snapshots"), nil
		})
		if err != nil {
			return err
		}
	}
	if plan != nil {
		now, err := run(true)
		if err != nil {
			return err
		}
		if more := now.Exceeds(*plan); more != "" {
			return &amber.Error{
				Op: what, Kind: amber.KindConflict, Hint: "run the command again",
				Err: fmt.Errorf("the vault has changed since you were asked: %s would go as well; nothing was deleted", cli.Flat(more)),
			}
		}
	}
	r, err := run(dryRun)
	if err != nil && len(r.Failed)+len(r.Deleted)+len(r.Orphans) == 0 {
		return err
	}
	shown := a.Out.Show(r, func(w io.Writer) { printVaultPruned(w, r) }) // also what was deleted before an error
	a.warnPruned(r)
	return errors.Join(shown, a.Judged(err))
}

// tidyPruned keeps lists from being null in JSON.
func tidyPruned(r *colony.PruneReport) {
	r.Kept, r.Deleted, r.Failed, r.Orphans = cli.OrEmpty(r.Kept), cli.OrEmpty(r.Deleted), cli.OrEmpty(r.Failed), cli.OrEmpty(r.Orphans)
}

func printVaultPruned(w io.Writer, r colony.PruneReport) {
	did, kept := "deleted", "kept"
	if r.Planned {
		did, kept = "would delete", "would keep"
	}
	for _, id := range r.Deleted {
		fmt.Fprintln(w, did, id)
	}
	for _, name := range r.Orphans {
		fmt.Fprintf(w, "%s %s, which belongs to no snapshot\n", did, cli.Flat(name))
	}
	fmt.Fprintf(w, "%s %s of %s, %s %d\n", did, words.Count(int64(len(r.Deleted)), "snapshot", "snapshots"), cli.Flat(r.Label), kept, len(r.Kept))
}

// warnPruned reports what is still there, and what was noticed.
func (a *app) warnPruned(r colony.PruneReport) {
	for _, text := range r.Warnings {
		a.Out.Warn("%s", text)
	}
	for _, f := range r.Failed[:min(len(r.Failed), cli.MaxWarnings)] {
		a.Out.Warn("not deleted: %s: %s", cmp.Or(f.File, string(f.ID)), f.Error)
	}
	if more := len(r.Failed) - cli.MaxWarnings; more > 0 {
		a.Out.Warn("not deleted: %d more", more)
	}
}
