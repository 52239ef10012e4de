// Package freeze has the verbs of snapshots, bundles, repositories and keys.
package freeze

import (
	_ "embed"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/wire"
)

//go:embed verbs.md
var verbs string // the words of the verbs

// app is the run, with the verbs of this package.
type app struct{ *cli.App }

// Commands returns the verbs.
func Commands(c *cli.App) []*cobra.Command {
	a := &app{c}
	values := []string{
		"{max_rows}", fmt.Sprint(wire.MaxDiffRows), "{keep_safety}", fmt.Sprint(config.KeepSafety), "{safety_days}", fmt.Sprintf("%d", config.SafetyAge/(24*time.Hour)),
	}
	return cli.Describe(verbs, values, slices.Concat(
		cli.Remotely(a.snapshotCommand(), a.consolidateCommand()), []*cobra.Command{a.bundleCommand(), a.repoCommand()}, cli.Anywhere(a.keyCommand()),
	)...)
}
