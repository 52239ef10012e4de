// Package capture has the verbs that receive events of agent hosts: hooks, their set-up, and the crash journal.
package capture

import (
	_ "embed"

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
	return cli.Describe(verbs, []string{"{hosts}", hostNames()},
		append(cli.Anywhere(a.hookCommand()), cli.OnSpool(a.setupCommand(), a.journalCommand())...)...)
}
