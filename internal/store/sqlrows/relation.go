package sqlrows

import "github.com/amber-memory/amber"

const (
	RelationColumns = `id, from_id, to_id, type, strength, device, counter, clock, created_at, coalesce(deleted_at, 0), trust, author`
	SelectRelation  = `SELECT ` + RelationColumns + ` FROM relations WHERE id = ?`
	upsertRelation  = `INSERT INTO relations (id, from_id, to_id, type, strength, device, counter, clock, created_at, deleted_at, trust, author)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, nullif(CAST(? AS INTEGER), 0), ?, ?)
ON CONFLICT (id) DO UPDATE SET strength = excluded.strength, device = excluded.device, counter = excluded.counter,
 clock = excluded.clock, deleted_at = excluded.deleted_at, trust = excluded.trust, author = excluded.author`
	SelectDigest     = `SELECT content_digest FROM memories WHERE id = ?`
	SelectLiveDigest = `SELECT content_digest FROM memories WHERE id = ? AND deleted_at IS NULL`
)

func (t *Tx) PutRelation(r amber.Relation) error {
	author, err := authorText(r.Author)
	if err != nil {
		return err
	}
	return t.Do(upsertRelation, r.ID, r.From, r.To, r.Type, r.Strength,
		r.Origin.Device, int64(r.Origin.Counter), r.Origin.Clock, r.CreatedAt.UnixMilli(), r.DeletedAt.UnixMilli(), StoredTrust(r.Trust), author)
}

// LiveDigest returns the digest of a live memory's content, or not_found.
func (t *Tx) LiveDigest(op string, id amber.MemoryID) (digest string, err error) {
	err = t.Row(SelectLiveDigest, id).Scan(&digest)
	if Absent(err) {
		err = NotFound(op, string(id))
	}
	return digest, err
}

// LogBeside logs a change of what hangs on a memory: its content stays.
func (t *Tx) LogBeside(id amber.MemoryID, digest string) error {
	return t.Log(Change{amber.OpUpdate, amber.ChangeMemory, string(id), digest, digest})
}

func ScanRelation(s scanner) (amber.Relation, error) {
	var r amber.Relation
	var author string
	var createdAt, deletedAt int64
	err := s.Scan(&r.ID, &r.From, &r.To, &r.Type, &r.Strength,
		&r.Origin.Device, &r.Origin.Counter, &r.Origin.Clock, &createdAt, &deletedAt, &r.Trust, &author)
	r.CreatedAt, r.DeletedAt = amber.UnixMilli(createdAt), amber.UnixMilli(deletedAt)
	if err == nil {
		err = fitOrigin("relations", r.ID, r.Origin)
	}
	if err == nil {
		r.Author, err = parseAuthor("relations", r.ID, author)
	}
	if err != nil {
		return r, err
	}
	return r, fit("relations", r.ID, nil, []int64{createdAt, deletedAt})
}
