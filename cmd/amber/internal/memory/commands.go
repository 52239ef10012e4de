// Package memory has the verbs of memories, notes and projects: what an agent knows, and the questions to it.
package memory

import (
	"github.com/spf13/cobra"

	"github.com/amber-memory/amber/cmd/amber/internal/cli"
)

// app is the run, with the verbs of this package.
type app struct{ *cli.App }

// Commands returns the verbs.
func Commands(c *cli.App) []*cobra.Command {
	a := &app{c}
	return cli.Remotely(
		a.rememberCommand(), a.recallCommand(), a.getCommand(), a.editCommand(), a.historyCommand(), a.listCommand(),
		a.timelineCommand(), a.contextCommand(), a.blameCommand(), a.projectCommand(), a.statsCommand(), a.forgetCommand(),
		a.reviewCommand(), a.conceptCommand(), a.relationCommand(), a.noteCommand(),
	)
}
