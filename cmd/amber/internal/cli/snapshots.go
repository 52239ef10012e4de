package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/agent"
	"github.com/amber-memory/amber/wire"
)

// WithSnapshots opens the agent as far as the verb needs it, and its
// snapshots.
func (a *App) WithSnapshots(cmd *cobra.Command, need LiveAgent, fn func(ctx context.Context, s *Opened, e SnapshotEngine) error) error {
	// An empty name would mean the home's own repository, which a caller who gives --repo does not mean.
	if f := cmd.Flags().Lookup("repo"); f != nil && f.Changed && a.Access.Repository == "" {
		return Usage("--repo is empty")
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

// WithSnapshot is WithSnapshots for a verb about one snapshot: it finds out
// which one the argument names.
func (a *App) WithSnapshot(cmd *cobra.Command, need LiveAgent, arg string, fn func(ctx context.Context, s *Opened, e SnapshotEngine, ref wire.SnapshotRef) error) error {
	end, err := ParseSnapshotEnd(arg)
	if err != nil {
		return err
	}
	return a.WithSnapshots(cmd, need, func(ctx context.Context, s *Opened, e SnapshotEngine) error {
		id, err := agent.FindSnapshot(ctx, e, s.AllSnapshots(), end)
		if err != nil {
			return err
		}
		return fn(ctx, s, e, s.Ref(id))
	})
}

// ParseSnapshotEnd checks an argument without touching a repository.
func ParseSnapshotEnd(arg string) (agent.IDEnd, error) {
	end, err := agent.ParseIDEnd(arg)
	var wrong *amber.Error
	if errors.As(err, &wrong) {
		wrong.Op, wrong.Hint = "read snapshot id", "amber snapshot list"
	}
	return end, err
}

// EachSnapshot calls fn for every snapshot of the agent, newest first.
func EachSnapshot(ctx context.Context, s *Opened, e SnapshotEngine, fn func(wire.SnapshotMeta) error) error {
	return agent.EachSnapshot(ctx, e, s.AllSnapshots(), fn)
}
