package freeze

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/wire"
)

func (a *app) snapshotCommand() *cobra.Command {
	verbs := []*cobra.Command{
		a.snapshotListCommand(), a.snapshotShowCommand(),
		a.snapshotVerifyCommand(), a.snapshotCheckCommand(), a.snapshotDiffCommand(), a.snapshotRestoreCommand(),
		a.snapshotDeleteCommand(), a.snapshotPinCommand("pin", true), a.snapshotPinCommand("unpin", false),
		a.snapshotPruneCommand(), a.snapshotGCCommand(),
	}
	a.AddRepoFlag(verbs...)
	c := cli.Family("snapshot",
		append([]*cobra.Command{a.snapshotCreateCommand()}, verbs...)...)
	a.AddIdentityFlag(c)
	return c
}

// known refuses an agent that has neither a folder nor a snapshot: a typing
// error must not look like a clean slate. Whether one that is served elsewhere
// has a folder cannot be asked without making it.
func (a *app) known(ctx context.Context, s *cli.Opened, e cli.SnapshotEngine) error {
	if s.Remote != nil {
		return nil
	}
	_, err := s.Agent.Current()
	if amber.KindOf(err) != amber.KindNotFound {
		return nil
	}
	if there, err := a.IsThere(ctx, s.Agent); there || err != nil {
		return err
	}
	page, lerr := e.ListSnapshots(ctx, wire.SnapshotQuery{Tenant: s.TenantID(), Agent: s.AgentID(), Limit: 1})
	if lerr != nil || len(page.Items) > 0 {
		return lerr
	}
	return a.NoAgent(ctx, s.TenantID(), s.AgentID())
}

// confirmed runs what a command is about. Unless that is a dry run, it shows
// the plan to a person first, who is asked what show returns, or nothing for "".
func confirmed[R any](a *app, yes, dryRun bool, what string, run func(dryRun bool) (R, error), show func(plan R) string) (report R, err error) {
	if dryRun {
		return run(true)
	}
	err = a.ConfirmPlan(yes, what, func() (string, error) {
		plan, err := run(true)
		if err != nil {
			return "", err
		}
		return show(plan), nil
	})
	if err != nil {
		return report, err
	}
	return run(false)
}
