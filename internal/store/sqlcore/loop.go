package sqlcore

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/sqlrows"
)

const (
	selectLoop = `SELECT session_id, run_id, state, revision, digest, created_at, parked FROM loops WHERE session_id = ?`
	// selectLoopMark leaves the state alone: a loop that is damaged can still
	// be replaced and cleared.
	selectLoopMark = `SELECT run_id, revision, digest, created_at FROM loops WHERE session_id = ?`
	upsertLoop     = `INSERT INTO loops (session_id, run_id, state, revision, digest, created_at, parked) VALUES (?, ?, ?, ?, ?, ?, 0)
ON CONFLICT (session_id) DO UPDATE SET run_id = excluded.run_id, state = excluded.state, revision = excluded.revision,
 digest = excluded.digest, created_at = excluded.created_at, parked = excluded.parked`
	deleteLoop = `DELETE FROM loops WHERE session_id = ?`
)

var _ amber.Loops = (*Contracts)(nil)

// SaveLoop implements [amber.Loops].
func (s *Contracts) SaveLoop(ctx context.Context, l amber.LoopSave) (loop amber.PendingLoop, err error) {
	l, err = l.Normalize()
	if err != nil {
		return loop, err
	}
	return update(ctx, s.memory, "save loop", string(l.SessionID), func(t *Tx) (amber.PendingLoop, error) { return t.saveLoop(l) })
}

func (t *Tx) saveLoop(l amber.LoopSave) (amber.PendingLoop, error) {
	prev, found, err := t.loopMark(l.SessionID)
	if err != nil {
		return amber.PendingLoop{}, err
	}
	if why := mismatch(prev, found, l); why != "" {
		return amber.PendingLoop{}, amber.Errorf(amber.KindConflict, "save loop", string(l.SessionID), "%s", why)
	}
	next := amber.PendingLoop{
		SessionID: l.SessionID, RunID: l.RunID, State: append(json.RawMessage{}, l.State...),
		Revision: prev.Revision + 1, Digest: amber.ContentDigest(string(l.State)), CreatedAt: t.Now,
	}
	c := sqlrows.Entry(amber.OpInsert, amber.ChangeLoop, string(l.SessionID), prev.Digest, next.Digest)
	if found {
		c.Op = amber.OpUpdate
	}
	if prev.RunID == next.RunID {
		next.CreatedAt = prev.CreatedAt
	}
	err = t.Do(upsertLoop, next.SessionID, next.RunID, string(next.State), next.Revision, next.Digest, next.CreatedAt.UnixMilli())
	if err != nil {
		return next, err
	}
	return next, t.Log(c)
}

// mismatch says how the stored loop differs from what the caller believes is
// stored; "" when it does not.
func mismatch(stored amber.PendingLoop, found bool, l amber.LoopSave) string {
	switch {
	case !found && l.IfRevision != 0:
		return fmt.Sprintf("no loop is stored, want revision %d of run %s", l.IfRevision, l.IfRunID)
	case found && l.IfRevision == 0:
		return fmt.Sprintf("revision %d is stored, want no loop", stored.Revision)
	case found && (l.IfRevision != stored.Revision || l.IfRunID != stored.RunID):
		whose := "that run"
		if l.IfRunID != stored.RunID {
			whose = "another run"
		}
		return fmt.Sprintf("revision %d of %s is stored, want revision %d of run %s", stored.Revision, whose, l.IfRevision, l.IfRunID)
	}
	return ""
}

// LoadLoop implements [amber.Loops].
func (s *Contracts) LoadLoop(ctx context.Context, id amber.SessionID) (amber.PendingLoop, error) {
	return view(ctx, s.memory, "load loop", string(id), func(t *Tx) (amber.PendingLoop, error) {
		return one(t, "load loop", string(id), sqlrows.ScanLoop, selectLoop, id)
	})
}

// ClearLoop implements [amber.Loops].
func (s *Contracts) ClearLoop(ctx context.Context, id amber.SessionID, runID string) error {
	return s.memory.Update(ctx, "clear loop", string(id), func(t *Tx) error { return t.clearLoop(id, runID) })
}

func (t *Tx) clearLoop(id amber.SessionID, runID string) error {
	prev, found, err := t.loopMark(id)
	switch {
	case err != nil || !found:
		return err
	case runID != "" && runID != prev.RunID:
		return amber.Errorf(amber.KindConflict, "clear loop", string(id), "the stored loop belongs to another run")
	}
	if err := t.Do(deleteLoop, id); err != nil {
		return err
	}
	return t.Log(sqlrows.Entry(amber.OpDelete, amber.ChangeLoop, string(id), prev.Digest, ""))
}

// loopMark returns the stored loop of a session without its state.
func (t *Tx) loopMark(id amber.SessionID) (loop amber.PendingLoop, found bool, err error) {
	var createdAt int64
	err = t.Row(selectLoopMark, id).Scan(&loop.RunID, &loop.Revision, &loop.Digest, &createdAt)
	if sqlrows.Absent(err) {
		return amber.PendingLoop{}, false, nil
	}
	loop.CreatedAt = amber.UnixMilli(createdAt)
	return loop, err == nil, err
}
