package sqlrows

import (
	"cmp"
	"encoding/json"

	"github.com/amber-memory/amber"
)

const (
	ActivityColumns   = `session_id, kind, name, detail, status, count, failed, first_at, last_at`
	SelectOwnSession  = `SELECT ` + SessionColumns + `, device, counter, clock FROM main.sessions WHERE id = ?`
	SelectDeparture   = `SELECT scope, id, session_id, project, device, counter, clock FROM main.departed WHERE scope = ? AND id = ?`
	CompactionColumns = `id, session_id, summary, turns, created_at`
	CursorColumns     = `c.journal, c.host, c.session_id, c.seq, c.last_at, c.pid, c.process_start, c.boot, c.namespace`
	SessionColumns    = `id, name, binding, project, directory, started_at, coalesce(ended_at, 0), end_reason, summary, parent, created_at, updated_at, trust`
	TurnColumns       = `id, session_id, role, content, project_id, created_at, trust`
)

func ScanActivity(s scanner) (amber.Activity, error) {
	var a amber.Activity
	var firstAt, lastAt int64
	err := s.Scan(&a.SessionID, &a.Kind, &a.Name, &a.Detail, &a.Status, &a.Count, &a.Failed, &firstAt, &lastAt)
	a.FirstAt, a.LastAt = amber.UnixMilli(firstAt), amber.UnixMilli(lastAt)
	if err != nil {
		return a, err
	}
	return a, fit("activity", string(a.SessionID), []int64{a.Count, a.Failed}, []int64{firstAt, lastAt})
}

func Later(a, b amber.Origin) amber.Origin {
	if b.After(a) {
		return b
	}
	return a
}

// Optional tells a row that is not there from an error.
func Optional[T any](v T, err error) (T, bool, error) {
	if Absent(err) {
		return v, false, nil
	}
	return v, err == nil, err
}

func ScanDeparture(s scanner) (d Departure, err error) {
	err = s.Scan(&d.Scope, &d.ID, &d.Session, &d.Project, &d.Device, &d.Counter, &d.Clock)
	if err != nil {
		return d, err
	}
	return d, fitOrigin("departed", d.ID, d.Origin)
}

// ScanStampedSession reads a session and, behind it, its origin.
func ScanStampedSession(s scanner) (n amber.SyncSession, err error) {
	n.Session, err = ScanSession(withOrigin{s, &n.Origin})
	if err != nil {
		return n, err
	}
	return n, fitOrigin("sessions", string(n.ID), n.Origin)
}

func ScanCompaction(s scanner) (amber.Compaction, error) {
	var c amber.Compaction
	var createdAt int64
	err := s.Scan(&c.ID, &c.SessionID, &c.Summary, &c.Turns, &createdAt)
	c.CreatedAt = amber.UnixMilli(createdAt)
	if err != nil {
		return c, err
	}
	return c, fit("compactions", c.ID, []int64{int64(c.Turns)}, []int64{createdAt})
}

func ScanCursor(s scanner) (amber.JournalCursor, error) {
	var c amber.JournalCursor
	var lastAt int64
	p := &c.Process
	err := s.Scan(&c.Journal, &c.Host, &c.Session, &c.Seq, &lastAt, &p.PID, &p.Start, &p.Boot, &p.Namespace, &c.Ended)
	c.LastAt = amber.UnixMilli(lastAt)
	if err != nil {
		return c, err
	}
	return c, fit("journal_cursors", c.Journal, []int64{c.Seq}, []int64{lastAt})
}

func ScanLoop(s scanner) (amber.PendingLoop, error) {
	var loop amber.PendingLoop
	var state string
	var createdAt int64
	if err := s.Scan(&loop.SessionID, &loop.RunID, &state, &loop.Revision, &loop.Digest, &createdAt, &loop.Parked); err != nil {
		return loop, err
	}
	if amber.ContentDigest(state) != loop.Digest {
		return amber.PendingLoop{}, unreadable("loops", string(loop.SessionID), "the state does not match its digest")
	}
	loop.State, loop.CreatedAt = json.RawMessage(state), amber.UnixMilli(createdAt)
	if !json.Valid(loop.State) {
		return loop, NotJSON("loops", string(loop.SessionID), "state")
	}
	return loop, fit("loops", string(loop.SessionID), []int64{loop.Revision}, []int64{createdAt})
}

func (t *Tx) LogSession(op amber.Op, id amber.SessionID) error {
	return t.Log(Change{op, amber.ChangeSession, string(id), "", ""})
}

func ScanSession(s scanner) (amber.Session, error) {
	var n amber.Session
	var startedAt, endedAt, createdAt, updatedAt int64
	err := s.Scan(&n.ID, &n.Name, &n.Binding, &n.Project, &n.Directory, &startedAt, &endedAt,
		&n.EndReason, &n.Summary, &n.Parent, &createdAt, &updatedAt, &n.Trust)
	n.Trust = loadedTrust(n.Trust)
	n.StartedAt, n.EndedAt = amber.UnixMilli(startedAt), amber.UnixMilli(endedAt)
	n.CreatedAt, n.UpdatedAt = amber.UnixMilli(createdAt), amber.UnixMilli(updatedAt)
	if err != nil {
		return n, err
	}
	return n, fit("sessions", string(n.ID), nil, []int64{startedAt, endedAt, createdAt, updatedAt})
}

// StoredTrust is the trust of a session or a turn as it is stored.
func StoredTrust(t amber.Trust) amber.Trust { return cmp.Or(t, amber.TrustOwn) }

// loadedTrust reads what storedTrust writes.
func loadedTrust(t amber.Trust) amber.Trust {
	if t == amber.TrustOwn {
		return ""
	}
	return t
}

func ScanState(s scanner) (amber.SessionState, error) {
	var state amber.SessionState
	var doc string
	var updatedAt int64
	err := s.Scan(&state.SessionID, &doc, &state.Version, &updatedAt)
	state.Document, state.UpdatedAt = json.RawMessage(doc), amber.UnixMilli(updatedAt)
	switch {
	case err != nil:
		return state, err
	case !json.Valid(state.Document):
		return state, NotJSON("session_states", string(state.SessionID), "document")
	}
	return state, fit("session_states", string(state.SessionID), []int64{state.Version}, []int64{updatedAt})
}

func ScanTurn(s scanner) (amber.Turn, error) {
	var turn amber.Turn
	var createdAt int64
	err := s.Scan(&turn.ID, &turn.SessionID, &turn.Role, &turn.Content, &turn.ProjectID, &createdAt, &turn.Trust)
	turn.Trust = loadedTrust(turn.Trust)
	turn.CreatedAt = amber.UnixMilli(createdAt)
	if err != nil {
		return turn, err
	}
	return turn, fit("turns", string(turn.ID), nil, []int64{createdAt})
}

// withOrigin is a row with an origin behind its other values.
type withOrigin struct {
	scanner
	O *amber.Origin
}

func (w withOrigin) Scan(dest ...any) error {
	return w.scanner.Scan(append(dest, &w.O.Device, &w.O.Counter, &w.O.Clock)...)
}
