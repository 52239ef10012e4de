// Package session has the verbs of sessions, turns, compactions, suspended loops and the state of an agent.
package session

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
	return cli.Remotely(cli.Describe(verbs, nil, a.sessionCommand(), a.turnCommand(), a.compactionCommand(), a.loopCommand(), a.stateCommand())...)
}
