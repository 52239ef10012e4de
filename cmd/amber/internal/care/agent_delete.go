package care

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/agent"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/base/words"
	"github.com/amber-memory/amber/internal/serve/backup"
	"github.com/amber-memory/amber/internal/serve/server"
	"github.com/amber-memory/amber/store/home"
)

// DeletedAgent is the JSON of agent delete.
type DeletedAgent struct {
	Tenant   amber.TenantID    `json:"tenant"`
	ID       amber.AgentID     `json:"id"`
	DryRun   bool              `json:"dry_run"`
	Memories *int64            `json:"memories"` // that go; null where they cannot be counted
	Bytes    *int64            `json:"bytes"`    // of its folder; null for one in a database
	Snapshot *amber.SnapshotID `json:"snapshot"` // the last one; null without it
	Remains  []string          `json:"remains"`  // copies that stay
}

func (a *app) agentDeleteCommand() *cobra.Command {
	var how deletion
	cmd := cli.Verb("delete", func(cmd *cobra.Command, args []string) error {
		return a.withAgent(cmd, "delete agent", args, func(ctx context.Context, h *home.Home, agent *home.Agent) error {
			info, there, err := a.describeAgent(ctx, agent)
			if err != nil {
				return err
			}
			if !there {
				return a.NoAgent(ctx, agent.Tenant(), agent.ID())
			}
			out, err := a.deleteOne(cmd, h, agent, info, how)
			if err != nil {
				return err
			}
			return a.Out.Show(out, func(w io.Writer) { a.printDeleted(w, out, how.noSnapshot) })
		})
	})
	cmd.Flags().BoolVar(&how.noSnapshot, "no-snapshot", false, "do not take a last snapshot")
	cli.AddPlanFlags(cmd, &how.yes, &how.dryRun, "tell what would be deleted and delete nothing")
	return cmd
}

// deletion says how agents are deleted.
type deletion struct{ yes, dryRun, noSnapshot bool }

// deleteOne deletes an agent that is there, or reports what would go with it.
func (a *app) deleteOne(cmd *cobra.Command, h *home.Home, agent *home.Agent, info AgentInfo, how deletion) (out DeletedAgent, err error) {
	out = DeletedAgent{Tenant: info.Tenant, ID: info.ID, Bytes: info.Bytes, DryRun: how.dryRun}
	if info.State == agentReady {
		if stats := a.statsOf(cmd.Context()); stats != nil {
			out.Memories = &stats.Memories
		}
	}
	if !how.dryRun {
		if err := a.Confirm(how.yes, "delete "+out.what()); err != nil {
			return out, err
		}
		if err := a.deleteAgent(cmd, how.noSnapshot || info.State == agentDeleting, &out); err != nil {
			return out, err
		}
	}
	remains, err := a.remainsOf(cmd, h, agent)
	out.Remains = append(remains, out.Remains...)
	return out, err
}

// deleteAgent deletes an agent, and what is kept about it beside its folder.
func (a *app) deleteAgent(cmd *cobra.Command, noSnapshot bool, out *DeletedAgent) error {
	return a.WithSnapshots(cmd, cli.MayBeAbsent, func(ctx context.Context, s *cli.Opened, _ cli.SnapshotEngine) error {
		done, err := cli.Working(a.App, "deleting", func() (agent.Deletion, error) { return s.Local.Delete(ctx, noSnapshot) })
		if err != nil {
			return withoutSnapshot(err, s.AgentID())
		}
		if done.Snapshot != nil {
			out.Snapshot = &done.Snapshot.ID
			a.WarnSkipped(done.Snapshot.Skipped, done.Snapshot.Warnings)
		}
		out.Remains = done.Kept
		for _, left := range done.Left {
			a.Out.Warn("not deleted: %s", left)
		}
		record := backup.In(s.Home.Dir()).Path(server.AgentName{Tenant: s.TenantID(), Agent: s.AgentID()})
		if err := fsx.RemoveAll(fsx.OS(), record); err != nil {
			a.Out.Warn("not deleted: %s: %v", record, err)
		}
		return nil
	})
}

// withoutSnapshot adds to an error about the last snapshot how to go on.
func withoutSnapshot(err error, id amber.AgentID) error {
	switch amber.KindOf(err) {
	case amber.KindDamaged, amber.KindRefused, amber.KindNotFound, amber.KindUnsupported:
		return &amber.Error{
			Op: "delete agent", ID: string(id), Kind: amber.KindOf(err), Err: err,
			Hint: fmt.Sprintf("amber agent delete %s --no-snapshot deletes it without a last snapshot", id),
		}
	}
	return err
}

// what names the agent and how much goes with it.
func (d DeletedAgent) what() string {
	text := "agent " + string(d.ID)
	if d.Memories != nil {
		text += " with " + words.Count(*d.Memories, "memory", "memories")
	}
	return text
}

// size says how large the folder is that goes.
func (d DeletedAgent) size() string {
	if d.Bytes == nil {
		return ", in the database"
	}
	return ", " + cli.ByteSize(*d.Bytes)
}

// remainsOf names the copies of an agent that a deletion does not reach.
func (a *app) remainsOf(cmd *cobra.Command, h *home.Home, agent *home.Agent) ([]string, error) {
	remains := []string{}
	n, _, err := a.countSnapshots(cmd, agent)
	if err != nil {
		return nil, err
	}
	if n > 0 {
		remains = append(remains, fmt.Sprintf("%s in the repository (amber --agent %s snapshot list)", words.Count(int64(n), "snapshot", "snapshots"), agent.ID()))
	}
	if files := bundlesOf(h, agent); len(files) > 0 {
		remains = append(remains, fmt.Sprintf("%s in %s", words.Count(int64(len(files)), "bundle", "bundles"), h.SnapshotsDir(agent.Tenant(), agent.ID())))
	}
	loaded, err := a.LoadConfig()
	if err == nil && loaded.Config.Vault.URL != "" {
		remains = append(remains, "backups in the vault at "+loaded.Config.Vault.URL+" (amber vault list)")
	}
	return remains, nil
}

func (a *app) printDeleted(w io.Writer, d DeletedAgent, noSnapshot bool) {
	if d.DryRun {
		cli.Wrapped(w, 4, "would delete %s%s", d.what(), d.size())
		if !noSnapshot {
			fmt.Fprintln(w, "would take a last snapshot first")
		}
	} else {
		cli.Wrapped(w, 4, "deleted %s", d.what())
		if d.Snapshot != nil {
			cli.Wrapped(w, 4, "its last snapshot is %s: amber --agent %s snapshot restore %s", cli.ShortID(string(*d.Snapshot)), d.ID, cli.ShortID(string(*d.Snapshot)))
		}
	}
	for _, text := range d.Remains {
		cli.Wrapped(w, 4, "remains: %s", cli.Flat(text))
	}
}
