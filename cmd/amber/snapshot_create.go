package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
)

func (a *app) snapshotCreateCommand() *cobra.Command {
	var label string
	var names []string
	var pin bool
	cmd := &cobra.Command{
		Use:   "create",
		Short: "Freeze the agent as it is now",
		Long: `Freeze everything the agent is at this instant. Writers stand still for some
milliseconds; nothing is left out and nothing is redacted. It is done when the
snapshot is durable and what was written for it has been read back.

With --source it also captures memory of another tool, which the configuration
names under sources.NAME; that is only read. Whatever should be in the snapshot
and is not is named on stderr and in the snapshot itself.`,
		Example: `  amber snapshot create --label "before the big refactoring" --pin
  amber snapshot create --source engram`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withSnapshots(cmd, mustBeThere, func(ctx context.Context, s *opened, e snapshotEngine) error {
				r := amber.SnapshotRequest{Tenant: s.agent.Tenant(), Agent: s.agent.ID(), Label: label, Sources: names, Pin: pin}
				r, err := r.Normalize()
				if err != nil {
					return err
				}
				meta, err := working(a, "freezing", func() (amber.SnapshotMeta, error) { return e.Snapshot(ctx, r) })
				if err != nil {
					return err
				}
				return a.showCreated(meta)
			})
		},
	}
	cmd.Flags().StringVar(&label, "label", "", "what to call it")
	cmd.Flags().StringArrayVar(&names, "source", nil, "also capture this source of the configuration (repeat)")
	cmd.Flags().BoolVar(&pin, "pin", false, "keep it from being deleted and pruned")
	return cmd
}

// showCreated prints the id, which is what scripts want, and tells the rest
// beside it.
func (a *app) showCreated(m amber.SnapshotMeta) error {
	m.Skipped = orEmpty(m.Skipped)
	err := a.out.show(m, func(w io.Writer) {
		fmt.Fprintln(w, m.ID)
		a.out.note("frozen: %s, %s of it new; writers stood still for %.1f ms", byteSize(m.BytesTotal), byteSize(m.BytesNew), m.FenceMS)
	})
	a.warnSkipped(m.Skipped, m.Warnings)
	if more := m.SkippedCount - len(m.Skipped); more > 0 {
		a.out.warn("not in the snapshot: %d more, which are not named", more)
	}
	return err
}
