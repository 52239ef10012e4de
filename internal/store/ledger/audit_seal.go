package ledger

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/guard/audited"
	"github.com/amber-memory/amber/wire"
)

const (
	// It names its schema: it runs in transactions of agents.
	insertUnchained = `INSERT INTO amber_home.audit_unchained (at, tenant, agent, actor, action, subject, outcome, request_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`
	hasUnchained    = `SELECT EXISTS (SELECT 1 FROM audit_unchained)`
	takeUnchained   = `DELETE FROM audit_unchained WHERE id IN (SELECT id FROM audit_unchained ORDER BY id LIMIT ?)
RETURNING id, at, tenant, agent, actor, action, subject, outcome, request_id`
)

// The work that servers of one database share by leases, and how often entries are sealed.
const (
	WorkSeal  = "seal audit log"
	WorkRelay = "relay events"
	SealEvery = 100 * time.Millisecond
)

// Enter writes an entry of the audit log into the transaction of the change that the entry records,
// on PostgreSQL: there is no change without its entry. The entry gets its number and hashes from
// [DB.Seal]. Until then it is in no listing, and a verification reports the number of such entries.
func Enter(ctx context.Context, c audited.Conn, at amber.Time, e wire.AuditEntry) error {
	r := recordOf(e)
	return c.Later(ctx, insertUnchained, at.UnixMilli(), r.tenant, r.agent, r.actor, r.action, r.subject, r.outcome, r.requestID)
}

// Seal puts the entries that are not chained yet at the end of the chain, and returns how many they were. Several may seal at
// once. The fence is checked in each transaction. On SQLite every entry is chained from the beginning.
func (d *DB) Seal(ctx context.Context, fence Fence) (sealed int, err error) {
	if _, ok := d.engine.(*server); !ok {
		return 0, nil
	}
	waiting := false
	err = d.view(ctx, "seal audit log", "", func(t *tx) error { return t.row(hasUnchained).Scan(&waiting) })
	if err != nil || !waiting {
		return 0, err
	}
	for {
		n := 0
		err := d.update(ctx, "seal audit log", "", lockAudit, func(t *tx) (err error) {
			if err := fence.check(t); err != nil {
				return err
			}
			n, err = d.seal(t)
			return err
		})
		if err != nil {
			return sealed, err
		}
		if sealed += n; n < maxBatch {
			return sealed, nil
		}
	}
}

// sealAll chains everything that was entered before.
func (d *DB) sealAll(t *tx) error {
	if _, ok := d.engine.(*server); !ok {
		return nil
	}
	for {
		n, err := d.seal(t)
		if err != nil || n < maxBatch {
			return err
		}
	}
}

// seal chains one batch.
func (d *DB) seal(t *tx) (int, error) {
	type entry struct {
		id int64
		record
	}
	var batch []entry
	err := t.each(takeUnchained, []any{maxBatch}, func(s scanner) error {
		var e entry
		err := s.Scan(&e.id, &e.at, &e.tenant, &e.agent, &e.actor, &e.action, &e.subject, &e.outcome, &e.requestID)
		batch = append(batch, e)
		return err
	})
	if err != nil || len(batch) == 0 {
		return 0, err
	}
	slices.SortFunc(batch, func(a, b entry) int { return cmp.Compare(a.id, b.id) })
	records := make([]record, len(batch))
	for i, e := range batch {
		records[i] = e.record
	}
	_, err = d.chain(t, records)
	return len(records), err
}
