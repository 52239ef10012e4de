package sqlcore

import (
	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/recall/search"
	"github.com/amber-memory/amber/internal/store/sqlrows"
)

const (
	selectHitTurn       = `SELECT ` + sqlrows.TurnColumns + ` FROM turns WHERE id = ?`
	selectHitCompaction = `SELECT ` + sqlrows.CompactionColumns + ` FROM compactions WHERE id = ?`
	selectHitSession    = `SELECT ` + sqlrows.SessionColumns + ` FROM sessions WHERE id = ?`
	selectHitActivity   = `SELECT ` + sqlrows.ActivityColumns + ` FROM activity WHERE seq = CAST(? AS INTEGER)`
	selectHitProject    = `SELECT project FROM sessions WHERE id = ?`
)

func (t *Tx) memoryHit(id string) (amber.Hit, error) {
	m, err := sqlrows.ScanMemory(t.Row(sqlrows.SelectMemory, id))
	return amber.Hit{
		ID: m.ID, SessionID: m.SessionID, ProjectID: m.ProjectID, Title: m.Title, Kind: m.Kind, Scope: m.Scope,
		Content: m.Content, Trust: m.Trust, CreatedAt: m.CreatedAt, UpdatedAt: m.UpdatedAt,
	}, err
}

func (t *Tx) turnHit(id string) (amber.Hit, error) {
	turn, err := sqlrows.ScanTurn(t.Row(selectHitTurn, id))
	if err != nil {
		return amber.Hit{}, err
	}
	return t.ofSession(amber.Hit{
		SessionID: turn.SessionID, ProjectID: turn.ProjectID, Role: turn.Role, Content: turn.Content, Trust: search.TurnTrust(turn),
		CreatedAt: turn.CreatedAt, UpdatedAt: turn.CreatedAt,
	})
}

func (t *Tx) compactionHit(id string) (amber.Hit, error) {
	c, err := sqlrows.ScanCompaction(t.Row(selectHitCompaction, id))
	if err != nil {
		return amber.Hit{}, err
	}
	return t.ofSession(amber.Hit{
		SessionID: c.SessionID, Content: c.Summary, Trust: amber.TrustDerived, CreatedAt: c.CreatedAt, UpdatedAt: c.CreatedAt,
	})
}

func (t *Tx) sessionHit(id string) (amber.Hit, error) {
	s, err := sqlrows.ScanSession(t.Row(selectHitSession, id))
	if err != nil {
		return amber.Hit{}, err
	}
	h := amber.Hit{
		SessionID: s.ID, ProjectID: s.Project, Title: s.Name, Content: s.Summary, Trust: s.Trust, CreatedAt: s.StartedAt, UpdatedAt: s.UpdatedAt,
	}
	if h.Trust == "" {
		h.Trust = amber.TrustDerived
	}
	return t.ofSession(h)
}

func (t *Tx) activityHit(seq string) (amber.Hit, error) {
	a, err := sqlrows.ScanActivity(t.Row(selectHitActivity, seq))
	if err != nil {
		return amber.Hit{}, err
	}
	return t.ofSession(amber.Hit{
		SessionID: a.SessionID, Title: a.Name, Content: a.Detail, Trust: amber.TrustDerived, CreatedAt: a.FirstAt, UpdatedAt: a.LastAt,
	})
}

// noteHit is a section of a note, or the part of it that was found.
func (t *Tx) noteHit(name string, part int) (amber.Hit, error) {
	n, err := sqlrows.ScanNote(t.Row(sqlrows.SelectNote, name))
	if err != nil {
		return amber.Hit{}, err
	}
	hits := search.NoteHits(n)
	if part >= len(hits) {
		return amber.Hit{}, sqlrows.NotFound("read note", name)
	}
	return hits[part], nil
}

// ofSession says where something of a session is visible.
func (t *Tx) ofSession(h amber.Hit) (amber.Hit, error) {
	if h.ProjectID == "" {
		project, _, err := sqlrows.Optional(sqlrows.ScanText(t.Row(selectHitProject, h.SessionID)))
		if err != nil {
			return h, err
		}
		h.ProjectID = project
	}
	h.Scope = amber.ScopeProject
	if h.ProjectID == "" {
		h.Scope = amber.ScopeSession
	}
	return h, nil
}
