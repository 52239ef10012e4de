package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

func (a *app) bundleImportCommand() *cobra.Command {
	var toAgent, passphrase string
	var noSidecar bool
	cmd := &cobra.Command{
		Use:   "import FILE",
		Short: "Make a snapshot of a bundle",
		Long: `Make a snapshot of a bundle, Amber's own or one of nexo-memory-snapshot-v1, and print its id: all
of it or nothing. Every byte is compared with the manifest of the bundle, and the file with the
digest beside it, FILE.sha256. The live agent is not touched: snapshot restore does that.

The snapshot belongs to the agent that the bundle names; with --agent, the
bundle must name that agent; --to-agent imports it as a snapshot of another agent.

` + passphraseHelp,
		Example: `  amber bundle import agent.tar.zst.age --identity ~/keys/me.txt
  amber bundle import agent.tar.zst --to-agent copy`,
		Args: exactly("a file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("to-agent") && toAgent == "" {
				return usage("--to-agent is empty")
			}
			return a.withBundle(cmd, args[0], passphrase, mayBeMade, func(ctx context.Context, s *opened, e snapshotEngine, file string) error {
				r := wire.ImportRequest{Tenant: s.agent.Tenant(), File: file, To: amber.AgentID(toAgent), NoSidecar: noSidecar}
				if cmd.Flags().Changed("agent") {
					r.Agent = s.agent.ID()
				}
				report, err := working(a, "importing", func() (wire.ImportReport, error) { return e.Import(ctx, r) })
				if err != nil {
					return err
				}
				return a.showImported(report)
			})
		},
	}
	cmd.Flags().StringVar(&toAgent, "to-agent", "", "import it as a snapshot of this agent")
	addPassphraseFlag(cmd, &passphrase)
	cmd.Flags().BoolVar(&noSidecar, "no-sidecar", false, "do not require FILE.sha256 beside the file")
	return cmd
}

// withBundle is withSnapshots for a verb about one bundle.
func (a *app) withBundle(cmd *cobra.Command, arg, passphrase string, need liveAgent, fn func(ctx context.Context, s *opened, e snapshotEngine, file string) error) error {
	file, err := a.absolute(arg)
	if err != nil {
		return err
	}
	if a.access.passphrase, err = a.readPassphrase(cmd, passphrase); err != nil {
		return err
	}
	return a.withSnapshots(cmd, need, func(ctx context.Context, s *opened, e snapshotEngine) error { return fn(ctx, s, e, file) })
}

func (a *app) showImported(r wire.ImportReport) error {
	r.Checked, r.LeftOut, r.Snapshot.Skipped = orEmpty(r.Checked), orEmpty(r.LeftOut), orEmpty(r.Snapshot.Skipped)
	err := a.out.show(r, func(w io.Writer) {
		fmt.Fprintln(w, r.Snapshot.ID)
		switch {
		case r.Existed:
			a.out.note("agent %s had that snapshot already", r.Snapshot.Agent)
		default:
			a.out.note("a snapshot of agent %s of %s, %s", r.Snapshot.Agent, r.Snapshot.CreatedAt.Time().Format("2006-01-02 15:04"), byteSize(r.Snapshot.BytesTotal))
		}
		a.out.note("%s", describeSignature(r.Signature))
		if r.Snapshot.Redacted {
			a.out.note("secrets were taken out of it: it does not hold all that the agent knew")
		}
	})
	a.warnSkipped(nil, r.Warnings)
	a.noteLeftOut(r.LeftOut, "snapshot")
	return err
}
