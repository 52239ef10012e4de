package agent

import (
	"context"
	"errors"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/move"
	"github.com/amber-memory/amber/internal/freeze/snapshot"
	"github.com/amber-memory/amber/internal/store/postgres"
	"github.com/amber-memory/amber/internal/store/postgres/mirror"
	"github.com/amber-memory/amber/store/sqlite"
	"github.com/amber-memory/amber/wire"
)

// Deletion says what became of an agent that was deleted.
type Deletion struct {
	Snapshot *wire.SnapshotMeta // the last one, which holds the agent as it was; nil without one
	Left     []string           // what could not be removed, and why
	Kept     []string           // what a database keeps of it for a while
}

// Delete deletes the agent for good: its store, notes, state and journal, and what
// a server keeps about it. A last snapshot is taken first unless noSnapshot is set.
// Snapshots, bundles and backups stay. The agent's own store must be closed. Errors:
// those of [snapshot.Engine.DeleteAgent]; unsupported where another engine stands in
// for that of the home. Where agents live in a database it is that one's rows and the folder
// of this machine; errors are those of [mirror.Delete].
func (a *Agent) Delete(ctx context.Context, noSnapshot bool) (Deletion, error) {
	if a.config.OnPostgres() {
		return deletion{a}.run(ctx, noSnapshot)
	}
	e, err := a.Snapshots(ctx)
	if err != nil {
		return Deletion{}, err
	}
	engine, ok := e.(interface {
		DeleteAgent(ctx context.Context, tenant amber.TenantID, id amber.AgentID, noSnapshot bool) (snapshot.AgentDeletion, error)
	})
	if !ok {
		return Deletion{}, amber.Errorf(amber.KindUnsupported, "delete agent", string(a.ID()), "the engine of snapshots deletes no agents")
	}
	done, err := engine.DeleteAgent(ctx, a.Tenant(), a.ID(), noSnapshot)
	if err != nil {
		return Deletion{}, err
	}
	return Deletion{Snapshot: done.Snapshot, Left: append(a.ForgetAnswers(ctx), vikingSide{a}.left()...)}, nil
}

// deleteTries is how often others may write while the last snapshot is taken.
const deleteTries = 3

// deletion is an agent of a database that is being deleted.
type deletion struct{ a *Agent }

// run deletes an agent that lives in a database, and what this machine has of it.
func (d deletion) run(ctx context.Context, noSnapshot bool) (out Deletion, err error) {
	server, done, err := d.a.Database(ctx)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, done()) }()
	there, err := server.Has(ctx, d.a.Tenant(), d.a.ID())
	if err != nil {
		return out, err
	}
	elsewhere, err := server.KeptElsewhere(ctx, d.a.Tenant(), d.a.ID(), move.HomePlace(d.a.home))
	if err != nil {
		return out, err
	}
	rows := mirror.Agent{Server: server, Tenant: d.a.Tenant(), ID: d.a.ID()}
	if there && !noSnapshot {
		err = d.afterSnapshot(ctx, rows, &out)
	} else {
		err = mirror.Delete(ctx, rows, "")
	}
	if err != nil && (amber.KindOf(err) != amber.KindNotFound || d.checkFolder() != nil) {
		return out, err
	}
	out.Left = append(append(d.dropFolder(ctx), d.dropCopy(ctx)...), d.a.ForgetAnswers(ctx)...)
	out.Kept = append(append(postgres.Kept(), elsewhere...), copiesElsewhere, "crash journals of other machines: what hooks have written there brings an agent of this name back when it is drained")
	return out, nil
}

// checkFolder is an error where this machine has nothing of an agent that is not in the database.
func (d deletion) checkFolder() error {
	if exists, err := d.a.folder.Exists(); (exists || err != nil || d.a.folder.Deleting()) && !sqlite.IsHere(d.a.folder) {
		return nil
	}
	return amber.Errorf(amber.KindNotFound, "delete agent", string(d.a.ID()), "the agent does not exist")
}

// afterSnapshot deletes the rows of an agent once a snapshot holds all of them.
func (d deletion) afterSnapshot(ctx context.Context, rows mirror.Agent, out *Deletion) error {
	if err := d.settleAll(ctx); err != nil {
		return err
	}
	engine, err := d.a.Snapshots(ctx)
	if err != nil {
		return err
	}
	for range deleteTries {
		seen, err := mirror.Look(ctx, rows)
		if err != nil {
			return err
		}
		meta, err := engine.Snapshot(ctx, wire.SnapshotRequest{Tenant: d.a.Tenant(), Agent: d.a.ID(), Label: wire.LabelBeforeDelete})
		if err != nil {
			return err
		}
		if len(meta.Skipped) > 0 {
			return amber.Errorf(amber.KindRefused, "delete agent", string(d.a.ID()), "the last snapshot, %s, does not hold all of the agent: %d parts were left out", short(meta.ID), len(meta.Skipped))
		}
		if err = mirror.Delete(ctx, rows, seen); amber.KindOf(err) != amber.KindConflict {
			out.Snapshot = &meta
			return err
		}
	}
	return amber.Errorf(amber.KindBusy, "delete agent", string(d.a.ID()), "others wrote to the agent while its last snapshot was taken, %d times", deleteTries).
		WithHint("stop those who write to it, and try again")
}

// settleAll brings what the crash journal of this machine holds into the rows.
func (d deletion) settleAll(ctx context.Context) error {
	o := d.a.o
	o.Config = &d.a.config
	live, err := Open(ctx, o)
	if err != nil {
		return err
	}
	left := live.Settle(ctx)
	if err := live.Close(); err != nil {
		return err
	}
	if len(left) > 0 {
		return amber.Errorf(amber.KindRefused, "delete agent", string(d.a.ID()), "the crash journal was not brought in: %s", strings.Join(left, "; "))
	}
	return nil
}

// dropCopy removes the copy that snapshots of the agent have made on this machine, and says why where it cannot.
func (d deletion) dropCopy(ctx context.Context) []string {
	if err := d.a.removeCopy(ctx); err != nil {
		return []string{"the copy for snapshots in the cache of this machine: " + err.Error()}
	}
	return nil
}

// dropFolder removes the folder that this machine has of an agent in a database, and says why where it
// cannot.
func (d deletion) dropFolder(ctx context.Context) []string {
	if sqlite.IsHere(d.a.folder) {
		return []string{"the folder " + d.a.folder.Dir() + ": the memory in it is that of another agent of this name, which is not in the database"}
	}
	err := d.a.folder.Operate(ctx, func() error { return d.a.folder.Delete(ctx, nil) })
	if err != nil && amber.KindOf(err) != amber.KindNotFound {
		return []string{"the folder " + d.a.folder.Dir() + ": " + err.Error()}
	}
	return nil
}
