// Package freeze has the verbs of snapshots, bundles, repositories and keys.
package freeze

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber/cmd/amber/internal/cli"
)

// app is the run, with the verbs of this package.
type app struct{ *cli.App }

// Commands returns the verbs.
func Commands(c *cli.App) []*cobra.Command {
	a := &app{c}
	return slices.Concat(cli.Remotely(a.snapshotCommand(), a.consolidateCommand()), []*cobra.Command{a.bundleCommand(), a.repoCommand()}, cli.Anywhere(a.keyCommand()))
}
