// Package session has the verbs of sessions, turns, compactions, suspended loops and the state of an agent.
package session

import (
	"github.com/spf13/cobra"

	"github.com/amber-memory/amber/cmd/amber/internal/cli"
)

// app is the run, with the verbs of this package.
type app struct{ *cli.App }

// Commands returns the verbs.
func Commands(c *cli.App) []*cobra.Command {
	a := &app{c}
	return cli.Remotely(a.sessionCommand(), a.turnCommand(), a.compactionCommand(), a.loopCommand(), a.stateCommand())
}
