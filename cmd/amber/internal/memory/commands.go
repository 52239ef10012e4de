// Package memory has the verbs of memories, notes and projects: what an agent knows, and the questions to it.
package memory

import (
	_ "embed"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
)

//go:embed verbs.md
var verbs string // the words of the verbs

// app is the run, with the verbs of this package.
type app struct{ *cli.App }

// Commands returns the verbs.
func Commands(c *cli.App) []*cobra.Command {
	a := &app{c}
	ask := a.askCommand() // no server answers it
	all := cli.Describe(verbs, []string{"{max_neighbours}", fmt.Sprint(amber.MaxNeighbours)},
		a.rememberCommand(), a.recallCommand(), ask, a.getCommand(), a.editCommand(), a.historyCommand(), a.listCommand(),
		a.timelineCommand(), a.contextCommand(), a.blameCommand(), a.projectCommand(), a.statsCommand(), a.forgetCommand(),
		a.reviewCommand(), a.conceptCommand(), a.relationCommand(), a.noteCommand(),
	)
	_ = cli.Remotely(slices.DeleteFunc(slices.Clone(all), func(c *cobra.Command) bool { return c == ask })...)
	return all
}
