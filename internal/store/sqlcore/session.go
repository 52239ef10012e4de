package sqlcore

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/sqlrows"
)

const (
	selectSession = `SELECT ` + sqlrows.SessionColumns + ` FROM sessions WHERE id = ?`
	insertSession = `INSERT INTO sessions (id, name, binding, project, directory, started_at, ended_at, end_reason, summary, parent, created_at, updated_at, trust, device, counter, clock)
VALUES (?, ?, ?, ?, ?, ?, nullif(CAST(? AS INTEGER), 0), ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	updateSession = `UPDATE sessions SET name = ?2, project = ?3, directory = ?4, ended_at = nullif(CAST(?5 AS INTEGER), 0), end_reason = ?6, summary = ?7, updated_at = ?8,
 device = ?9, counter = counter + 1, clock = ?10
WHERE id = ?1`
	// deleteSession takes its active pointer and its activity with it.
	deleteSession = `DELETE FROM sessions WHERE id = ? RETURNING project, counter`
)

// sessionListing names the listing in its cursors.
const sessionListing = "sessions"

var _ amber.Sessions = (*Contracts)(nil)

// StartSession implements [amber.Sessions].
func (s *Contracts) StartSession(ctx context.Context, r amber.SessionStart) (started amber.Session, err error) {
	r, err = r.Normalize()
	if err != nil {
		return started, err
	}
	return update(ctx, s.memory, "start session", string(r.ID), func(t *Tx) (amber.Session, error) {
		prev, err := sqlrows.ScanSession(t.Row(selectSession, r.ID))
		switch {
		case sqlrows.Absent(err):
			return t.newSession(r, t.Now)
		case err != nil:
			return amber.Session{}, err
		}
		return t.reopenSession(prev, r.Binding)
	})
}

// newSession makes a session that started at a time of its own.
func (t *Tx) newSession(r amber.SessionStart, started amber.Time) (n amber.Session, err error) {
	n = amber.Session{
		Name: r.Name, Binding: r.Binding, Project: r.Project, Directory: r.Directory, Parent: r.Parent,
		StartedAt: started, CreatedAt: t.Now, UpdatedAt: t.Now,
	}
	if n.ID, err = orNewID(t, r.ID); err != nil {
		return n, err
	}
	if n.Name == "" {
		n.Name = string(n.ID)
	}
	if err := t.addSession(n); err != nil {
		return n, err
	}
	if err := t.activate(n); err != nil {
		return n, err
	}
	return n, t.LogSession(amber.OpInsert, n.ID)
}

// addSession stores a session that is not there and was made here. Where one
// of the same id was deleted, this one wins over that.
func (t *Tx) addSession(n amber.Session) error {
	departed, err := t.Returns(amber.ChangeSession, string(n.ID))
	if err != nil {
		return err
	}
	o := t.Origin(departed + 1)
	return t.Do(insertSession, n.ID, n.Name, n.Binding, n.Project, n.Directory, n.StartedAt.UnixMilli(),
		n.EndedAt.UnixMilli(), n.EndReason, n.Summary, n.Parent, n.CreatedAt.UnixMilli(), n.UpdatedAt.UnixMilli(), sqlrows.StoredTrust(n.Trust),
		o.Device, int64(o.Counter), o.Clock)
}

// reopenSession starts a session that exists: it is active again, and no
// longer ended.
func (t *Tx) reopenSession(prev amber.Session, binding string) (amber.Session, error) {
	if prev.Binding != binding {
		return amber.Session{}, amber.Errorf(amber.KindConflict, "start session", string(prev.ID), "the session belongs to another binding")
	}
	active, err := t.activeOf(binding)
	if err != nil {
		return prev, err
	}
	ended := !prev.EndedAt.IsZero()
	if active == prev.ID && !ended {
		return prev, nil
	}
	next := prev
	if ended {
		next.EndedAt, next.EndReason, next.UpdatedAt = amber.Time{}, "", t.Now
	}
	if err := t.activate(next); err != nil {
		return next, err
	}
	return next, t.putSession(next)
}

// Session implements [amber.Sessions].
func (s *Contracts) Session(ctx context.Context, id amber.SessionID) (amber.Session, error) {
	return view(ctx, s.memory, "read session", string(id), func(t *Tx) (amber.Session, error) { return t.session("read session", id) })
}

// ListSessions implements [amber.Sessions].
func (s *Contracts) ListSessions(ctx context.Context, q amber.SessionQuery) (page amber.Page[amber.Session], err error) {
	page.Items = []amber.Session{}
	size, err := amber.Paging{Limit: q.Limit}.Size("list sessions")
	if err != nil {
		return page, err
	}
	ms, id, err := decodeCursor(sessionListing, q.Cursor)
	if err != nil {
		return page, err
	}
	query, args := listSessions(q, ms, id)
	return view(ctx, s.memory, "list sessions", "", func(t *Tx) (amber.Page[amber.Session], error) {
		t.briefly()
		return readPage(t, "sessions", sqlrows.ScanSession, size, func(last amber.Session) amber.Cursor {
			return encodeCursor(sessionListing, last.UpdatedAt.UnixMilli(), string(last.ID))
		}, query, args...)
	})
}

// listSessions returns the query of a page; its limit comes behind its values.
func listSessions(q amber.SessionQuery, ms int64, id string) (string, []any) {
	var c conditions
	if q.Binding != "" {
		c.add("binding = ?", q.Binding)
	}
	if q.Project != "" {
		c.add("project = ? AND project <> ''", q.Project) // the second is what the index asks for
	}
	if q.Trusted {
		c.add("trust <> ?", amber.TrustImported)
	}
	c.add("(updated_at, id) < (?, ?)", ms, id)
	query := "SELECT " + sqlrows.SessionColumns + " FROM sessions WHERE " + c.String() + " ORDER BY updated_at DESC, id DESC LIMIT ?"
	return query, c.args
}

// DeleteSession implements [amber.Sessions].
func (s *Contracts) DeleteSession(ctx context.Context, id amber.SessionID) error {
	return s.memory.Update(ctx, "delete session", string(id), func(t *Tx) error {
		if err := t.DepartTurns(sqlrows.DepartTurns, string(id)); err != nil {
			return err
		}
		if err := t.deleteSession(id); err != nil {
			return err
		}
		if _, err := t.removeTurns(id); err != nil {
			return err
		}
		if err := t.deleteState(id); err != nil {
			return err
		}
		if err := t.clearLoop(id, ""); err != nil {
			return err
		}
		return t.deleteCompactions(id)
	})
}

// deleteSession deletes the session alone, or says not_found.
func (t *Tx) deleteSession(id amber.SessionID) error {
	d := sqlrows.Departure{Scope: amber.ChangeSession, ID: string(id)}
	var counter int64 // whatever it is: a session that cannot be read can go
	err := t.Row(deleteSession, id).Scan(&d.Project, &counter)
	if sqlrows.Absent(err) {
		err = sqlrows.NotFound("delete session", string(id))
	}
	if err != nil {
		return err
	}
	d.Origin = t.Origin(uint64(min(max(counter, 0), sqlrows.MaxCount)) + 1)
	if err := t.Depart(d); err != nil {
		return err
	}
	return t.LogSession(amber.OpDelete, id)
}

// session returns a session or not_found.
func (t *Tx) session(op string, id amber.SessionID) (amber.Session, error) {
	return one(t, op, string(id), sqlrows.ScanSession, selectSession, id)
}

// putSession stores what may change of a session and logs it.
func (t *Tx) putSession(s amber.Session) error {
	if err := t.storeSession(s); err != nil {
		return err
	}
	return t.LogSession(amber.OpUpdate, s.ID)
}

// storeSession is putSession for a caller that logs by itself. The session is a
// new version, of this device. Its trust stays: what it does not change was
// said elsewhere.
func (t *Tx) storeSession(s amber.Session) error {
	return t.Do(updateSession, s.ID, s.Name, s.Project, s.Directory,
		s.EndedAt.UnixMilli(), s.EndReason, s.Summary, s.UpdatedAt.UnixMilli(), t.Current.Device, t.Tick())
}
