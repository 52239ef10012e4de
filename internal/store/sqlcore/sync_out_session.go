package sqlcore

import (
	"cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/sqlrows"
)

// departedOf must use departed_session: of most sessions nothing has departed.
const departedOf = `SELECT scope, id, session_id, project, device, counter, clock FROM departed
WHERE session_id = ? AND session_id <> '' ORDER BY scope, id`

const isJournaled = `SELECT EXISTS (SELECT 1 FROM journal_cursors WHERE session_id = ?)`

// journaled returns those sessions of the step that came from the crash journal.
func (e *export) journaled() (map[amber.SessionID]bool, error) {
	told := map[amber.SessionID]bool{}
	for _, r := range e.sessions {
		var is bool
		if err := e.Row(isJournaled, r.Session.ID).Scan(&is); err != nil {
			return nil, err
		}
		if is {
			told[r.Session.ID] = true
		}
	}
	return told, nil
}

// session exports a session, or that it was deleted.
func (e *export) session(id amber.SessionID) error {
	if e.brought[id] {
		return nil
	}
	s, found, err := e.SyncSession(id)
	if err != nil {
		return err
	}
	if found {
		if e.wants(s.Project) {
			e.add(s)
		}
		return nil
	}
	d, found, err := e.departed(amber.ChangeSession, string(id))
	if err != nil || !found {
		return err
	}
	return e.leave(d)
}

// bring exports the session of an exported record, if the place wants that project. A session of
// another project stays here. So does a session that is not in the catalogue: it belongs to no
// project.
func (e *export) bring(id amber.SessionID) error {
	if id == "" || e.brought[id] {
		return nil
	}
	s, found, err := e.SyncSession(id)
	if found && e.wants(s.Project) {
		e.add(s)
	}
	return err
}

func (e *export) add(s amber.SyncSession) {
	e.brought[s.ID] = true
	e.sessions = append(e.sessions, amber.SyncRecord{Session: &s})
}

// turn exports a prompt, or that it was deleted. The entry about many that
// went at once names their session.
func (e *export) turn(id string) error {
	turn, err := sqlrows.ScanTurn(e.Row(selectTurn, id))
	switch {
	case err == nil && turn.Role == amber.RoleUser:
		return e.prompt(turn)
	case err != nil && !sqlrows.Absent(err):
		return err
	}
	d, found, err := e.departed(amber.ChangeTurn, id)
	if err != nil {
		return err
	}
	if found {
		if err := e.leave(d); err != nil {
			return err
		}
	}
	of, err := sqlrows.All(e.Tx.Tx, sqlrows.ScanDeparture, departedOf, id)
	if err != nil {
		return err
	}
	for _, d := range of {
		if err := e.leave(d); err != nil {
			return err
		}
	}
	return nil
}

func (e *export) prompt(turn amber.Turn) error {
	if e.ask.Project != "" {
		s, _, err := e.SyncSession(turn.SessionID)
		if err != nil || !e.wants(cmp.Or(turn.ProjectID, s.Project)) {
			return err
		}
	}
	e.bytes += len(turn.Content)
	e.rest = append(e.rest, amber.SyncRecord{Prompt: &turn})
	return e.bring(turn.SessionID)
}

// leave exports that a record was deleted, once.
func (e *export) leave(d sqlrows.Departure) error {
	ref := amber.SyncRef{Scope: d.Scope, ID: d.ID}
	if d.Project != "" && !e.wants(d.Project) || e.gone[ref] {
		return nil
	}
	if tell, err := e.tells(ref); err != nil || !tell {
		return err
	}
	e.gone[ref] = true
	e.rest = append(e.rest, amber.SyncRecord{Gone: &amber.SyncGone{Scope: d.Scope, ID: d.ID, Origin: d.Origin}})
	return nil
}

// SyncSession returns a session with its origin. A session that has not changed since origins were
// introduced has none, and was made here.
func (t *Tx) SyncSession(id amber.SessionID) (amber.SyncSession, bool, error) {
	s, found, err := sqlrows.Optional(sqlrows.ScanStampedSession(t.Row(sqlrows.SelectOwnSession, id)))
	s.Origin.Device = cmp.Or(s.Origin.Device, t.Current.Device)
	return s, found, err
}

// departed returns what is left of a session or a prompt.
func (t *Tx) departed(scope amber.ChangeScope, id string) (sqlrows.Departure, bool, error) {
	return sqlrows.Optional(sqlrows.ScanDeparture(t.Row(sqlrows.SelectDeparture, scope, id)))
}
