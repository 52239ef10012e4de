package sqlcore

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/sqlrows"
)

const (
	selectCompaction  = `SELECT ` + sqlrows.CompactionColumns + ` FROM compactions WHERE id = ?`
	insertCompaction  = `INSERT INTO compactions (` + sqlrows.CompactionColumns + `) VALUES (?, ?, ?, ?, ?)`
	selectCompactions = `SELECT seq, ` + sqlrows.CompactionColumns + ` FROM compactions WHERE session_id = ? AND seq > ? ORDER BY seq LIMIT ?`
	deleteCompactions = `DELETE FROM compactions WHERE session_id = ?`
)

var _ amber.Compactions = (*Contracts)(nil)

// AddCompaction implements [amber.Compactions]. An id that is stored under
// another session is a conflict.
func (s *Contracts) AddCompaction(ctx context.Context, c amber.Compaction) (stored amber.Compaction, err error) {
	c, err = c.Normalize()
	if err != nil {
		return stored, err
	}
	return update(ctx, s.memory, "add compaction", c.ID, func(t *Tx) (amber.Compaction, error) { return t.addCompaction(c) })
}

func (t *Tx) addCompaction(c amber.Compaction) (amber.Compaction, error) {
	stored, err := sqlrows.ScanCompaction(t.Row(selectCompaction, c.ID))
	switch {
	case err == nil && stored.SessionID != c.SessionID:
		return amber.Compaction{}, amber.Errorf(amber.KindConflict, "add compaction", c.ID, "another session has a compaction with this id")
	case !sqlrows.Absent(err):
		return stored, err
	}
	if c.ID, err = orNewID(t, c.ID); err != nil {
		return c, err
	}
	if c.CreatedAt.IsZero() {
		c.CreatedAt = t.Now
	}
	if err := t.Do(insertCompaction, c.ID, c.SessionID, c.Summary, c.Turns, c.CreatedAt.UnixMilli()); err != nil {
		return c, err
	}
	return c, t.Log(sqlrows.Entry(amber.OpInsert, amber.ChangeCompaction, c.ID, "", amber.ContentDigest(c.Summary)))
}

var compactions = listing[amber.Compaction]{"read compactions", "compactions", "compactions", sqlrows.ScanCompaction, selectCompactions}

// Compactions implements [amber.Compactions].
func (s *Contracts) Compactions(ctx context.Context, id amber.SessionID, p amber.Paging) (amber.Page[amber.Compaction], error) {
	return compactions.list(ctx, s.memory, string(id), p, id)
}

// deleteCompactions removes the summaries of a session.
func (t *Tx) deleteCompactions(id amber.SessionID) error {
	n, err := t.Exec(deleteCompactions, id)
	if n == 0 || err != nil {
		return err
	}
	return t.Log(sqlrows.Entry(amber.OpDelete, amber.ChangeCompaction, string(id), "", ""))
}
