package freeze

import (
	"github.com/spf13/cobra"

	"github.com/amber-memory/amber/cmd/amber/internal/cli"
)

func (a *app) repoCommand() *cobra.Command {
	recipients := a.repoRecipientsCommand()
	c := cli.Family("repo",
		a.repoAddCommand(), a.repoListCommand(), a.repoRemoveCommand(), a.repoCopyCommand(), recipients)
	a.AddIdentityFlag(c)
	return c
}
