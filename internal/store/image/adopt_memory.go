package image

import (
	"fmt"
	"reflect"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/sqlrows"
)

// adoptBatch is how many records are looked at between two questions: enough
// to be fast, and few enough for any memory.
const adoptBatch = 500

const (
	selectLiveMemory = `SELECT ` + sqlrows.MemoryColumns + ` FROM live.memories WHERE id = ?`

	// stampMemory leaves the text alone, and so the full-text indexes.
	stampMemory   = `UPDATE memories SET device = ?2, counter = ?3, clock = ?4, revision = ?5 WHERE id = ?1`
	keepRevision  = `INSERT OR IGNORE INTO revisions (memory_id, revision, body) VALUES (?, ?, ?)`
	takeRevisions = `INSERT OR IGNORE INTO revisions SELECT memory_id, revision, body FROM live.revisions WHERE memory_id = ?`
)

// stampAll compares every record that may differ with the live one.
func (a *adoption) stampAll() error {
	if err := a.findCandidates(); err != nil {
		return fmt.Errorf("find what differs: %w", err)
	}
	if err := a.eachID(candidateMemories, a.compareMemory); err != nil {
		return fmt.Errorf("compare memories: %w", err)
	}
	if err := a.eachID(candidateRelations, a.compareRelation); err != nil {
		return fmt.Errorf("compare relations: %w", err)
	}
	if err := a.eachID(candidateSessions, a.compareSession); err != nil {
		return fmt.Errorf("compare sessions: %w", err)
	}
	if err := a.eachID(candidateTurns, a.compareTurn); err != nil {
		return fmt.Errorf("compare prompts: %w", err)
	}
	if err := a.takeExported(); err != nil {
		return fmt.Errorf("take exports: %w", err)
	}
	return nil
}

// eachID calls fn for every id a query finds, in order, a batch at a time: fn
// may write.
func (a *adoption) eachID(query string, fn func(id string) error) error {
	for last := ""; ; {
		ids, err := sqlrows.All(a.Tx, sqlrows.ScanText, query, last, adoptBatch)
		if err != nil {
			return err
		}
		for _, id := range ids {
			last = id
			if err := fn(id); err != nil && !a.passOver(err) {
				return err
			}
		}
		if len(ids) < adoptBatch {
			return nil
		}
	}
}

// passOver reports whether an error is about one row of either file only. The
// row stays as it is in the file, and the others are compared.
func (a *adoption) passOver(err error) bool {
	if !a.SetAside("", err) {
		return false
	}
	a.report.SetAside++
	return true
}

// compareMemory compares one memory with the live one.
func (a *adoption) compareMemory(id string) error {
	m, found, err := a.Load(amber.MemoryID(id))
	if err != nil {
		return err
	}
	live, err := sqlrows.ScanMemory(a.Row(selectLiveMemory, id))
	switch {
	case sqlrows.Absent(err): // the live file has none, so no reader has seen another revision
		return nil
	case err != nil:
		return err
	case !found && !a.isOurs(live.Origin):
		return nil
	case !found:
		return a.buryMemory(live)
	case saysTheSame(m, live):
		return a.takeStamp(m, live)
	}
	body, err := sqlrows.Marshal(m)
	if err != nil {
		return err
	}
	if _, err := a.Exec(keepRevision, m.ID, m.Revision, body); err != nil {
		return err
	}
	highest, err := a.highestOfBoth(m, live)
	if err != nil {
		return err
	}
	o := a.Origin(highest + 1)
	if err := a.supersedeBoth(m, live, o); err != nil {
		return err
	}
	a.report.Stamped++
	return a.stampMemory(m, live, o, max(m.Revision, live.Revision)+1)
}

// saysTheSame reports whether two revisions of a memory differ in nothing but
// their stamps and counts.
func saysTheSame(a, b amber.Memory) bool {
	for _, m := range []*amber.Memory{&a, &b} {
		m.Origin, m.Revision, m.DuplicateCount, m.UpdatedAt = amber.Origin{}, 0, 0, amber.Time{}
		if !m.DeletedAt.IsZero() {
			m.DeletedAt = amber.UnixMilli(1)
		}
	}
	return reflect.DeepEqual(a, b)
}

// takeStamp gives a memory that says the same as the live one the later of
// both stamps: others have seen it.
func (a *adoption) takeStamp(m, live amber.Memory) error {
	o, revision := sqlrows.Later(m.Origin, live.Origin), max(m.Revision, live.Revision)
	if o == m.Origin && revision == m.Revision {
		return nil
	}
	if o != m.Origin {
		if err := a.takeVersion(m, live); err != nil {
			return err
		}
	}
	a.report.TakenOver++
	return a.stampMemory(m, live, o, revision)
}

// stampMemory makes a memory a later revision of itself. Its text and its
// times stay.
func (a *adoption) stampMemory(m, live amber.Memory, o amber.Origin, revision int64) error {
	if _, err := a.Exec(stampMemory, m.ID, o.Device, int64(o.Counter), o.Clock, revision); err != nil {
		return err
	}
	c := sqlrows.Entry(amber.OpUpdate, amber.ChangeMemory, string(m.ID), live.ContentDigest, m.ContentDigest)
	if !m.DeletedAt.IsZero() {
		c.Op, c.New = amber.OpDelete, ""
	}
	return a.Log(c)
}

// isOurs reports whether this device made a version. Versions that other devices
// made since are absent after the restore and come back with the next import: a
// restore here takes nothing away from those devices.
func (a *adoption) isOurs(o amber.Origin) bool { return o.Device == "" || o.Device == a.Current.Device }

// buryMemory leaves a tombstone of a memory that only the live file has, as
// deleting it does. A memory that is a tombstone already stays as it is.
func (a *adoption) buryMemory(m amber.Memory) error {
	var erased bool
	if err := a.Row(sqlrows.IsErased, m.ID).Scan(&erased); err != nil || erased {
		return err
	}
	next := m
	if m.DeletedAt.IsZero() {
		next.DeletedAt, next.UpdatedAt = a.Now, a.Now
		next.Revision++
		highest, err := a.highestOfBoth(m, m)
		if err != nil {
			return err
		}
		next.Origin = a.Origin(highest + 1)
		a.report.Tombstones++
	} else {
		a.report.TakenOver++
	}
	args, err := sqlrows.MemoryArgs(next)
	if err != nil {
		return err
	}
	if _, err := a.Exec(sqlrows.InsertMemory, args...); err != nil {
		return err
	}
	if _, err := a.Exec(takeRevisions, m.ID); err != nil {
		return err
	}
	if _, err := a.Exec(takeAllVersions, m.ID); err != nil {
		return err
	}
	if m.DeletedAt.IsZero() {
		if err := a.Supersede(m, next.Origin); err != nil {
			return err
		}
		body, err := sqlrows.Marshal(m)
		if err != nil {
			return err
		}
		if _, err := a.Exec(keepRevision, m.ID, m.Revision, body); err != nil {
			return err
		}
	}
	return a.Log(sqlrows.Entry(amber.OpDelete, amber.ChangeMemory, string(m.ID), m.ContentDigest, ""))
}
