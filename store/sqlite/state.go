package sqlite

import (
	"context"
	"encoding/json"

	"github.com/amber-memory/amber"
)

const (
	selectState = `SELECT session_id, document, version, updated_at FROM session_states WHERE session_id = ?`
	upsertState = `INSERT INTO session_states (session_id, document, version, updated_at) VALUES (?, ?, ?, ?)
ON CONFLICT (session_id) DO UPDATE SET document = excluded.document, version = excluded.version, updated_at = excluded.updated_at`
	deleteState = `DELETE FROM session_states WHERE session_id = ? RETURNING document`
)

var _ amber.SessionStates = (*Store)(nil)

// SaveState implements [amber.SessionStates].
func (s *Store) SaveState(ctx context.Context, id amber.SessionID, doc json.RawMessage, ifVersion int64) (stored amber.SessionState, err error) {
	if err := amber.CheckState(id, doc); err != nil {
		return stored, err
	}
	err = s.memory.update(ctx, "save session state", string(id), func(t *tx) error {
		stored, err = t.saveState(id, doc, ifVersion)
		return err
	})
	return stored, err
}

func (t *tx) saveState(id amber.SessionID, doc json.RawMessage, ifVersion int64) (amber.SessionState, error) {
	c := change{amber.OpInsert, amber.ChangeState, string(id), "", amber.ContentDigest(string(doc))}
	prev, err := scanState(t.row(selectState, id))
	switch {
	case err == nil:
		c.op, c.old = amber.OpUpdate, amber.ContentDigest(string(prev.Document))
	case !absent(err):
		return amber.SessionState{}, err
	}
	if prev.Version != ifVersion {
		return amber.SessionState{}, amber.Errorf(amber.KindConflict, "save session state", string(id),
			"expected version %d, it is %d", ifVersion, prev.Version)
	}
	next := amber.SessionState{
		SessionID: id, Document: append(json.RawMessage{}, doc...),
		Version: prev.Version + 1, UpdatedAt: t.now,
	}
	if _, err := t.exec(upsertState, id, string(doc), next.Version, next.UpdatedAt.UnixMilli()); err != nil {
		return next, err
	}
	return next, t.log(c)
}

// LoadState implements [amber.SessionStates].
func (s *Store) LoadState(ctx context.Context, id amber.SessionID) (state amber.SessionState, err error) {
	err = s.memory.view(ctx, "load session state", string(id), func(t *tx) error {
		state, err = scanState(t.row(selectState, id))
		if absent(err) {
			return notFound("load session state", string(id))
		}
		return err
	})
	return state, err
}

// DeleteState implements [amber.SessionStates].
func (s *Store) DeleteState(ctx context.Context, id amber.SessionID) error {
	return s.memory.update(ctx, "delete session state", string(id), func(t *tx) error { return t.deleteState(id) })
}

func (t *tx) deleteState(id amber.SessionID) error {
	var doc string
	switch err := t.row(deleteState, id).Scan(&doc); {
	case absent(err):
		return nil
	case err != nil:
		return err
	}
	return t.log(change{amber.OpDelete, amber.ChangeState, string(id), amber.ContentDigest(doc), ""})
}

func scanState(s scanner) (amber.SessionState, error) {
	var state amber.SessionState
	var doc string
	var updatedAt int64
	err := s.Scan(&state.SessionID, &doc, &state.Version, &updatedAt)
	state.Document, state.UpdatedAt = json.RawMessage(doc), amber.UnixMilli(updatedAt)
	switch {
	case err != nil:
		return state, err
	case !json.Valid(state.Document):
		return state, notJSON("session_states", string(state.SessionID), "document")
	}
	return state, fit("session_states", string(state.SessionID), []int64{state.Version}, []int64{updatedAt})
}
