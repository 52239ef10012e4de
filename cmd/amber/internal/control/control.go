// Package control holds the verbs of the control plane: tasks, their events,
// approvals and results, and queues.
package control

import (
	"github.com/spf13/cobra"

	"github.com/amber-memory/amber/cmd/amber/internal/cli"
)

// app is the run, with the verbs of this package.
type app struct{ *cli.App }

// Commands are the families of this package.
func Commands(c *cli.App) []*cobra.Command {
	a := &app{c}
	return []*cobra.Command{a.taskCommand(), a.eventCommand(), a.approvalCommand(), a.resultCommand(), a.queueCommand()}
}
