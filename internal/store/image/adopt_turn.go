package image

import (
	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/sqlrows"
)

const (
	selectContent  = `SELECT content FROM main.turns WHERE id = ?`
	selectLiveTurn = `SELECT 'turn', t.id, t.session_id, coalesce(nullif(t.project_id, ''), s.project, ''), '', 1, 0
FROM live.turns t LEFT JOIN live.sessions s ON s.id = t.session_id WHERE t.id = ? AND t.role = 'user' AND t.trust IN ('own', 'agent')`
)

// compareTurn does for a prompt what compareMemory does for a memory. A prompt
// never changes: it is there, or has departed, or was never seen.
func (a *adoption) compareTurn(id string) error {
	gone, departed, err := sqlrows.Optional(sqlrows.ScanDeparture(a.Row(selectLiveDeparture, amber.ChangeTurn, id)))
	if err != nil {
		return err
	}
	content, found, err := sqlrows.Optional(sqlrows.ScanText(a.Row(selectContent, id)))
	switch {
	case err != nil:
		return err
	case found && departed: // it is here again, as if it had been said
		a.report.Stamped++
		return a.Log(sqlrows.Entry(amber.OpInsert, amber.ChangeTurn, id, "", amber.ContentDigest(content)))
	case found:
		return nil
	case departed:
		return a.takeDeparture(gone)
	}
	live, lives, err := sqlrows.Optional(sqlrows.ScanDeparture(a.Row(selectLiveTurn, id)))
	if err != nil || !lives {
		return err
	}
	return a.sendAway(live)
}
