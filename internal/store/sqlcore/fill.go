package sqlcore

import (
	"context"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/sqlrows"
)

// Filler fills the database of a memory that is made from records of another program.
// The Add methods are called inside Update alone; a record whose id is taken is an
// error of kind conflict.
type Filler struct {
	db Database
	t  *Tx // inside Update
}

// NewFiller returns a filler of an empty database.
func NewFiller(db Database) *Filler { return &Filler{db: db} }

// Update runs fn in one transaction.
func (f *Filler) Update(ctx context.Context, fn func() error) error {
	return f.db.Update(ctx, "store records", "", func(t *Tx) error {
		f.t = t
		defer func() { f.t = nil }()
		return fn()
	})
}

// taken is the error about a record whose id is stored already, unless the look for
// it failed with err.
func taken(op, id string, err error) error {
	if err != nil {
		return err
	}
	return amber.Errorf(amber.KindConflict, op, id, "the id is taken")
}

// AddMemory stores a memory. Where another one says the same, that one is
// counted once more instead, and twin is true.
func (f *Filler) AddMemory(m amber.Memory) (twin bool, err error) {
	_, found, err := f.t.Load(m.ID)
	if err != nil {
		return false, err
	}
	if found {
		return false, taken("store memory", string(m.ID), nil)
	}
	other, twin, err := f.t.DuplicateOf(m)
	if err != nil {
		return false, err
	}
	if twin {
		_, err := f.t.countDuplicate(other)
		return true, err
	}
	m.Revision, m.Origin = 1, f.t.Origin(1)
	return false, f.t.Insert(m)
}

// AddConcepts adds to the concepts of a live memory, as many as it may have,
// and reports whether these are its first. Errors: not_found.
func (f *Filler) AddConcepts(id amber.MemoryID, concepts []string) (first bool, err error) {
	t := f.t
	digest, err := t.LiveDigest("set concepts", id)
	if err != nil {
		return false, err
	}
	have, err := sqlrows.All(t.Tx, sqlrows.ScanText, selectConcepts, id)
	if err != nil {
		return false, err
	}
	before := len(have)
	for _, c := range concepts {
		if slices.Contains(have, c) || len(have) == amber.MaxTags {
			continue
		}
		have = append(have, c)
		if err := t.Do(insertConcept, id, c); err != nil {
			return false, err
		}
	}
	if len(have) == before {
		return false, nil
	}
	return before == 0, t.LogBeside(id, digest)
}

// AddRelation stores a relation between two live memories. Errors: not_found;
// conflict, also where the two are related in this way.
func (f *Filler) AddRelation(r amber.Relation) error {
	const op = "relate memories"
	t := f.t
	digest, err := t.LiveDigest(op, r.From)
	if err == nil {
		_, err = t.LiveDigest(op, r.To)
	}
	if err != nil {
		return err
	}
	_, err = sqlrows.ScanRelation(t.Row(selectRelationBetween, r.From, r.To, r.Type))
	if sqlrows.Absent(err) {
		_, err = sqlrows.ScanRelation(t.Row(sqlrows.SelectRelation, r.ID))
	}
	if !sqlrows.Absent(err) {
		return taken(op, r.ID, err)
	}
	r.Origin = t.Origin(1)
	if err := t.PutRelation(r); err != nil {
		return err
	}
	return t.LogBeside(r.From, digest)
}

// AddSession stores a session. It becomes the active one of no binding.
func (f *Filler) AddSession(s amber.Session) error {
	if _, err := sqlrows.ScanSession(f.t.Row(selectSession, s.ID)); !sqlrows.Absent(err) {
		return taken("store session", string(s.ID), err)
	}
	if err := f.t.addSession(s); err != nil {
		return err
	}
	return f.t.LogSession(amber.OpInsert, s.ID)
}

// AddTurn stores a turn.
func (f *Filler) AddTurn(turn amber.Turn) error {
	if _, err := sqlrows.ScanTurn(f.t.Row(selectTurn, turn.ID)); !sqlrows.Absent(err) {
		return taken("append turn", string(turn.ID), err)
	}
	_, err := f.t.appendTurn(turn)
	return err
}

// AddCompaction stores the summary of a session.
func (f *Filler) AddCompaction(c amber.Compaction) error {
	if _, err := sqlrows.ScanCompaction(f.t.Row(selectCompaction, c.ID)); !sqlrows.Absent(err) {
		return taken("add compaction", c.ID, err)
	}
	_, err := f.t.addCompaction(c)
	return err
}

const (
	hasVector = `SELECT EXISTS (SELECT 1 FROM embeddings WHERE memory_id = ?1 AND (model = ?2 OR vector = ?3))`
	isSpoken  = `SELECT EXISTS (SELECT 1 FROM turns WHERE session_id = ?1) OR EXISTS (SELECT 1 FROM sessions WHERE id = ?1)`
)

// AddEmbedding stores a vector of a live memory and reports whether it did: a
// memory that has this vector, or another one of the model, keeps what it has.
// Errors: not_found.
func (f *Filler) AddEmbedding(e amber.Embedding) (added bool, err error) {
	digest, err := f.t.LiveDigest("put embedding", e.MemoryID)
	if err != nil {
		return false, err
	}
	packed := sqlrows.PackVector(e.Vector)
	var have bool
	if err := f.t.Row(hasVector, e.MemoryID, e.Model, packed).Scan(&have); err != nil || have {
		return false, err
	}
	if err := f.t.Do(sqlrows.UpsertEmbedding, e.MemoryID, e.Model, len(e.Vector), packed); err != nil {
		return false, err
	}
	return true, f.t.LogBeside(e.MemoryID, digest)
}

// HasSession reports whether a session, or a turn of it, is stored.
func (f *Filler) HasSession(id amber.SessionID) (has bool, err error) {
	err = f.t.Row(isSpoken, id).Scan(&has)
	return has, err
}
