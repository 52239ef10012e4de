package ledger

import (
	"context"
	"fmt"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/guard/audited"
	"github.com/amber-memory/amber/wire"
)

const (
	// It names its schema: it runs in transactions of agents.
	insertAway = `INSERT INTO amber_home.audit_away (at, tenant, agent, actor, action, subject, outcome, request_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`
	selectAway = `SELECT CAST(id AS TEXT), at, tenant, agent, actor, action, subject, outcome, request_id FROM audit_away ORDER BY ordinal LIMIT ?`
	countAway  = `SELECT count(*) FROM audit_away`
	deleteAway = `DELETE FROM audit_away WHERE id = CAST(? AS uuid)`
	selectSelf = `SELECT CAST(id AS TEXT) FROM amber_meta.identity`

	// An entry that was brought before is not brought again.
	insertCarried = `WITH fresh AS (INSERT INTO audit_carried (origin, id) VALUES (CAST(?1 AS uuid), CAST(?2 AS uuid)) ON CONFLICT DO NOTHING RETURNING 1)
INSERT INTO audit_unchained (at, tenant, agent, actor, action, subject, outcome, request_id)
SELECT CAST(?3 AS int8), CAST(?4 AS text), CAST(?5 AS text), CAST(?6 AS text), CAST(?7 AS text), CAST(?8 AS text), CAST(?9 AS text), CAST(?10 AS text) FROM fresh`
	deleteCarried = `DELETE FROM audit_carried WHERE origin = CAST(? AS uuid)`
)

// WorkCarry begins the name of the work of carrying entries from one database; its id follows.
const WorkCarry = "carry audit log"

// EnterAway is [Enter] for a change in a database that is a tenant's own, which has no chain: [DB.Carry] brings the entry to the one that has.
func EnterAway(ctx context.Context, c audited.Conn, at amber.Time, e wire.AuditEntry) error {
	r := recordOf(e)
	return c.Later(ctx, insertAway, at.UnixMilli(), r.tenant, r.agent, r.actor, r.action, r.subject, r.outcome, r.requestID)
}

// away is an entry that lies in another database.
type away struct {
	id string
	record
}

// Carry brings what was entered with [EnterAway] in another database to this one, each entry once, whatever is cut off when: it is noted here with
// the entry that it was brought, until it is gone there. It returns how many it brought. One at a time may carry from a database, which the fence, of a lease in this one, must say.
func (d *DB) Carry(ctx context.Context, from *DB, fence Fence) (carried int, err error) {
	for {
		origin, batch, err := from.readAway(ctx)
		if err != nil {
			return carried, err
		}
		if len(batch) == 0 {
			if carried > 0 { // nothing of it is there any more
				err = d.update(ctx, "carry audit log", "", lockAudit, func(t *tx) error {
					if err := fence.check(t); err != nil {
						return err
					}
					_, err := t.exec(deleteCarried, origin)
					return err
				})
			}
			return carried, err
		}
		if err := d.bring(ctx, origin, batch, fence); err != nil {
			return carried, err
		}
		err = from.update(ctx, "carry audit log", "", lockAudit, func(t *tx) error {
			return t.later(deleteAway, batch, func(e away) []any { return []any{e.id} })
		})
		if err != nil {
			return carried, err
		}
		carried += len(batch)
	}
}

// readAway reads entries that wait to be carried, and the id of the database.
func (d *DB) readAway(ctx context.Context) (origin string, batch []away, err error) {
	err = d.view(ctx, "carry audit log", "", func(t *tx) error {
		if err := t.row(selectSelf).Scan(&origin); err != nil {
			return err
		}
		return t.each(selectAway, []any{maxBatch}, func(s scanner) error {
			var e away
			err := s.Scan(&e.id, &e.at, &e.tenant, &e.agent, &e.actor, &e.action, &e.subject, &e.outcome, &e.requestID)
			batch = append(batch, e)
			return err
		})
	})
	return origin, batch, err
}

// bring writes entries of another database to those that wait to be chained.
func (d *DB) bring(ctx context.Context, origin string, batch []away, fence Fence) error {
	return d.update(ctx, "carry audit log", "", lockAudit, func(t *tx) error {
		if err := fence.check(t); err != nil {
			return err
		}
		return t.later(insertCarried, batch, func(e away) []any {
			return []any{origin, e.id, e.at, e.tenant, e.agent, e.actor, e.action, e.subject, e.outcome, e.requestID}
		})
	})
}

// later runs a statement for each entry, many in one message.
func (t *tx) later(query string, batch []away, args func(away) []any) error {
	c, ok := t.conn.(audited.Conn)
	if !ok {
		return fmt.Errorf("the transaction is one of %T, want one of PostgreSQL", t.conn)
	}
	for _, e := range batch {
		if err := c.Later(t.ctx, query, args(e)...); err != nil {
			return err
		}
	}
	return nil
}

// Away is how many entries wait in this database to be carried to another one.
func (d *DB) Away(ctx context.Context) (n int64, err error) {
	if _, ok := d.engine.(*server); !ok {
		return 0, nil
	}
	err = d.view(ctx, "count audit log", "", func(t *tx) error { return t.row(countAway).Scan(&n) })
	return n, err
}
