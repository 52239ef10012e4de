package image

import (
	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/sqlrows"
)

const (
	selectLiveRelation = `SELECT ` + sqlrows.RelationColumns + ` FROM live.relations WHERE id = ?`
	// mayRelate selects whether a relation of the live file can be in the file:
	// not where one of its memories was erased, or where the two are related
	// so under another id.
	mayRelate = `SELECT (SELECT count(*) FROM memories WHERE id IN (?1, ?2)) = 2
 AND NOT EXISTS (SELECT 1 FROM relations WHERE from_id = ?1 AND to_id = ?2 AND type = ?3)`
)

// compareRelation does for a relation what compareMemory does for a memory.
func (a *adoption) compareRelation(id string) error {
	live, err := sqlrows.ScanRelation(a.Row(selectLiveRelation, id))
	if sqlrows.Absent(err) {
		return nil
	} else if err != nil {
		return err
	}
	r, err := sqlrows.ScanRelation(a.Row(sqlrows.SelectRelation, id))
	if sqlrows.Absent(err) {
		return a.buryRelation(live)
	} else if err != nil {
		return err
	}
	if r.Strength == live.Strength && r.DeletedAt.IsZero() == live.DeletedAt.IsZero() {
		o := sqlrows.Later(r.Origin, live.Origin)
		if o == r.Origin {
			return nil
		}
		r.Origin = o
		a.report.TakenOver++
	} else {
		r.Origin = a.Origin(max(r.Origin.Counter, live.Origin.Counter) + 1)
		a.report.Stamped++
	}
	return a.storeRelation(r)
}

func (a *adoption) buryRelation(r amber.Relation) error {
	var may bool
	if err := a.Row(mayRelate, r.From, r.To, r.Type).Scan(&may); err != nil || !may {
		return err
	}
	if r.DeletedAt.IsZero() {
		r.DeletedAt, r.Origin = a.Now, a.Origin(r.Origin.Counter+1)
		a.report.Tombstones++
	} else {
		a.report.TakenOver++
	}
	return a.storeRelation(r)
}

// storeRelation stores a relation and logs it beside the memory it begins at.
func (a *adoption) storeRelation(r amber.Relation) error {
	if err := a.PutRelation(r); err != nil {
		return err
	}
	var digest string
	if err := a.Row(sqlrows.SelectDigest, r.From).Scan(&digest); err != nil {
		return err
	}
	return a.LogBeside(r.From, digest)
}
