package freeze

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/base/agekey"
	"github.com/amber-memory/amber/internal/base/words"
	"github.com/amber-memory/amber/wire"
)

func (a *app) snapshotCreateCommand() *cobra.Command {
	var label string
	var names, recipients []string
	var pin, sign, noSign bool
	cmd := cli.Verb("create", func(cmd *cobra.Command, _ []string) error {
		if _, err := cli.Either(cmd, "sign", "no-sign", true); err != nil {
			return err
		}
		if _, err := agekey.ParseRecipients(recipients); err != nil {
			return err
		}
		a.Access.Sign = sign
		return a.WithSnapshots(cmd, cli.MustBeThere, func(ctx context.Context, s *cli.Opened, e cli.SnapshotEngine) error {
			r := wire.SnapshotRequest{
				Tenant: s.TenantID(), Agent: s.AgentID(), Label: label, Sources: names, Pin: pin,
				Encrypt: recipients, NoSign: noSign, By: a.Writer().Asks(wire.Asker{}),
			}
			r, err := r.Normalize()
			if err != nil {
				return err
			}
			meta, err := cli.Working(a.App, "freezing", func() (wire.SnapshotMeta, error) { return e.Snapshot(ctx, r) })
			if err != nil {
				return err
			}
			return a.showCreated(meta)
		})
	})
	cmd.Flags().StringVar(&label, "label", "", "name of the snapshot")
	cmd.Flags().StringArrayVar(&names, "source", nil, "also capture this source of the configuration (repeat)")
	cmd.Flags().StringArrayVar(&recipients, "encrypt", nil, "also encrypt to this age or SSH public key (repeat)")
	cmd.Flags().BoolVar(&sign, "sign", false, "sign the snapshot (default unless snapshot.sign is false)")
	cmd.Flags().BoolVar(&noSign, "no-sign", false, "do not sign the snapshot")
	cli.OnlyHere(cmd.Flags(), "sign") // a server decides that by its configuration
	cmd.Flags().BoolVar(&pin, "pin", false, "protect the snapshot from delete and prune")
	return cmd
}

// showCreated prints the id, which is what scripts want, and tells the rest
// beside it.
func (a *app) showCreated(m wire.SnapshotMeta) error {
	m.Skipped = cli.OrEmpty(m.Skipped)
	err := a.Out.Show(m, func(w io.Writer) {
		fmt.Fprintln(w, m.ID)
		a.Out.Note("frozen: %s, %s of it new; writers stood still for %.1f ms", cli.ByteSize(m.BytesTotal), cli.ByteSize(m.BytesNew), m.FenceMS)
	})
	a.WarnSkipped(m.Skipped, m.Warnings)
	if more := m.SkippedCount - len(m.Skipped); more > 0 {
		a.Out.Warn("not in the snapshot: %s", words.Count(more, "more file", "more files"))
	}
	return err
}
