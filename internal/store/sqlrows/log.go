package sqlrows

import (
	"fmt"

	"github.com/amber-memory/amber"
)

const (
	InsertIncarnation = `INSERT INTO incarnations (id, first_seq) SELECT ?1, coalesce(max(seq), 0) + 1 FROM changes WHERE true ON CONFLICT (id) DO NOTHING`
	SelectLastStamp   = `SELECT coalesce((SELECT stamp FROM changes ORDER BY seq DESC LIMIT 1), 0)`
	selectLastEntry   = `SELECT coalesce(max(seq), 0), coalesce((SELECT stamp FROM changes ORDER BY seq DESC LIMIT 1), 0) FROM changes`
	insertChange      = `INSERT INTO changes (stamp, op, scope, key, old_digest, new_digest) VALUES (?, ?, ?, ?, ?, ?)`
	// insertChangeAt is insertChange where finding out the next number takes longer than to say it.
	insertChangeAt = `INSERT INTO changes (seq, stamp, op, scope, key, old_digest, new_digest) VALUES (?, ?, ?, ?, ?, ?, ?)`
)

// Enter prepares a write transaction: the change log learns of its
// incarnation unless that is known, and the clock goes on from the last stamp,
// however the wall clock was set meanwhile.
func (t *Tx) Enter(known bool) error {
	if !known {
		if err := t.Do(InsertIncarnation, t.Current.Incarnation); err != nil {
			return fmt.Errorf("adopt incarnation: %w", err)
		}
	}
	if err := t.Row(selectLastEntry).Scan(&t.Seq, &t.Stamp); err != nil {
		return fmt.Errorf("read clock: %w", err)
	}
	t.FirstSeq = t.Seq
	t.Stamp = max(t.Stamp, t.Current.Clock)
	return nil
}

// Tick returns the next stamp.
func (t *Tx) Tick() amber.Stamp {
	t.Stamp = t.Stamp.Next(t.Now.Time())
	return t.Stamp
}

// Change is one entry before it has a position.
type Change struct {
	Op       amber.Op
	Scope    amber.ChangeScope
	Key      string
	Old, New string // digests
}

// Entry returns a change from its parts; old and new are digests.
func Entry(op amber.Op, scope amber.ChangeScope, key, old, new string) Change {
	return Change{Op: op, Scope: scope, Key: key, Old: old, New: new}
}

// Log appends to the change log. Every mutation calls it in its own
// transaction.
func (t *Tx) Log(c Change) error {
	query, args := insertChange, []any{t.Tick(), c.Op, c.Scope, c.Key, c.Old, c.New}
	if t.Far {
		query, args = insertChangeAt, append([]any{t.Seq + 1}, args...)
	}
	if err := t.Do(query, args...); err != nil {
		return fmt.Errorf("log change: %w", err)
	}
	t.Seq, t.Logged = t.Seq+1, t.Stamp
	return nil
}
