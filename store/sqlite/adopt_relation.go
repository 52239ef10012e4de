package sqlite

import (
	"github.com/amber-memory/amber"
)

const (
	selectLiveRelation = `SELECT ` + relationColumns + ` FROM live.relations WHERE id = ?`
	// mayRelate tells whether a relation of the live file can be in the file:
	// not where one of its memories was erased, or where the two are related
	// so under another id.
	mayRelate = `SELECT (SELECT count(*) FROM memories WHERE id IN (?1, ?2)) = 2
 AND NOT EXISTS (SELECT 1 FROM relations WHERE from_id = ?1 AND to_id = ?2 AND type = ?3)`
)

// compareRelation does for a relation what compareMemory does for a memory.
func (a *adoption) compareRelation(id string) error {
	live, err := scanRelation(a.row(selectLiveRelation, id))
	if absent(err) {
		return nil
	} else if err != nil {
		return err
	}
	r, err := scanRelation(a.row(selectRelation, id))
	if absent(err) {
		return a.buryRelation(live)
	} else if err != nil {
		return err
	}
	if r.Strength == live.Strength && r.DeletedAt.IsZero() == live.DeletedAt.IsZero() {
		o := later(r.Origin, live.Origin)
		if o == r.Origin {
			return nil
		}
		r.Origin = o
		a.report.TakenOver++
	} else {
		r.Origin = a.origin(max(r.Origin.Counter, live.Origin.Counter) + 1)
		a.report.Stamped++
	}
	return a.storeRelation(r)
}

func (a *adoption) buryRelation(r amber.Relation) error {
	var may bool
	if err := a.row(mayRelate, r.From, r.To, r.Type).Scan(&may); err != nil || !may {
		return err
	}
	if r.DeletedAt.IsZero() {
		r.DeletedAt, r.Origin = a.now, a.origin(r.Origin.Counter+1)
		a.report.Tombstones++
	} else {
		a.report.TakenOver++
	}
	return a.storeRelation(r)
}

// storeRelation stores a relation and logs it beside the memory it begins at.
func (a *adoption) storeRelation(r amber.Relation) error {
	if err := a.putRelation(r); err != nil {
		return err
	}
	var digest string
	if err := a.row(selectDigest, r.From).Scan(&digest); err != nil {
		return err
	}
	return a.logBeside(r.From, digest)
}
