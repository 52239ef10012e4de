package freeze

import (
	"context"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/wire"
)

// restoreBundle brings an agent back from a file.
func (a *app) restoreBundle(cmd *cobra.Command, file string, f restoreFlags) error {
	given := cmd.Flags().Changed
	for _, flag := range []string{"memory", "source", "repo"} {
		if given(flag) {
			e := cli.Usage("--%s does not go with a bundle", flag).(*amber.Error)
			e.Hint = "amber bundle import " + file + ", then restore the snapshot"
			return e
		}
	}
	return a.withBundle(cmd, file, f.passphrase, cli.MayBeMade, func(ctx context.Context, s *cli.Opened, e cli.SnapshotEngine, file string) error {
		r := f.bare(s, wire.SnapshotRef{Tenant: s.TenantID()})
		if given("agent") {
			r.Agent = s.AgentID()
		}
		return a.restore(s, restoring{
			agent: Restored(r), from: "bundle " + filepath.Base(file), yes: f.yes, dryRun: f.dryRun,
			run: func(dryRun bool) (wire.RestoreReport, error) {
				r.DryRun = dryRun
				return e.RestoreBundle(ctx, file, r)
			},
		})
	})
}
