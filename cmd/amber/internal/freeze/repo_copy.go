package freeze

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/base/words"
	"github.com/amber-memory/amber/internal/freeze/target"
)

// Copied is the JSON of repo copy.
type Copied struct {
	Repository string `json:"repository"`
	target.CopyReport
}

func (a *app) repoCopyCommand() *cobra.Command {
	var to, from string
	var plain bool
	cmd := cli.Verb("copy", func(cmd *cobra.Command, _ []string) error {
		given := cmd.Flags().Changed
		switch {
		case given("to") == given("from"):
			return cli.Usage("%s needs --to NAME or --from NAME", cmd.CommandPath())
		case given("to"):
			return a.copyRepository(cmd, to, cli.MayBeAbsent, func(ctx context.Context, e cli.SnapshotEngine, t amber.TenantID, other target.Target) (target.CopyReport, error) {
				return e.CopyTo(ctx, t, other, plain)
			})
		}
		return a.copyRepository(cmd, from, cli.MayBeMade, nil)
	})
	cmd.Flags().StringVar(&to, "to", "", "copy to this repository")
	cmd.Flags().StringVar(&from, "from", "", "copy from this repository")
	cmd.Flags().BoolVar(&plain, "include-plain", false, "also send snapshots that are not encrypted, though recipients are configured")
	return cmd
}

// copyRepository copies with there to a repository; without there it copies from
// the repository into the home's own.
func (a *app) copyRepository(cmd *cobra.Command, name string, need cli.LiveAgent,
	there func(context.Context, cli.SnapshotEngine, amber.TenantID, target.Target) (target.CopyReport, error),
) error {
	return a.WithSnapshots(cmd, need, func(ctx context.Context, s *cli.Opened, e cli.SnapshotEngine) error {
		l, err := s.Local.Repositories().Find(name)
		if err != nil {
			return err
		}
		tenant := s.Agent.Tenant()
		other, err := s.Local.OpenTarget(ctx, l, tenant, there != nil)
		if err != nil {
			return err
		}
		did := "copied to"
		if there == nil {
			did = "copied from"
			there = func(ctx context.Context, e cli.SnapshotEngine, t amber.TenantID, other target.Target) (target.CopyReport, error) {
				return e.CopyFrom(ctx, t, other)
			}
		}
		report, err := cli.Working(a.App, "copying", func() (target.CopyReport, error) { return there(ctx, e, tenant, other) })
		if err != nil {
			return err
		}
		for _, record := range report.NotRemoved {
			a.Out.Note("%s could not be removed: its recipients can still read the copied snapshots", record)
		}
		return a.Out.Show(Copied{name, report}, func(w io.Writer) {
			fmt.Fprintf(w, "%s %s: %s, %s in %s; there before: %s, %s\n", did, name,
				words.Count(int64(report.Snapshots), "snapshot", "snapshots"), cli.ByteSize(report.Bytes), words.Count(int64(report.Objects), "object", "objects"),
				words.Count(int64(report.SnapshotsPresent), "snapshot", "snapshots"), words.Count(int64(report.ObjectsPresent), "object", "objects"))
		})
	})
}
