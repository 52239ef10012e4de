package sqlite

import (
	"github.com/amber-memory/amber"
)

const (
	selectOwnSession    = `SELECT ` + sessionColumns + `, device, counter, clock FROM main.sessions WHERE id = ?`
	selectLiveSession   = `SELECT ` + sessionColumns + `, device, counter, clock FROM live.sessions WHERE id = ?`
	selectDeparture     = `SELECT scope, id, session_id, project, device, counter, clock FROM main.departed WHERE scope = ? AND id = ?`
	selectLiveDeparture = `SELECT scope, id, session_id, project, device, counter, clock FROM live.departed WHERE scope = ? AND id = ?`

	stampSession = `UPDATE sessions SET device = ?2, counter = ?3, clock = ?4 WHERE id = ?1`
)

// compareSession does for a session what compareMemory does for a memory.
func (a *adoption) compareSession(id string) error {
	own, found, err := optional(scanStampedSession(a.row(selectOwnSession, id)))
	if err != nil {
		return err
	}
	live, lives, err := optional(scanStampedSession(a.row(selectLiveSession, id)))
	if err != nil {
		return err
	}
	gone, departed, err := optional(scanDeparture(a.row(selectLiveDeparture, amber.ChangeSession, id)))
	switch {
	case err != nil:
		return err
	case found && lives:
		return a.stampSession(own, live)
	case found && departed:
		return a.bringBack(own, gone)
	case lives && !a.isOurs(live.Origin):
		return nil
	case lives:
		return a.sendAway(departure{scope: amber.ChangeSession, id: id, project: live.Project, Origin: live.Origin})
	case departed:
		return a.takeDeparture(gone)
	}
	return nil
}

// stampSession gives a session that says the same as the live one the later of
// both stamps, and another one a new stamp.
func (a *adoption) stampSession(own, live amber.SyncSession) error {
	o := later(own.Origin, live.Origin)
	own.Session.UpdatedAt, own.Session.Trust = live.Session.UpdatedAt, live.Session.Trust
	switch {
	case own.Session != live.Session:
		o = a.origin(o.Counter + 1)
		a.report.Stamped++
	case o == own.Origin:
		return nil
	default:
		a.report.TakenOver++
	}
	return a.setOrigin(own.ID, o)
}

// bringBack lets a session of the file win over its departure.
func (a *adoption) bringBack(own amber.SyncSession, gone departure) error {
	a.report.Stamped++
	return a.setOrigin(own.ID, a.origin(max(own.Origin.Counter, gone.Counter)+1))
}

func (a *adoption) setOrigin(id amber.SessionID, o amber.Origin) error {
	if _, err := a.exec(stampSession, id, o.Device, int64(o.Counter), o.Clock); err != nil {
		return err
	}
	return a.logSession(amber.OpUpdate, id)
}

// sendAway notes that a session or a prompt which only the live file has, and
// whose origin there d has, departs with it.
func (a *adoption) sendAway(d departure) error {
	own, _, err := optional(scanDeparture(a.row(selectDeparture, d.scope, d.id)))
	if err != nil {
		return err
	}
	d.Origin = a.origin(max(own.Counter, d.Counter) + 1)
	a.report.Tombstones++
	return a.storeDeparture(d)
}

// takeDeparture takes over a departure that the live file knows, if the file
// knows no later one.
func (a *adoption) takeDeparture(d departure) error {
	own, found, err := optional(scanDeparture(a.row(selectDeparture, d.scope, d.id)))
	if err != nil || found && !d.After(own.Origin) {
		return err
	}
	a.report.TakenOver++
	return a.storeDeparture(d)
}

func (a *adoption) storeDeparture(d departure) error {
	if err := a.depart(d); err != nil {
		return err
	}
	return a.log(change{amber.OpDelete, d.scope, d.id, "", ""})
}

// optional tells a row that is not there from an error.
func optional[T any](v T, err error) (T, bool, error) {
	if absent(err) {
		return v, false, nil
	}
	return v, err == nil, err
}

func scanDeparture(s scanner) (d departure, err error) {
	err = s.Scan(&d.scope, &d.id, &d.session, &d.project, &d.Device, &d.Counter, &d.Clock)
	if err != nil {
		return d, err
	}
	return d, fitOrigin("departed", d.id, d.Origin)
}

// scanStampedSession reads a session and, behind it, its origin.
func scanStampedSession(s scanner) (n amber.SyncSession, err error) {
	n.Session, err = scanSession(withOrigin{s, &n.Origin})
	if err != nil {
		return n, err
	}
	return n, fitOrigin("sessions", string(n.ID), n.Origin)
}

// withOrigin is a row with an origin behind its other values.
type withOrigin struct {
	scanner
	o *amber.Origin
}

func (w withOrigin) Scan(dest ...any) error {
	return w.scanner.Scan(append(dest, &w.o.Device, &w.o.Counter, &w.o.Clock)...)
}
