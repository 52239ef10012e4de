package sqlcore

import (
	"context"
	"encoding/json"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/sqlrows"
	"github.com/amber-memory/amber/wire"
)

const (
	selectRelationBetween = `SELECT ` + sqlrows.RelationColumns + ` FROM relations WHERE from_id = ? AND to_id = ? AND type = ?`
	// selectRelated asks each end through its own index.
	selectRelated = `SELECT ` + sqlrows.RelationColumns + ` FROM relations
WHERE (from_id = ?1 OR to_id = ?1) AND deleted_at IS NULL ORDER BY created_at, id`
	// selectRelatedSome does the same and stops at a limit, so it cannot sort.
	selectRelatedSome = `SELECT ` + sqlrows.RelationColumns + ` FROM relations
WHERE from_id = ?1 AND deleted_at IS NULL AND (?2 = '' OR type IN (SELECT value FROM json_each(?2)))
UNION ALL SELECT ` + sqlrows.RelationColumns + ` FROM relations
WHERE to_id = ?1 AND deleted_at IS NULL AND (?2 = '' OR type IN (SELECT value FROM json_each(?2))) LIMIT ?3`
)

var _ amber.Relations = (*Contracts)(nil)

// Relate implements [amber.Relations].
func (s *Contracts) Relate(ctx context.Context, r amber.Relation) (related amber.Relation, err error) {
	r, err = r.Normalize()
	if err != nil {
		return related, err
	}
	return update(ctx, s.memory, "relate memories", "", func(t *Tx) (amber.Relation, error) { return t.relate(r) })
}

func (t *Tx) relate(r amber.Relation) (amber.Relation, error) {
	digest, err := t.LiveDigest("relate memories", r.From)
	if err != nil {
		return r, err
	}
	if _, err := t.LiveDigest("relate memories", r.To); err != nil {
		return r, err
	}
	prev, err := sqlrows.ScanRelation(t.Row(selectRelationBetween, r.From, r.To, r.Type))
	if sqlrows.Absent(err) {
		prev = amber.Relation{CreatedAt: t.Now}
		prev.ID, err = t.NewID()
	}
	if err != nil {
		return r, err
	}
	if prev.Origin != (amber.Origin{}) && prev.DeletedAt.IsZero() {
		if err := prev.Trust.MayChange(r.Trust, "relate memories", prev.ID); err != nil {
			return r, err
		}
	}
	next := amber.Relation{
		ID: prev.ID, From: r.From, To: r.To, Type: r.Type, Strength: r.Strength, Trust: r.Trust, Author: r.Author,
		Origin: t.Origin(prev.Origin.Counter + 1), CreatedAt: prev.CreatedAt,
	}
	if err := t.PutRelation(next); err != nil {
		return next, err
	}
	return next, t.LogBeside(r.From, digest)
}

// Relation implements [amber.Relations].
func (s *Contracts) Relation(ctx context.Context, id string) (amber.Relation, error) {
	return view(ctx, s.memory, "read relation", id, func(t *Tx) (amber.Relation, error) {
		t.briefly()
		return t.liveRelation("read relation", id)
	})
}

func (t *Tx) liveRelation(op, id string) (amber.Relation, error) {
	r, err := sqlrows.ScanRelation(t.Row(sqlrows.SelectRelation, id))
	if sqlrows.Absent(err) || err == nil && !r.DeletedAt.IsZero() {
		err = sqlrows.NotFound(op, id)
	}
	return r, err
}

// Unrelate implements [amber.Relations].
func (s *Contracts) Unrelate(ctx context.Context, id string) error {
	return s.memory.Update(ctx, "unrelate memories", id, func(t *Tx) error {
		r, err := t.liveRelation("unrelate memories", id)
		if err != nil {
			return err
		}
		r.DeletedAt, r.Origin = t.Now, t.Origin(r.Origin.Counter+1)
		if err := t.PutRelation(r); err != nil {
			return err
		}
		var digest string // also of a memory that was deleted since
		if err := t.Row(sqlrows.SelectDigest, r.From).Scan(&digest); err != nil {
			return err
		}
		return t.LogBeside(r.From, digest)
	})
}

// Related implements [amber.Relations].
func (s *Contracts) Related(ctx context.Context, id amber.MemoryID) ([]amber.Relation, error) {
	return view(ctx, s.memory, "read relations", string(id), func(t *Tx) ([]amber.Relation, error) {
		t.briefly()
		if _, err := t.LiveDigest("read relations", id); err != nil {
			return nil, err
		}
		return sqlrows.ReadRows(t.Tx, "relations", sqlrows.ScanRelation, selectRelated, id)
	})
}

// Neighbours implements [amber.Relations], in one view.
func (s *Contracts) Neighbours(ctx context.Context, q amber.NeighbourQuery) (amber.Neighbourhood, error) {
	const op = "read neighbourhood"
	return view(ctx, s.memory, op, string(q.ID), func(t *Tx) (amber.Neighbourhood, error) {
		t.briefly()
		return wire.CollectNeighbours(q,
			func(id amber.MemoryID) (amber.Memory, error) { return t.Live(op, id) },
			t.relatedSome)
	})
}

// relatedSome returns at most limit relations from or to a memory, of some types or of
// all.
func (t *Tx) relatedSome(id amber.MemoryID, types []string, limit int) ([]amber.Relation, error) {
	only := ""
	if len(types) > 0 {
		b, err := json.Marshal(types)
		if err != nil {
			return nil, err
		}
		only = string(b)
	}
	return sqlrows.ReadRows(t.Tx, "relations", sqlrows.ScanRelation, selectRelatedSome, id, only, limit)
}
