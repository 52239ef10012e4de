package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/agent"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/wire"
)

// snapshotIDHelp says how a user names one snapshot, in every verb about one.
const snapshotIDHelp = "A SNAPSHOT is a whole id, or its last 8 or more digits where no other id ends in them."

func (a *app) snapshotCommand() *cobra.Command {
	verbs := []*cobra.Command{
		a.snapshotListCommand(), a.snapshotShowCommand(),
		a.snapshotVerifyCommand(), a.snapshotCheckCommand(), a.snapshotDiffCommand(), a.snapshotRestoreCommand(),
		a.snapshotDeleteCommand(), a.snapshotPinCommand(true), a.snapshotPinCommand(false),
		a.snapshotPruneCommand(), a.snapshotGCCommand(),
	}
	a.AddRepoFlag(verbs...)
	c := cli.Family("snapshot", "Take, check and restore snapshots of an agent",
		append([]*cobra.Command{a.snapshotCreateCommand()}, verbs...)...)
	a.AddIdentityFlag(c)
	c.Long = `A snapshot holds everything an agent is at one instant: its memories, sessions, turns
and loops, its control plane, its notes with their history, its state, and what the
crash journal has not yet drained. Data that two snapshots share is stored once.`
	return c
}

// withSnapshots opens the agent as far as the verb needs it, and its
// snapshots.
func (a *app) withSnapshots(cmd *cobra.Command, need cli.LiveAgent, fn func(ctx context.Context, s *cli.Opened, e cli.SnapshotEngine) error) error {
	// An empty name would mean the home's own repository, which a caller who gives --repo does not mean.
	if f := cmd.Flags().Lookup("repo"); f != nil && f.Changed && a.Access.Repository == "" {
		return cli.Usage("--repo is empty")
	}
	ctx := cmd.Context()
	s, err := a.OpenFrozen(ctx, need)
	if err != nil {
		return err
	}
	e, err := a.Snapshots(ctx, s)
	if err == nil {
		err = fn(ctx, s, e)
	}
	return errors.Join(err, s.Close())
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

// withSnapshot is withSnapshots for a verb about one snapshot: it finds out
// which one the argument names.
func (a *app) withSnapshot(cmd *cobra.Command, need cli.LiveAgent, arg string, fn func(ctx context.Context, s *cli.Opened, e cli.SnapshotEngine, ref wire.SnapshotRef) error) error {
	end, err := parseSnapshotEnd(arg)
	if err != nil {
		return err
	}
	return a.withSnapshots(cmd, need, func(ctx context.Context, s *cli.Opened, e cli.SnapshotEngine) error {
		id, err := agent.FindSnapshot(ctx, e, s.AllSnapshots(), end)
		if err != nil {
			return err
		}
		return fn(ctx, s, e, s.Ref(id))
	})
}

// parseSnapshotEnd checks an argument without touching a repository.
func parseSnapshotEnd(arg string) (agent.IDEnd, error) {
	end, err := agent.ParseIDEnd(arg)
	var wrong *amber.Error
	if errors.As(err, &wrong) {
		wrong.Op, wrong.Hint = "read snapshot id", "amber snapshot list"
	}
	return end, err
}

// eachSnapshot calls fn for every snapshot of the agent, newest first.
func eachSnapshot(ctx context.Context, s *cli.Opened, e cli.SnapshotEngine, fn func(wire.SnapshotMeta) error) error {
	return agent.EachSnapshot(ctx, e, s.AllSnapshots(), fn)
}
