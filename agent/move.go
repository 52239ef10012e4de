package agent

import (
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/internal/base/events"
	"github.com/amber-memory/amber/internal/freeze/move"
	"github.com/amber-memory/amber/wire"
)

// sqliteBackend is the backend of agents that live in the folders of a home.
const sqliteBackend = "sqlite"

// labelBeforeMove is that of the snapshot before an agent leaves its home.
const labelBeforeMove = "auto:pre-move"

// Moved says what became of an agent that was moved.
type Moved struct {
	move.Report
	Snapshot *wire.SnapshotMeta // of the agent as it was; nil where none was taken
}

// mover opens the database and returns both ends of a move. The agent's own store stays closed. Errors: unsupported for another backend than
// sqlite and postgres; those of [Agent.Database].
func (a *Agent) mover(ctx context.Context) (o move.Options, done func() error, err error) {
	if b := a.config.Memory.Backend; b != sqliteBackend && b != config.PostgresBackend {
		return o, nil, amber.Errorf(amber.KindUnsupported, "move agent", "memory.backend", "memory.backend is %s, and agents move between %s and %s alone", b, sqliteBackend, config.PostgresBackend)
	}
	address, err := a.DatabaseOptions()
	if err != nil {
		return o, nil, err
	}
	server, done, err := a.Database(ctx)
	if err != nil {
		return o, nil, err
	}
	return move.Options{
		Server: server, Place: placeOf(address.DSN), Home: a.home, Agent: a.folder, Clock: a.o.Clock, Random: a.o.Random, Progress: a.o.Progress,
		Carry: a.carryCursors,
	}, done, nil
}

// carryCursors brings along how far the change logs of the agent were published, so that a server at the other end leaves nothing out. Where
// this end has never published, what the other one knows of an earlier time stays good.
func (a *Agent) carryCursors(ctx context.Context, to move.To) (err error) {
	if a.config.DSNFileOf("") == "" {
		return nil // no server has a ledger there
	}
	shared, err := ledgers{a}.shared(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, shared.Close()) }()
	for _, log := range events.Logs {
		var from, into events.CursorStore = events.AgentCursor(a.folder.Dir(), log), shared.Cursor(a.Tenant(), a.ID(), log, nil)
		if to == move.SQLite {
			from, into = into, from
		}
		at, found, err := from.Load(ctx)
		if amber.KindOf(err) == amber.KindDamaged {
			continue // publishing begins at the end of the log where the cursor is removed, as its hint says
		}
		if err == nil && found {
			err = into.Save(ctx, at)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// placeOf names a database without user and password.
func placeOf(dsn string) string {
	c, err := pgconn.ParseConfig(dsn)
	if err != nil {
		return "the PostgreSQL database"
	}
	hosts := []string{c.Host}
	for _, f := range c.Fallbacks {
		if hosts[len(hosts)-1] != f.Host {
			hosts = append(hosts, f.Host)
		}
	}
	return "the PostgreSQL database " + c.Database + " on " + strings.Join(hosts, ", ")
}

// withMover runs fn with both ends of a move.
func withMover[T any](ctx context.Context, a *Agent, fn func(move.Options) (T, error)) (out T, err error) {
	o, done, err := a.mover(ctx)
	if err != nil {
		return out, err
	}
	out, err = fn(o)
	return out, errors.Join(err, done())
}

// PlanMove returns what [Agent.Move] would take along. Errors: those of [move.Look].
func (a *Agent) PlanMove(ctx context.Context, to move.To) (move.Plan, error) {
	return withMover(ctx, a, func(o move.Options) (move.Plan, error) { return move.Look(ctx, o, to) })
}

// Move moves the agent to the database, or from there to its folder in this home. A snapshot of an agent that leaves its home is taken
// first, unless noSnapshot is set or the configuration takes none before a restore. The agent's own store must be closed. Errors: those
// of [move.Run] and of the snapshot.
func (a *Agent) Move(ctx context.Context, to move.To, noSnapshot bool) (Moved, error) {
	return withMover(ctx, a, func(o move.Options) (out Moved, err error) {
		if err := move.Check(ctx, o, to); err != nil {
			return out, err
		}
		if to == move.SQLite {
			_, err = a.Make()
		} else {
			out.Snapshot, err = a.readyToLeave(ctx, noSnapshot)
		}
		if err == nil {
			out.Report, err = move.Run(ctx, o, to)
		}
		if err == nil && to == move.SQLite {
			_ = a.removeCopy(ctx) // the copy has no use any more; ForgetMove reports where it cannot be removed
		}
		return out, err
	})
}

// readyToLeave brings the files of the agent to the newest schema and its notes into the index, and takes a snapshot.
func (a *Agent) readyToLeave(ctx context.Context, noSnapshot bool) (taken *wire.SnapshotMeta, err error) {
	c := a.config
	c.Memory.Backend = sqliteBackend
	o := a.o
	o.Config = &c
	local, err := Open(ctx, o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, local.Close()) }()
	if err := local.FollowNotes(ctx); err != nil {
		return nil, err
	}
	if noSnapshot || !c.Snapshot.Enabled || !c.Snapshot.Auto.BeforeRestore {
		return nil, nil
	}
	meta, err := local.Snapshot(ctx, wire.SnapshotRequest{Label: labelBeforeMove})
	if err != nil {
		return nil, err
	}
	return &meta, nil
}

// ResumeMove comes to the end of a move that was interrupted. Errors: those of [move.Resume].
func (a *Agent) ResumeMove(ctx context.Context) (move.Report, error) {
	return withMover(ctx, a, func(o move.Options) (move.Report, error) { return move.Resume(ctx, o) })
}

// UndoMove brings back what was before a move that was interrupted. Errors: those of [move.Undo].
func (a *Agent) UndoMove(ctx context.Context) (move.Report, error) {
	return withMover(ctx, a, func(o move.Options) (move.Report, error) { return move.Undo(ctx, o) })
}

// MoveKeeps names what [Agent.ForgetMove] would erase. Errors: those of [move.Keeps].
func (a *Agent) MoveKeeps(ctx context.Context) (string, error) {
	return withMover(ctx, a, func(o move.Options) (string, error) { return move.Keeps(ctx, o) })
}

// ForgetMove erases what a move has kept where the agent was, and with rows the copy that snapshots of them have made on this machine. Errors:
// those of [move.Forget].
func (a *Agent) ForgetMove(ctx context.Context) (move.Report, error) {
	return withMover(ctx, a, func(o move.Options) (move.Report, error) {
		r, err := move.Forget(ctx, o)
		if err == nil && r.To == move.SQLite {
			err = a.removeCopy(ctx)
		}
		return r, err
	})
}
