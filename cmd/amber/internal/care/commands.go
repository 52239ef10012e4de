// Package care has the verbs that look after homes: doctor, agents, tenants, indexes, migrations, moves, configuration and
// redaction.
package care

import (
	_ "embed"
	"slices"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber/cmd/amber/internal/cli"
)

//go:embed verbs.md
var verbs string // the words of the verbs

// app is the run, with the verbs of this package.
type app struct{ *cli.App }

// Commands returns the verbs.
func Commands(c *cli.App) []*cobra.Command {
	a := &app{c}
	return cli.Describe(verbs, nil, slices.Concat(cli.OnSpool(cli.Remotely(a.doctorCommand())...), cli.Remotely(a.agentCommand(), a.tenantCommand()),
		[]*cobra.Command{a.indexCommand(), a.migrateCommand(), a.moveCommand()}, cli.Anywhere(a.configCommand(), a.redactCommand()))...)
}
