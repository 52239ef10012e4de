package freeze

import (
	"github.com/spf13/cobra"

	"github.com/amber-memory/amber/cmd/amber/internal/cli"
)

func (a *app) repoCommand() *cobra.Command {
	recipients := a.repoRecipientsCommand()
	c := cli.Family("repo", "Keep snapshots in other places, too, and decide who can read them",
		a.repoAddCommand(), a.repoListCommand(), a.repoRemoveCommand(), a.repoCopyCommand(), recipients)
	c.Long = `The snapshots of a tenant lie in its repository, a folder in the home. Other repositories,
a folder on another disk or a bucket of an object store, are added under a name. Then repo copy
copies snapshots there or back, and snapshot verbs with --repo NAME work there.`
	a.AddIdentityFlag(c)
	return c
}
