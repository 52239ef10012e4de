// Package serve has the verbs of servers: serve, ui and mcp, the tokens they ask for and the audit log they write.
package serve

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
	return cli.Describe(verbs, nil, slices.Concat(
		[]*cobra.Command{a.serveCommand(), a.uiCommand()}, cli.ThroughServer(a.mcpCommand()), cli.Remotely(a.tokenCommand(), a.auditCommand()),
	)...)
}
