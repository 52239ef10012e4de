package inmem

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/amber-memory/amber"
)

var (
	_ amber.Sessions       = (*Store)(nil)
	_ amber.SessionEditor  = (*Store)(nil)
	_ amber.ActiveSessions = (*Store)(nil)
)

// StartSession implements [amber.Sessions].
func (s *Store) StartSession(ctx context.Context, r amber.SessionStart) (amber.Session, error) {
	r, err := r.Normalize()
	if err != nil {
		return amber.Session{}, err
	}
	return run(ctx, s, "start session", func() (amber.Session, error) {
		now := s.now()
		if stored, found := s.sessions[r.ID]; found {
			return s.resume(now, stored, r)
		}
		return s.startNew(now, now, r)
	})
}

// startNew makes a session that started at a time of its own.
func (s *Store) startNew(now, started amber.Time, r amber.SessionStart) (amber.Session, error) {
	var err error
	if r.ID, err = orNewID(s, now, r.ID); err != nil {
		return amber.Session{}, err
	}
	if r.Name == "" {
		r.Name = string(r.ID)
	}
	session := amber.Session{
		ID: r.ID, Name: r.Name, Binding: r.Binding, Project: r.Project, Directory: r.Directory, Parent: r.Parent,
		StartedAt: started, CreatedAt: now, UpdatedAt: now,
	}
	s.sessions[r.ID] = session
	s.active[r.Binding] = r.ID
	s.logSession(now, amber.OpInsert, r.ID)
	return session, nil
}

// resume makes a session that exists active again, reopened if it had ended.
func (s *Store) resume(now amber.Time, stored amber.Session, r amber.SessionStart) (amber.Session, error) {
	if stored.Binding != r.Binding {
		return amber.Session{}, conflict("start session", string(r.ID), "the session belongs to another binding")
	}
	wasActive := s.active[r.Binding] == r.ID
	s.active[r.Binding] = r.ID
	switch {
	case !stored.EndedAt.IsZero():
		stored.EndedAt, stored.EndReason = amber.Time{}, ""
		return s.putSession(now, stored), nil
	case !wasActive:
		s.logSession(now, amber.OpUpdate, r.ID)
	}
	return stored, nil
}

func (s *Store) logSession(now amber.Time, op amber.Op, id amber.SessionID) {
	s.log(now, op, amber.ChangeSession, string(id), "", "")
}

// putSession stores a changed session.
func (s *Store) putSession(now amber.Time, session amber.Session) amber.Session {
	session.UpdatedAt = now
	s.sessions[session.ID] = session
	s.logSession(now, amber.OpUpdate, session.ID)
	return session
}

// withSession returns what f makes of a session that exists.
func (s *Store) withSession(ctx context.Context, op string, id amber.SessionID, f func(amber.Time, amber.Session) amber.Session) (amber.Session, error) {
	return run(ctx, s, op, func() (amber.Session, error) {
		session, found := s.sessions[id]
		if !found {
			return amber.Session{}, notFound(op, string(id))
		}
		return f(s.now(), session), nil
	})
}

// Session implements [amber.Sessions].
func (s *Store) Session(ctx context.Context, id amber.SessionID) (amber.Session, error) {
	return s.withSession(ctx, "read session", id, func(_ amber.Time, session amber.Session) amber.Session { return session })
}

// ListSessions implements [amber.Sessions].
func (s *Store) ListSessions(ctx context.Context, q amber.SessionQuery) (amber.Page[amber.Session], error) {
	limit, err := amber.Paging{Limit: q.Limit}.Size("list sessions")
	if err != nil {
		return amber.Page[amber.Session]{}, err
	}
	at := func(v amber.Session) place { return place{v.UpdatedAt.UnixMilli(), string(v.ID)} }
	return run(ctx, s, "list sessions", func() (amber.Page[amber.Session], error) {
		found := where(maps.Values(s.sessions), func(v amber.Session) bool { return asked(q, v) })
		slices.SortFunc(found, func(a, b amber.Session) int { return at(b).compare(at(a)) })
		return paginate("sessions", found, q.Cursor, limit, at)
	})
}

// asked reports whether a session is among those that q asks for.
func asked(q amber.SessionQuery, s amber.Session) bool {
	return (q.Binding == "" || s.Binding == q.Binding) && (q.Project == "" || s.Project == q.Project) &&
		!(q.Trusted && s.Trust == amber.TrustImported)
}

// DeleteSession implements [amber.Sessions].
func (s *Store) DeleteSession(ctx context.Context, id amber.SessionID) error {
	_, err := s.withSession(ctx, "delete session", id, func(now amber.Time, session amber.Session) amber.Session {
		delete(s.sessions, id)
		s.deactivate(session)
		s.logSession(now, amber.OpDelete, id)
		s.dropTurns(now, id)
		s.dropState(now, id)
		s.dropLoop(now, id)
		s.dropCompactions(now, id)
		delete(s.activity, id)
		return session
	})
	return err
}

// EndSession implements [amber.SessionEditor]. An empty summary leaves the
// stored one.
func (s *Store) EndSession(ctx context.Context, e amber.SessionEnd) (amber.Session, error) {
	e, err := e.Normalize()
	if err != nil {
		return amber.Session{}, err
	}
	return s.withSession(ctx, "end session", e.ID, func(now amber.Time, session amber.Session) amber.Session {
		return s.end(now, now, session, e)
	})
}

// end ends a session at a time of its own, unless it has ended.
func (s *Store) end(now, ended amber.Time, session amber.Session, e amber.SessionEnd) amber.Session {
	wasActive := s.deactivate(session)
	if !session.TakesEnd(e) {
		if wasActive {
			s.logSession(now, amber.OpUpdate, e.ID)
		}
		return session
	}
	session.EndedAt, session.EndReason = ended, e.Reason
	session.Summary = cmp.Or(e.Summary, session.Summary)
	return s.putSession(now, session)
}

// RenameSession implements [amber.SessionEditor].
func (s *Store) RenameSession(ctx context.Context, id amber.SessionID, name string) (amber.Session, error) {
	name, err := amber.CheckSessionName(name)
	if err != nil {
		return amber.Session{}, err
	}
	return s.withSession(ctx, "rename session", id, func(now amber.Time, session amber.Session) amber.Session {
		session.Name = name
		return s.putSession(now, session)
	})
}

// ActiveSession implements [amber.ActiveSessions].
func (s *Store) ActiveSession(ctx context.Context, binding string) (amber.Session, error) {
	return run(ctx, s, "read active session", func() (amber.Session, error) {
		id, found := s.active[binding]
		if !found {
			return amber.Session{}, notFound("read active session", binding)
		}
		return s.sessions[id], nil
	})
}

// SelectSession implements [amber.ActiveSessions].
func (s *Store) SelectSession(ctx context.Context, id amber.SessionID) (amber.Session, error) {
	return s.withSession(ctx, "select session", id, func(now amber.Time, session amber.Session) amber.Session {
		s.active[session.Binding] = id
		return s.putSession(now, session)
	})
}

// deactivate makes a session no longer the active one of its binding, and
// reports whether it was.
func (s *Store) deactivate(session amber.Session) bool {
	if s.active[session.Binding] != session.ID {
		return false
	}
	delete(s.active, session.Binding)
	return true
}
