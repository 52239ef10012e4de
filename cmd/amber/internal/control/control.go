// Package control holds the verbs of the control plane: tasks, their events,
// approvals and results, and queues.
package control

import (
	_ "embed"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber/cmd/amber/internal/cli"
)

//go:embed verbs.md
var verbs string // the words of the verbs

// app is the run, with the verbs of this package.
type app struct{ *cli.App }

// Commands are the families of this package.
func Commands(c *cli.App) []*cobra.Command {
	a := &app{c}
	return cli.Describe(verbs, nil, a.taskCommand(), a.eventCommand(), a.approvalCommand(), a.resultCommand(), a.queueCommand())
}
