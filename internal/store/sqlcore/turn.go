package sqlcore

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/sqlrows"
)

const (
	selectTurn = `SELECT ` + sqlrows.TurnColumns + ` FROM turns WHERE id = ?`
	insertTurn = `INSERT INTO turns (` + sqlrows.TurnColumns + `) VALUES (?, ?, ?, ?, ?, ?, ?)`

	// Both must use turns_session: one runs at the start of every conversation, and sessions
	// grow. They begin with the content's size, so that a page of long turns is read in short.
	listedTurnColumns = `seq, octet_length(content), id, session_id, role, CASE WHEN ?2 = 0 THEN content ELSE substr(content, 1, ?2) END, project_id, created_at, trust`
	selectTurnsBefore = `SELECT ` + listedTurnColumns + ` FROM turns INDEXED BY turns_session WHERE session_id = ?1 AND seq < ?3 ORDER BY seq DESC LIMIT ?4`
	selectTurnsAfter  = `SELECT ` + listedTurnColumns + ` FROM turns INDEXED BY turns_session WHERE session_id = ?1 AND seq > ?3 ORDER BY seq LIMIT ?4`

	deleteTurns = `DELETE FROM turns WHERE session_id = ?`
)

var _ amber.Turns = (*Contracts)(nil)

// AppendTurn implements [amber.Turns]. An id that is stored under another
// session is a conflict.
func (s *Contracts) AppendTurn(ctx context.Context, turn amber.Turn) (stored amber.Turn, err error) {
	turn, err = turn.Normalize()
	if err != nil {
		return stored, err
	}
	return update(ctx, s.memory, "append turn", string(turn.ID), func(t *Tx) (amber.Turn, error) { return t.appendTurn(turn) })
}

func (t *Tx) appendTurn(turn amber.Turn) (amber.Turn, error) {
	stored, err := sqlrows.ScanTurn(t.Row(selectTurn, turn.ID))
	switch {
	case err == nil && stored.SessionID != turn.SessionID:
		return amber.Turn{}, amber.Errorf(amber.KindConflict, "append turn", string(turn.ID), "another session has a turn with this id")
	case !sqlrows.Absent(err):
		return stored, err
	}
	if turn.ID != "" {
		if _, err := t.Returns(amber.ChangeTurn, string(turn.ID)); err != nil {
			return turn, err
		}
	}
	if turn.ID, err = orNewID(t, turn.ID); err != nil {
		return turn, err
	}
	if turn.CreatedAt.IsZero() {
		turn.CreatedAt = t.Now
	}
	if err := t.insertTurn(turn); err != nil {
		return turn, err
	}
	return turn, t.Log(sqlrows.Entry(amber.OpInsert, amber.ChangeTurn, string(turn.ID), "", amber.ContentDigest(turn.Content)))
}

func (t *Tx) insertTurn(turn amber.Turn) error {
	return t.Do(insertTurn, turn.ID, turn.SessionID, turn.Role, turn.Content, turn.ProjectID, turn.CreatedAt.UnixMilli(), sqlrows.StoredTrust(turn.Trust))
}

// orNewID returns id, or a new one where it is empty. No stored record has an
// empty id.
func orNewID[T ~string](t *Tx, id T) (T, error) {
	if id != "" {
		return id, nil
	}
	fresh, err := t.NewID()
	return T(fresh), err
}

// placedTurn is a turn and its place among all turns.
type placedTurn struct {
	amber.ListedTurn
	seq int64
}

// ListTurns implements [amber.Turns].
func (s *Contracts) ListTurns(ctx context.Context, q amber.TurnQuery) (amber.Page[amber.ListedTurn], error) {
	page := amber.Page[amber.ListedTurn]{Items: []amber.ListedTurn{}}
	size, err := amber.Paging{Limit: q.Limit}.Size("list turns")
	if err != nil {
		return page, err
	}
	if q.Excerpt < 0 {
		return page, amber.Errorf(amber.KindInvalid, "list turns", string(q.SessionID), "the excerpt is negative, want 0 or more")
	}
	listing, query := "last turns", selectTurnsBefore
	if q.Oldest {
		listing, query = "first turns", selectTurnsAfter
	}
	seq, _, err := decodeCursor(listing, q.Cursor)
	if err != nil {
		return page, err
	}
	if q.Oldest && q.Cursor == "" {
		seq = -1
	}
	err = s.memory.View(ctx, "list turns", string(q.SessionID), func(t *Tx) error {
		t.briefly()
		mark := func(last placedTurn) amber.Cursor { return encodeCursor(listing, last.seq, string(last.ID)) }
		found, err := readPage(t, "turns", scanPlacedTurn, size, mark, query, q.SessionID, q.Excerpt, seq)
		for _, p := range found.Items {
			page.Items = append(page.Items, p.ListedTurn)
		}
		page.Next, page.SetAside = found.Next, found.SetAside
		return err
	})
	return page, err
}

func scanPlacedTurn(s scanner) (p placedTurn, err error) {
	p.Turn, err = sqlrows.ScanTurn(behind{s, []any{&p.seq, &p.Bytes}})
	return p, err
}

// Turn implements [amber.Turns].
func (s *Contracts) Turn(ctx context.Context, id amber.TurnID) (amber.Turn, error) {
	return view(ctx, s.memory, "read turn", string(id), func(t *Tx) (amber.Turn, error) {
		return one(t, "read turn", string(id), sqlrows.ScanTurn, selectTurn, id)
	})
}

// DeleteTurns implements [amber.Turns].
func (s *Contracts) DeleteTurns(ctx context.Context, id amber.SessionID) (int, error) {
	return update(ctx, s.memory, "delete turns", string(id), func(t *Tx) (int, error) { return t.deleteTurns(id) })
}

func (t *Tx) deleteTurns(id amber.SessionID) (int, error) {
	if err := t.DepartTurns(sqlrows.DepartTurns, string(id)); err != nil {
		return 0, err
	}
	return t.removeTurns(id)
}

// removeTurns deletes the turns of a session whose departures are noted.
func (t *Tx) removeTurns(id amber.SessionID) (int, error) {
	n, err := t.Exec(deleteTurns, id)
	if n == 0 || err != nil {
		return 0, err
	}
	return int(n), t.Log(sqlrows.Entry(amber.OpDelete, amber.ChangeTurn, string(id), "", ""))
}
