// Package capture has the verbs that receive events of agent hosts: hooks, their set-up, and the crash journal.
package capture

import (
	"github.com/spf13/cobra"

	"github.com/amber-memory/amber/cmd/amber/internal/cli"
)

// app is the run, with the verbs of this package.
type app struct{ *cli.App }

// Commands returns the verbs.
func Commands(c *cli.App) []*cobra.Command {
	a := &app{c}
	return append(cli.Anywhere(a.hookCommand()), cli.OnSpool(a.setupCommand(), a.journalCommand())...)
}
