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

// snapshotRemoval is the JSON of snapshot delete.
type snapshotRemoval struct {
	ID        amber.SnapshotID `json:"id"`
	Label     string           `json:"label"`
	CreatedAt amber.Time       `json:"created_at,omitzero"`
	Deleted   bool             `json:"deleted"`
	DryRun    bool             `json:"dry_run"`
}

func (a *app) snapshotDeleteCommand() *cobra.Command {
	var yes, dryRun bool
	cmd := cli.Verb("delete", func(cmd *cobra.Command, args []string) error {
		return a.WithSnapshot(cmd, cli.MayBeAbsent, args[0], func(ctx context.Context, s *cli.Opened, e cli.SnapshotEngine, ref wire.SnapshotRef) error {
			plan, err := planSnapshotRemoval(ctx, s, e, ref)
			if err != nil {
				return err
			}
			if plan.DryRun = dryRun; dryRun {
				return a.showSnapshotRemoval(plan, "would delete")
			}
			if err := a.Confirm(yes, "delete "+plan.String()); err != nil {
				return err
			}
			if err := e.DeleteSnapshot(ctx, ref); err != nil {
				return err
			}
			plan.Deleted = true
			return a.showSnapshotRemoval(plan, "deleted")
		})
	})
	cli.AddPlanFlags(cmd, &yes, &dryRun, "show what would be deleted and delete nothing")
	return cmd
}

// planSnapshotRemoval finds out what would be deleted, and refuses what the
// engine would refuse.
func planSnapshotRemoval(ctx context.Context, s *cli.Opened, e cli.SnapshotEngine, ref wire.SnapshotRef) (snapshotRemoval, error) {
	plan := snapshotRemoval{ID: ref.ID}
	var it wire.SnapshotMeta
	usable := 0
	err := cli.EachSnapshot(ctx, s, e, func(m wire.SnapshotMeta) error {
		if m.ID == ref.ID {
			it, plan.Label, plan.CreatedAt = m, m.Label, m.CreatedAt
		}
		if m.Damage == "" {
			usable++
		}
		return nil
	})
	const op = "delete snapshot"
	switch {
	case err != nil:
		return plan, err
	case it.ID == "":
		return plan, amber.Errorf(amber.KindNotFound, op, string(ref.ID), "no such snapshot").WithHint("amber snapshot list")
	case it.Pinned:
		return plan, amber.Errorf(amber.KindRefused, op, string(ref.ID), "the snapshot is pinned").WithHint("amber snapshot unpin " + cli.ShortID(string(ref.ID)))
	case it.Damage == "" && usable == 1:
		return plan, amber.Errorf(amber.KindRefused, op, string(ref.ID), "the last snapshot of an agent cannot be deleted")
	}
	return plan, nil
}

// String names the snapshot.
func (r snapshotRemoval) String() string {
	text := "snapshot " + string(r.ID)
	if r.Label != "" {
		text += fmt.Sprintf(" (%s)", cli.OneLine(r.Label, 60))
	}
	if !r.CreatedAt.IsZero() {
		text += " of " + r.CreatedAt.Time().Format("2006-01-02 15:04")
	}
	return text
}

func (a *app) showSnapshotRemoval(r snapshotRemoval, did string) error {
	return a.Out.Show(r, func(w io.Writer) { fmt.Fprintf(w, "%s %s\n", did, r) })
}

// Pinning is the JSON of snapshot pin and unpin.
type Pinning struct {
	ID     amber.SnapshotID `json:"id"`
	Pinned bool             `json:"pinned"`
}

func (a *app) snapshotPinCommand(name string, pin bool) *cobra.Command {
	return cli.Verb(name, func(cmd *cobra.Command, args []string) error {
		return a.WithSnapshot(cmd, cli.MayBeAbsent, args[0], func(ctx context.Context, _ *cli.Opened, e cli.SnapshotEngine, ref wire.SnapshotRef) error {
			if err := e.PinSnapshot(ctx, ref, pin); err != nil {
				return err
			}
			return a.Out.Show(Pinning{ref.ID, pin}, func(w io.Writer) { fmt.Fprintf(w, "%sned %s\n", name, ref.ID) })
		})
	})
}
