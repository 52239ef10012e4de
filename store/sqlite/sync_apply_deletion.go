package sqlite

import (
	"cmp"

	"github.com/amber-memory/amber"
)

// applyErased erases a memory, or sees to it that it never comes.
func (n *intent) applyErased(e amber.SyncErased) error {
	m, found, err := n.load(e.ID)
	if err != nil {
		return err
	}
	if found {
		if m.Scope == amber.ScopeUser {
			return nil
		}
		if spared, err := n.spares(m.Trust, m.ProjectID); err != nil || spared {
			return err
		}
	}
	known, erased, err := optional(scanOrigin(n.row(selectErased, e.ID)))
	if err != nil {
		return err
	}
	if err := mayFollow(string(e.ID), e.Origin, max(m.Origin.Counter, known.Counter)); err != nil {
		return err
	}
	if erased && !e.Origin.After(known) {
		return nil
	}
	n.result.Memories++
	if found {
		// What quotes it is somebody's own. The prompts that whoever erased it
		// removed are gone by records of their own.
		n.cleared = true
		err = n.eraseRow(m)
	} else {
		err = n.forgetSync(e.ID)
	}
	if err != nil {
		return err
	}
	if _, err := n.exec(putErased, e.ID, e.Origin.Device, int64(e.Origin.Counter), e.Origin.Clock); err != nil {
		return err
	}
	if found {
		return nil // and it is logged
	}
	return n.log(change{amber.OpDelete, amber.ChangeMemory, string(e.ID), "", ""})
}

// applyGoneTurn deletes a prompt, or sees to it that it never comes. Turns that
// are no prompts never leave the store, and nobody elsewhere deletes them.
func (n *intent) applyGoneTurn(g amber.SyncGone) error {
	d, departed, err := n.departed(amber.ChangeTurn, g.ID)
	if err != nil {
		return err
	}
	turn, found, err := optional(scanTurn(n.row(selectTurn, g.ID)))
	if err != nil || found && turn.Role != amber.RoleUser {
		return err
	}
	if found {
		s, _, err := n.syncSession(turn.SessionID)
		if err != nil {
			return err
		}
		d.session, d.project = string(turn.SessionID), cmp.Or(turn.ProjectID, s.Project)
		if spared, err := n.spares(storedTrust(turn.Trust), d.project); err != nil || spared {
			return err
		}
	}
	if err := mayFollow(g.ID, g.Origin, d.Counter); err != nil {
		return err
	}
	if departed && !g.Origin.After(d.Origin) {
		return nil
	}
	n.result.Prompts++
	d.scope, d.id, d.Origin = amber.ChangeTurn, g.ID, g.Origin
	if found {
		if _, err := n.exec(deleteTurnsWith, g.ID); err != nil {
			return err
		}
	}
	if err := n.noteGone(d); err != nil || !found {
		return err
	}
	return n.removeAnswers(turn.SessionID)
}

// applyGoneSession deletes a session, unless it was changed later. The prompts
// that whoever deleted it knew are gone by records of their own; others stay.
func (n *intent) applyGoneSession(g amber.SyncGone) error {
	id := amber.SessionID(g.ID)
	s, found, known, err := n.knownSession(id)
	if err != nil {
		return err
	}
	if found {
		if spared, err := n.spares(storedTrust(s.Trust), s.Project); err != nil || spared {
			return err
		}
		known.project = s.Project
	}
	if err := mayFollow(g.ID, g.Origin, known.Counter); err != nil {
		return err
	}
	if !g.Origin.After(known.Origin) {
		return nil
	}
	n.result.Sessions++
	if found {
		if err := n.removeSession(id); err != nil {
			return err
		}
	}
	known.scope, known.id, known.Origin = amber.ChangeSession, g.ID, g.Origin
	if err := n.noteGone(known); err != nil || !found {
		return err
	}
	return n.removeAnswers(id)
}

// removeSession removes a session and what belongs to it but its turns.
func (n *intent) removeSession(id amber.SessionID) error {
	var project string
	var counter uint64
	if err := n.row(deleteSession, id).Scan(&project, &counter); err != nil {
		return err
	}
	if err := n.deleteState(id); err != nil {
		return err
	}
	if err := n.clearLoop(id, ""); err != nil {
		return err
	}
	return n.deleteCompactions(id)
}

// isSilent tells whether a session was deleted and nothing is left that
// somebody asked in it.
const isSilent = `SELECT EXISTS (SELECT 1 FROM departed WHERE scope = 'session' AND id = ?1)
 AND NOT EXISTS (SELECT 1 FROM turns WHERE session_id = ?1 AND role = 'user')`

// removeAnswers removes the other turns of a session that was deleted, with the
// last of its prompts.
func (n *intent) removeAnswers(id amber.SessionID) error {
	var silent bool
	if err := n.row(isSilent, id).Scan(&silent); err != nil || !silent {
		return err
	}
	_, err := n.removeTurns(id)
	return err
}

const selectGiven = `SELECT project FROM sync_places WHERE place = ? AND position <> ''`

// spares reports whether a record is one that the place has no say in: it was
// made here, and the place was exported to for other projects only. That may
// change, so the chunk counts as applied only when nothing in it was spared.
func (n *intent) spares(t amber.Trust, project string) (bool, error) {
	if t != amber.TrustOwn {
		return false, nil
	}
	if n.given == nil {
		projects, err := all(n.tx, scanText, selectGiven, n.chunk.Place)
		if err != nil {
			return false, err
		}
		n.given = map[string]bool{}
		for _, p := range projects {
			n.given[p] = true
		}
	}
	spared := len(n.given) > 0 && !n.given[""] && !n.given[project]
	n.spared = n.spared || spared
	return spared, nil
}

// noteGone stores and logs a departure.
func (n *intent) noteGone(d departure) error {
	if err := n.depart(d); err != nil {
		return err
	}
	return n.log(change{amber.OpDelete, d.scope, d.id, "", ""})
}
