package sqlite

import (
	"context"

	"github.com/amber-memory/amber"
)

const (
	relationColumns = `id, from_id, to_id, type, strength, device, counter, clock, created_at, coalesce(deleted_at, 0)`

	selectRelation        = `SELECT ` + relationColumns + ` FROM relations WHERE id = ?`
	selectRelationBetween = `SELECT ` + relationColumns + ` FROM relations WHERE from_id = ? AND to_id = ? AND type = ?`
	upsertRelation        = `INSERT INTO relations (id, from_id, to_id, type, strength, device, counter, clock, created_at, deleted_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, nullif(?, 0))
ON CONFLICT (id) DO UPDATE SET strength = excluded.strength, device = excluded.device, counter = excluded.counter,
 clock = excluded.clock, deleted_at = excluded.deleted_at`
	// selectRelated asks each end through its own index.
	selectRelated = `SELECT ` + relationColumns + ` FROM relations
WHERE (from_id = ?1 OR to_id = ?1) AND deleted_at IS NULL ORDER BY created_at, id`

	selectDigest     = `SELECT content_digest FROM memories WHERE id = ?`
	selectLiveDigest = `SELECT content_digest FROM memories WHERE id = ? AND deleted_at IS NULL`
)

var _ amber.Relations = (*Store)(nil)

// Relate implements [amber.Relations].
func (s *Store) Relate(ctx context.Context, r amber.Relation) (related amber.Relation, err error) {
	r, err = r.Normalize()
	if err != nil {
		return related, err
	}
	err = s.memory.update(ctx, "relate memories", "", func(t *tx) error {
		related, err = t.relate(r)
		return err
	})
	return related, err
}

func (t *tx) relate(r amber.Relation) (amber.Relation, error) {
	digest, err := t.liveDigest("relate memories", r.From)
	if err != nil {
		return r, err
	}
	if _, err := t.liveDigest("relate memories", r.To); err != nil {
		return r, err
	}
	prev, err := scanRelation(t.row(selectRelationBetween, r.From, r.To, r.Type))
	if absent(err) {
		prev = amber.Relation{CreatedAt: t.now}
		prev.ID, err = t.newID()
	}
	if err != nil {
		return r, err
	}
	next := amber.Relation{
		ID: prev.ID, From: r.From, To: r.To, Type: r.Type, Strength: r.Strength,
		Origin: t.origin(prev.Origin.Counter + 1), CreatedAt: prev.CreatedAt,
	}
	if err := t.putRelation(next); err != nil {
		return next, err
	}
	return next, t.logBeside(r.From, digest)
}

// Unrelate implements [amber.Relations].
func (s *Store) Unrelate(ctx context.Context, id string) error {
	return s.memory.update(ctx, "unrelate memories", id, func(t *tx) error {
		r, err := scanRelation(t.row(selectRelation, id))
		if absent(err) || err == nil && !r.DeletedAt.IsZero() {
			err = notFound("unrelate memories", id)
		}
		if err != nil {
			return err
		}
		r.DeletedAt, r.Origin = t.now, t.origin(r.Origin.Counter+1)
		if err := t.putRelation(r); err != nil {
			return err
		}
		var digest string // also of a memory that was deleted since
		if err := t.row(selectDigest, r.From).Scan(&digest); err != nil {
			return err
		}
		return t.logBeside(r.From, digest)
	})
}

// Related implements [amber.Relations].
func (s *Store) Related(ctx context.Context, id amber.MemoryID) (out []amber.Relation, err error) {
	err = s.memory.view(ctx, "read relations", string(id), func(t *tx) error {
		if _, err := t.liveDigest("read relations", id); err != nil {
			return err
		}
		out, err = readRows(t, "relations", scanRelation, selectRelated, id)
		return err
	})
	return out, err
}

func (t *tx) putRelation(r amber.Relation) error {
	_, err := t.exec(upsertRelation, r.ID, r.From, r.To, r.Type, r.Strength,
		r.Origin.Device, int64(r.Origin.Counter), r.Origin.Clock, r.CreatedAt.UnixMilli(), r.DeletedAt.UnixMilli())
	return err
}

// liveDigest returns the digest of a live memory's content, or not_found.
func (t *tx) liveDigest(op string, id amber.MemoryID) (digest string, err error) {
	err = t.row(selectLiveDigest, id).Scan(&digest)
	if absent(err) {
		err = notFound(op, string(id))
	}
	return digest, err
}

// logBeside logs a change of what hangs on a memory: its content stays.
func (t *tx) logBeside(id amber.MemoryID, digest string) error {
	return t.log(change{amber.OpUpdate, amber.ChangeMemory, string(id), digest, digest})
}

func scanRelation(s scanner) (amber.Relation, error) {
	var r amber.Relation
	var createdAt, deletedAt int64
	err := s.Scan(&r.ID, &r.From, &r.To, &r.Type, &r.Strength,
		&r.Origin.Device, &r.Origin.Counter, &r.Origin.Clock, &createdAt, &deletedAt)
	r.CreatedAt, r.DeletedAt = amber.UnixMilli(createdAt), amber.UnixMilli(deletedAt)
	if err == nil {
		err = fitOrigin("relations", r.ID, r.Origin)
	}
	if err != nil {
		return r, err
	}
	return r, fit("relations", r.ID, nil, []int64{createdAt, deletedAt})
}
