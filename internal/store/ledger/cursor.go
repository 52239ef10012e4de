package ledger

import (
	"context"
	"database/sql"
	"errors"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/events"
)

const (
	selectCursor = `SELECT position FROM cursors WHERE tenant = ? AND agent = ? AND log = ?`
	saveCursor   = `INSERT INTO cursors (tenant, agent, log, position) VALUES (?, ?, ?, ?) ON CONFLICT (tenant, agent, log) DO UPDATE SET position = excluded.position`

	logSince = "since" // of no agent
)

// cursor is how far a change log was published, for all servers of a database.
type cursor struct {
	d      *DB
	tenant amber.TenantID
	agent  amber.AgentID
	log    string
	fence  Fence
}

var _ events.CursorStore = cursor{}

// Cursor returns how far a change log of an agent was published, on PostgreSQL. It is only moved while the fence allows it.
func (d *DB) Cursor(tenant amber.TenantID, agent amber.AgentID, log string, fence Fence) events.CursorStore {
	return cursor{d, tenant, agent, log, fence}
}

// Load implements [events.CursorStore].
func (c cursor) Load(ctx context.Context) (p amber.Position, found bool, err error) {
	err = c.d.view(ctx, "read cursor", string(c.agent), func(t *tx) error {
		err := t.row(selectCursor, string(c.tenant), string(c.agent), c.log).Scan((*string)(&p))
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		found = err == nil
		return err
	})
	return p, found, err
}

// Save implements [events.CursorStore].
func (c cursor) Save(ctx context.Context, p amber.Position) error {
	return c.d.update(ctx, "save cursor", string(c.agent), lockCursor, func(t *tx) error {
		if err := c.fence.check(t); err != nil {
			return err
		}
		_, err := t.exec(saveCursor, string(c.tenant), string(c.agent), c.log, string(p))
		return err
	})
}

// PublishedSince is when the servers of a database began to publish changes: now where none did, on PostgreSQL. Errors: damaged.
func (d *DB) PublishedSince(ctx context.Context, now amber.Time) (since amber.Time, err error) {
	const op = "read when events began"
	err = d.update(ctx, op, "", lockCursor, func(t *tx) error {
		var text string
		err := t.row(selectCursor, "", "", logSince).Scan(&text)
		if errors.Is(err, sql.ErrNoRows) {
			since = now
			_, err = t.exec(saveCursor, "", "", logSince, now.String())
			return err
		}
		if err != nil {
			return err
		}
		if since, err = amber.ParseTime(text); err != nil {
			return amber.Errorf(amber.KindDamaged, op, d.engine.name(), "the time at which events began is %q, want a time", text)
		}
		return nil
	})
	return since, err
}
