package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/agekey"
)

func (a *app) snapshotCreateCommand() *cobra.Command {
	var label string
	var names, recipients []string
	var pin, sign, noSign bool
	cmd := &cobra.Command{
		Use:   "create",
		Short: "Freeze the agent as it is now",
		Long: `Freeze everything the agent is at this instant. Writers stand still for some
milliseconds; nothing is left out and nothing is redacted. It is done when the
snapshot is durable and what was written for it has been read back.

With --source it also captures memory of another tool, which the configuration
names under sources.NAME; that is only read. Whatever should be in the snapshot
and is not is named on stderr and in the snapshot itself.

It is encrypted to those that snapshot.encryption.recipients names and to every --encrypt. They
can read every encrypted snapshot of the repository then, and once something in it is encrypted
everything that is written to it is. It is signed unless snapshot.sign is false.`,
		Example: `  amber snapshot create --label "before the big refactoring" --pin
  amber snapshot create --source engram
  amber snapshot create --encrypt age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if _, err := either(cmd, "sign", "no-sign", true); err != nil {
				return err
			}
			if _, err := agekey.ParseRecipients(recipients); err != nil {
				return err
			}
			a.access.sign = sign
			return a.withSnapshots(cmd, mustBeThere, func(ctx context.Context, s *opened, e snapshotEngine) error {
				r := amber.SnapshotRequest{
					Tenant: s.tenantID(), Agent: s.agentID(), Label: label, Sources: names, Pin: pin,
					Encrypt: recipients, NoSign: noSign,
				}
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
	cmd.Flags().StringArrayVar(&recipients, "encrypt", nil, "encrypt it to this age or SSH public key, too (repeat)")
	cmd.Flags().BoolVar(&sign, "sign", false, "sign it (default unless snapshot.sign is false)")
	cmd.Flags().BoolVar(&noSign, "no-sign", false, "do not sign it")
	onlyHere(cmd.Flags(), "sign") // a server decides that by its configuration
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
