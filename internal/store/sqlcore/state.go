package sqlcore

import (
	"context"
	"encoding/json"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/sqlrows"
)

const (
	selectState = `SELECT session_id, document, version, updated_at FROM session_states WHERE session_id = ?`
	upsertState = `INSERT INTO session_states (session_id, document, version, updated_at) VALUES (?, ?, ?, ?)
ON CONFLICT (session_id) DO UPDATE SET document = excluded.document, version = excluded.version, updated_at = excluded.updated_at`
	deleteState = `DELETE FROM session_states WHERE session_id = ? RETURNING document`
)

var _ amber.SessionStates = (*Contracts)(nil)

// SaveState implements [amber.SessionStates].
func (s *Contracts) SaveState(ctx context.Context, id amber.SessionID, doc json.RawMessage, ifVersion int64) (stored amber.SessionState, err error) {
	if err := amber.CheckState(id, doc); err != nil {
		return stored, err
	}
	return update(ctx, s.memory, "save session state", string(id), func(t *Tx) (amber.SessionState, error) {
		return t.saveState(id, doc, ifVersion)
	})
}

func (t *Tx) saveState(id amber.SessionID, doc json.RawMessage, ifVersion int64) (amber.SessionState, error) {
	c := sqlrows.Entry(amber.OpInsert, amber.ChangeState, string(id), "", amber.ContentDigest(string(doc)))
	prev, err := sqlrows.ScanState(t.Row(selectState, id))
	switch {
	case err == nil:
		c.Op, c.Old = amber.OpUpdate, amber.ContentDigest(string(prev.Document))
	case !sqlrows.Absent(err):
		return amber.SessionState{}, err
	}
	if prev.Version != ifVersion {
		return amber.SessionState{}, amber.Errorf(amber.KindConflict, "save session state", string(id),
			"the state has version %d, want %d", prev.Version, ifVersion)
	}
	next := amber.SessionState{
		SessionID: id, Document: append(json.RawMessage{}, doc...),
		Version: prev.Version + 1, UpdatedAt: t.Now,
	}
	if err := t.Do(upsertState, id, string(doc), next.Version, next.UpdatedAt.UnixMilli()); err != nil {
		return next, err
	}
	return next, t.Log(c)
}

// LoadState implements [amber.SessionStates].
func (s *Contracts) LoadState(ctx context.Context, id amber.SessionID) (amber.SessionState, error) {
	return view(ctx, s.memory, "load session state", string(id), func(t *Tx) (amber.SessionState, error) {
		return one(t, "load session state", string(id), sqlrows.ScanState, selectState, id)
	})
}

// DeleteState implements [amber.SessionStates].
func (s *Contracts) DeleteState(ctx context.Context, id amber.SessionID) error {
	return s.memory.Update(ctx, "delete session state", string(id), func(t *Tx) error { return t.deleteState(id) })
}

func (t *Tx) deleteState(id amber.SessionID) error {
	var doc string
	switch err := t.Row(deleteState, id).Scan(&doc); {
	case sqlrows.Absent(err):
		return nil
	case err != nil:
		return err
	}
	return t.Log(sqlrows.Entry(amber.OpDelete, amber.ChangeState, string(id), amber.ContentDigest(doc), ""))
}
