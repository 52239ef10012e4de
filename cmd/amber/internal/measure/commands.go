// Package measure has the verbs that show and measure Amber: demo and eval.
package measure

import (
	"context"
	_ "embed"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber/cmd/amber/internal/cli"
)

//go:embed verbs.md
var verbs string // the words of the verbs

// app is the run, with the verbs of this package.
type app struct {
	*cli.App
	run Run
}

// Run executes a command line of this program in this process, and returns its exit code.
type Run func(ctx context.Context, args []string, w cli.World) int

// Commands returns the verbs. Run plays sessions in homes of its own.
func Commands(c *cli.App, run Run) []*cobra.Command {
	a := &app{c, run}
	return cli.Anywhere(cli.Describe(verbs, nil, a.demoCommand(), a.evalCommand())...)
}
