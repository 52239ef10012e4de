package freeze

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/base/words"
	"github.com/amber-memory/amber/wire"
)

func (a *app) bundleImportCommand() *cobra.Command {
	var toAgent, passphrase string
	var noSidecar bool
	cmd := cli.Verb("import", func(cmd *cobra.Command, args []string) error {
		if cmd.Flags().Changed("to-agent") && toAgent == "" {
			return cli.Usage("--to-agent is empty")
		}
		return a.withBundle(cmd, args[0], passphrase, cli.MayBeMade, func(ctx context.Context, s *cli.Opened, e cli.SnapshotEngine, file string) error {
			r := wire.ImportRequest{Tenant: s.Agent.Tenant(), File: file, To: amber.AgentID(toAgent), NoSidecar: noSidecar}
			if cmd.Flags().Changed("agent") {
				r.Agent = s.Agent.ID()
			}
			report, err := cli.Working(a.App, "importing", func() (wire.ImportReport, error) { return e.Import(ctx, r) })
			if err != nil {
				return err
			}
			return a.showImported(report)
		})
	})
	cmd.Flags().StringVar(&toAgent, "to-agent", "", "import it as a snapshot of this agent")
	cli.AddPassphraseFlag(cmd, &passphrase)
	cmd.Flags().BoolVar(&noSidecar, "no-sidecar", false, "do not require FILE.sha256 beside the file")
	return cmd
}

// withBundle is withSnapshots for a verb about one bundle.
func (a *app) withBundle(cmd *cobra.Command, arg, passphrase string, need cli.LiveAgent, fn func(ctx context.Context, s *cli.Opened, e cli.SnapshotEngine, file string) error) error {
	file, err := a.Absolute(arg)
	if err != nil {
		return err
	}
	if a.Access.Passphrase, err = a.ReadPassphrase(cmd, passphrase); err != nil {
		return err
	}
	return a.WithSnapshots(cmd, need, func(ctx context.Context, s *cli.Opened, e cli.SnapshotEngine) error { return fn(ctx, s, e, file) })
}

func (a *app) showImported(r wire.ImportReport) error {
	r.Checked, r.LeftOut, r.Snapshot.Skipped = cli.OrEmpty(r.Checked), cli.OrEmpty(r.LeftOut), cli.OrEmpty(r.Snapshot.Skipped)
	err := a.Out.Show(r, func(w io.Writer) {
		fmt.Fprintln(w, r.Snapshot.ID)
		switch {
		case r.Existed:
			a.Out.Note("agent %s had that snapshot already", r.Snapshot.Agent)
		default:
			a.Out.Note("a snapshot of agent %s of %s, %s", r.Snapshot.Agent, r.Snapshot.CreatedAt.Time().Format("2006-01-02 15:04"), cli.ByteSize(r.Snapshot.BytesTotal))
		}
		a.Out.Note("%s", cli.DescribeSignature(r.Signature))
		if n := r.Redactions; n != nil && n.Matches > 0 {
			a.Out.Note("%s taken out of it: it does not hold all that the agent knew", words.Count(n.Matches, "secret was", "secrets were"))
		}
	})
	a.WarnSkipped(nil, r.Warnings)
	a.NoteLeftOut(r.LeftOut, "snapshot")
	return err
}
