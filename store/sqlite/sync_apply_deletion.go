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
		err = n.eraseMemory(m)
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

// eraseMemory erases a memory as [Store.Erase] does. What quotes it and goes
// with it may be known elsewhere, where nobody can tell.
func (n *intent) eraseMemory(m amber.Memory) error {
	n.cleared = true
	texts, err := n.texts(m)
	if err != nil {
		return err
	}
	err = n.asOwn(func() error {
		_, err := n.eraseTurns(texts)
		return err
	})
	if err != nil {
		return err
	}
	if err := n.eraseRow(m); err != nil {
		return err
	}
	return n.asOwn(func() error { return n.eraseDerived(texts, &amber.EraseReport{}) })
}

// applyGoneTurn deletes a prompt, or sees to it that it never comes.
func (n *intent) applyGoneTurn(g amber.SyncGone) error {
	d, departed, err := n.departed(amber.ChangeTurn, g.ID)
	if err != nil {
		return err
	}
	if err := mayFollow(g.ID, g.Origin, d.Counter); err != nil {
		return err
	}
	if departed && !g.Origin.After(d.Origin) {
		return nil
	}
	n.result.Prompts++
	d.scope, d.id, d.Origin = amber.ChangeTurn, g.ID, g.Origin
	turn, found, err := optional(scanTurn(n.row(selectTurn, g.ID)))
	if err != nil {
		return err
	}
	if found && turn.Role == amber.RoleUser {
		s, _, err := n.syncSession(turn.SessionID)
		if err != nil {
			return err
		}
		d.session, d.project = string(turn.SessionID), cmp.Or(turn.ProjectID, s.Project)
		if _, err := n.exec(deleteTurnsWith, g.ID); err != nil {
			return err
		}
	}
	return n.noteGone(d)
}

// applyGoneSession deletes a session with everything that deleting it here
// would, unless it was changed later.
func (n *intent) applyGoneSession(g amber.SyncGone) error {
	id := amber.SessionID(g.ID)
	s, found, known, err := n.knownSession(id)
	if err != nil {
		return err
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
	if found {
		known.project = s.Project
	}
	return n.noteGone(known)
}

// removeSession removes a session and what belongs to it. Prompts that whoever
// deleted it did not know of go with it, and that is news.
func (n *intent) removeSession(id amber.SessionID) error {
	if err := n.departTurns(departTurns, string(id)); err != nil {
		return err
	}
	err := n.asOwn(func() error {
		_, err := n.removeTurns(id)
		return err
	})
	if err != nil {
		return err
	}
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

// noteGone stores and logs a departure.
func (n *intent) noteGone(d departure) error {
	if err := n.depart(d); err != nil {
		return err
	}
	return n.log(change{amber.OpDelete, d.scope, d.id, "", ""})
}
