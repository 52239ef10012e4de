package image

import (
	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/sqlrows"
)

const (
	selectLiveSession   = `SELECT ` + sqlrows.SessionColumns + `, device, counter, clock FROM live.sessions WHERE id = ?`
	selectLiveDeparture = `SELECT scope, id, session_id, project, device, counter, clock FROM live.departed WHERE scope = ? AND id = ?`

	stampSession = `UPDATE sessions SET device = ?2, counter = ?3, clock = ?4 WHERE id = ?1`
)

// compareSession does for a session what compareMemory does for a memory.
func (a *adoption) compareSession(id string) error {
	own, found, err := sqlrows.Optional(sqlrows.ScanStampedSession(a.Row(sqlrows.SelectOwnSession, id)))
	if err != nil {
		return err
	}
	live, lives, err := sqlrows.Optional(sqlrows.ScanStampedSession(a.Row(selectLiveSession, id)))
	if err != nil {
		return err
	}
	gone, departed, err := sqlrows.Optional(sqlrows.ScanDeparture(a.Row(selectLiveDeparture, amber.ChangeSession, id)))
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
		return a.sendAway(sqlrows.Departure{Scope: amber.ChangeSession, ID: id, Project: live.Project, Origin: live.Origin})
	case departed:
		return a.takeDeparture(gone)
	}
	return nil
}

// stampSession gives a session that says the same as the live one the later of
// both stamps, and another one a new stamp.
func (a *adoption) stampSession(own, live amber.SyncSession) error {
	o := sqlrows.Later(own.Origin, live.Origin)
	own.Session.UpdatedAt, own.Session.Trust = live.Session.UpdatedAt, live.Session.Trust
	switch {
	case own.Session != live.Session:
		o = a.Origin(o.Counter + 1)
		a.report.Stamped++
	case o == own.Origin:
		return nil
	default:
		a.report.TakenOver++
	}
	return a.setOrigin(own.ID, o)
}

// bringBack lets a session of the file win over its departure.
func (a *adoption) bringBack(own amber.SyncSession, gone sqlrows.Departure) error {
	a.report.Stamped++
	return a.setOrigin(own.ID, a.Origin(max(own.Origin.Counter, gone.Counter)+1))
}

func (a *adoption) setOrigin(id amber.SessionID, o amber.Origin) error {
	if _, err := a.Exec(stampSession, id, o.Device, int64(o.Counter), o.Clock); err != nil {
		return err
	}
	return a.LogSession(amber.OpUpdate, id)
}

// sendAway notes that a session or a prompt which only the live file has, and
// whose origin there d has, departs with it.
func (a *adoption) sendAway(d sqlrows.Departure) error {
	own, _, err := sqlrows.Optional(sqlrows.ScanDeparture(a.Row(sqlrows.SelectDeparture, d.Scope, d.ID)))
	if err != nil {
		return err
	}
	d.Origin = a.Origin(max(own.Counter, d.Counter) + 1)
	a.report.Tombstones++
	return a.storeDeparture(d)
}

// takeDeparture takes over a departure that the live file knows, if the file
// knows no later one.
func (a *adoption) takeDeparture(d sqlrows.Departure) error {
	own, found, err := sqlrows.Optional(sqlrows.ScanDeparture(a.Row(sqlrows.SelectDeparture, d.Scope, d.ID)))
	if err != nil || found && !d.After(own.Origin) {
		return err
	}
	a.report.TakenOver++
	return a.storeDeparture(d)
}

func (a *adoption) storeDeparture(d sqlrows.Departure) error {
	if err := a.Depart(d); err != nil {
		return err
	}
	return a.Log(sqlrows.Entry(amber.OpDelete, d.Scope, d.ID, "", ""))
}
