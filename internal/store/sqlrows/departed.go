package sqlrows

import (
	"fmt"

	"github.com/amber-memory/amber"
)

// A session or a prompt that is deleted leaves a row in departed, without
// text, so that no import brings it back. Only turns of the user are prompts;
// the others never leave the store.

const (
	insertDeparted = `INSERT OR REPLACE INTO departed (scope, id, session_id, project, device, counter, clock) VALUES (?, ?, ?, ?, ?, ?, ?)`
	// Both find the project of a prompt as long as its session is there.
	DepartTurns = `INSERT OR REPLACE INTO departed (scope, id, session_id, project, device, counter, clock)
SELECT 'turn', t.id, t.session_id, coalesce(nullif(t.project_id, ''), s.project, ''), ?2, ?3, ?4
FROM turns t LEFT JOIN sessions s ON s.id = t.session_id WHERE t.session_id = ?1 AND t.role = 'user'`
	departTurn = `INSERT OR REPLACE INTO departed (scope, id, session_id, project, device, counter, clock)
SELECT 'turn', t.id, t.session_id, coalesce(nullif(t.project_id, ''), s.project, ''), ?2, ?3, ?4
FROM turns t LEFT JOIN sessions s ON s.id = t.session_id WHERE t.id = ?1 AND t.role = 'user'`
	DeleteDeparted = `DELETE FROM departed WHERE scope = ? AND id = ? RETURNING counter`
)

// Departure is a row of departed.
type Departure struct {
	Scope   amber.ChangeScope // session or turn
	ID      string
	Session string // of a turn
	Project string
	amber.Origin
}

// Depart stores a departure, in place of one that is there.
func (t *Tx) Depart(d Departure) error {
	err := t.Do(insertDeparted, d.Scope, d.ID, d.Session, d.Project, d.Device, int64(d.Counter), d.Clock)
	if err != nil {
		return fmt.Errorf("note departure: %w", err)
	}
	return nil
}

// DepartTurns notes the departure of turns that a query finds by a key and
// that are about to be deleted. A prompt has one version, so its departure is
// the second.
func (t *Tx) DepartTurns(query, key string) error {
	o := t.Origin(2)
	if err := t.Do(query, key, o.Device, int64(o.Counter), o.Clock); err != nil {
		return fmt.Errorf("note departure: %w", err)
	}
	return nil
}

// Returns takes back a departure: the record is there again. It tells the
// counter of the departure, 0 where there was none.
func (t *Tx) Returns(scope amber.ChangeScope, id string) (counter uint64, err error) {
	if err := t.Do(deleteRemoved, scope, id); err != nil {
		return 0, err
	}
	err = t.Row(DeleteDeparted, scope, id).Scan(&counter)
	if Absent(err) {
		return 0, nil
	}
	return counter, err
}
