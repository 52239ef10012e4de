package sqlcore

import (
	"cmp"
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/sqlrows"
)

const (
	selectActive = `SELECT session_id FROM active_sessions WHERE binding = ?`
	upsertActive = `INSERT INTO active_sessions (binding, session_id) VALUES (?, ?)
ON CONFLICT (binding) DO UPDATE SET session_id = excluded.session_id`
	deleteActive = `DELETE FROM active_sessions WHERE session_id = ?`
)

var (
	_ amber.SessionEditor  = (*Contracts)(nil)
	_ amber.ActiveSessions = (*Contracts)(nil)
)

// EndSession implements [amber.SessionEditor].
func (s *Contracts) EndSession(ctx context.Context, e amber.SessionEnd) (ended amber.Session, err error) {
	e, err = e.Normalize()
	if err != nil {
		return ended, err
	}
	return update(ctx, s.memory, "end session", string(e.ID), func(t *Tx) (amber.Session, error) {
		found, err := t.session("end session", e.ID)
		if err != nil {
			return found, err
		}
		return t.endSession(found, e, t.Now)
	})
}

// endSession ends a session at a time of its own, unless it has ended.
func (t *Tx) endSession(s amber.Session, e amber.SessionEnd, ended amber.Time) (amber.Session, error) {
	deactivated, err := t.Exec(deleteActive, s.ID)
	if err != nil {
		return s, err
	}
	if !s.TakesEnd(e) {
		if deactivated == 0 {
			return s, nil
		}
		return s, t.LogSession(amber.OpUpdate, s.ID)
	}
	s.EndedAt, s.EndReason, s.UpdatedAt = ended, e.Reason, t.Now
	s.Summary = cmp.Or(e.Summary, s.Summary)
	return s, t.putSession(s)
}

// RenameSession implements [amber.SessionEditor].
func (s *Contracts) RenameSession(ctx context.Context, id amber.SessionID, name string) (renamed amber.Session, err error) {
	name, err = amber.CheckSessionName(name)
	if err != nil {
		return renamed, err
	}
	return update(ctx, s.memory, "rename session", string(id), func(t *Tx) (amber.Session, error) {
		found, err := t.session("rename session", id)
		if err != nil {
			return found, err
		}
		found.Name, found.UpdatedAt = name, t.Now
		return found, t.putSession(found)
	})
}

// ActiveSession implements [amber.ActiveSessions].
func (s *Contracts) ActiveSession(ctx context.Context, binding string) (amber.Session, error) {
	return view(ctx, s.memory, "read active session", binding, func(t *Tx) (amber.Session, error) {
		id, err := t.activeOf(binding)
		if err == nil && id == "" {
			err = sqlrows.NotFound("read active session", binding)
		}
		if err != nil {
			return amber.Session{}, err
		}
		return t.session("read active session", id)
	})
}

// SelectSession implements [amber.ActiveSessions].
func (s *Contracts) SelectSession(ctx context.Context, id amber.SessionID) (amber.Session, error) {
	return update(ctx, s.memory, "select session", string(id), func(t *Tx) (amber.Session, error) {
		found, err := t.session("select session", id)
		if err != nil {
			return found, err
		}
		found.UpdatedAt = t.Now
		if err := t.activate(found); err != nil {
			return found, err
		}
		return found, t.putSession(found)
	})
}

// activeOf returns the active session of a binding, "" for none.
func (t *Tx) activeOf(binding string) (id amber.SessionID, err error) {
	err = t.Row(selectActive, binding).Scan(&id)
	if sqlrows.Absent(err) {
		return "", nil
	}
	return id, err
}

// activate makes s the active session of its binding.
func (t *Tx) activate(s amber.Session) error {
	return t.Do(upsertActive, s.Binding, s.ID)
}
