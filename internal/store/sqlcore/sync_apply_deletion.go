package sqlcore

import (
	"cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/sqlrows"
)

// applyErased erases the versions of a memory that the place has. If this home has none of it,
// applyErased makes sure that it never comes from there. Versions that were never at the place
// stay. Applying the erasure again changes nothing: the device that erased the memory cannot have
// meant versions that arrive later.
func (n *intent) applyErased(e amber.SyncErased) error {
	ref := memoryRef(e.ID)
	known, erased, err := sqlrows.Optional(sqlrows.ScanOrigin(n.Row(sqlrows.SelectErased, e.ID)))
	if err != nil {
		return err
	}
	m, found, err := n.Load(e.ID)
	if err != nil {
		return err
	}
	highest, err := n.Highest(m)
	if err != nil {
		return err
	}
	if err := mayFollow(string(e.ID), e.Origin, max(highest, known.Counter)); err != nil {
		return err
	}
	here, at, err := n.removedBy(n.chunk.Place, ref)
	switch {
	case err != nil:
		return err
	case erased && here:
		return n.eraseLater(e, known) // it stays this agent's own
	case at:
		return n.eraseAgain(e, erased, known)
	case found:
		return n.eraseThere(m, e.Origin)
	}
	if err := n.ForgetSync(e.ID); err != nil {
		return err
	}
	if err := n.noteRemoved(n.chunk.Place, ref, e.Origin); err != nil {
		return err
	}
	if erased {
		return n.eraseLater(e, known)
	}
	return n.putErased(e)
}

// eraseLater keeps the later of two erasures of one memory.
func (n *intent) eraseLater(e amber.SyncErased, known amber.Origin) error {
	if !e.Origin.After(known) {
		return nil
	}
	return n.putErased(e)
}

// eraseAgain is for a memory that the place has erased before.
func (n *intent) eraseAgain(e amber.SyncErased, erased bool, known amber.Origin) error {
	was, err := sqlrows.ScanOrigin(n.Row(selectRemoved, amber.ChangeMemory, e.ID, n.chunk.Place))
	if err != nil || !e.Origin.After(was) {
		return err
	}
	if err := n.noteRemoved(n.chunk.Place, memoryRef(e.ID), e.Origin); err != nil || !erased {
		return err
	}
	return n.eraseLater(e, known)
}

// putErased notes and logs that a memory which is not here was erased.
func (n *intent) putErased(e amber.SyncErased) error {
	n.result.Memories++
	if err := n.Do(sqlrows.PutErased, e.ID, e.Origin.Device, int64(e.Origin.Counter), e.Origin.Clock); err != nil {
		return err
	}
	return n.Log(sqlrows.Entry(amber.OpDelete, amber.ChangeMemory, string(e.ID), "", ""))
}

// applyGoneTurn deletes a prompt, or makes sure that it never comes from the place. Turns that are
// no prompts never leave the store, so no other device deletes them.
func (n *intent) applyGoneTurn(g amber.SyncGone) error {
	ref := turnRef(g.ID)
	d, departed, err := n.departed(amber.ChangeTurn, g.ID)
	if err != nil {
		return err
	}
	turn, found, err := sqlrows.Optional(sqlrows.ScanTurn(n.Row(selectTurn, g.ID)))
	if err != nil || found && turn.Role != amber.RoleUser {
		return err
	}
	if err := mayFollow(g.ID, g.Origin, d.Counter); err != nil {
		return err
	}
	if found {
		if say, err := n.saysGone(ref, amber.Origin{}); err != nil || !say {
			return err
		}
		s, _, err := n.SyncSession(turn.SessionID)
		if err != nil {
			return err
		}
		d.Session, d.Project = string(turn.SessionID), cmp.Or(turn.ProjectID, s.Project)
	}
	if stop, err := n.knowsGone(ref, departed, d.Origin, g.Origin); err != nil || stop {
		return err
	}
	n.result.Prompts++
	d.Scope, d.ID, d.Origin = amber.ChangeTurn, g.ID, g.Origin
	if found {
		if err := n.Do(sqlrows.DeleteTurnsWith, g.ID); err != nil {
			return err
		}
	}
	return n.noteGone(d)
}

// saysGone reports whether the place has a say in a session or prompt, and passes
// over its deletion otherwise.
func (n *intent) saysGone(ref amber.SyncRef, o amber.Origin) (bool, error) {
	say, err := n.holds(amber.SyncMark{Ref: ref, Origin: o})
	if err == nil && !say {
		err = n.spare(ref)
	}
	return say, err
}

// knowsGone reports whether nothing is left to do about a deletion that was known before. A
// deletion by this agent stays its own; knowsGone notes the deletion by another device for the
// place. Another place may bring the record later, and this agent may then export it to this place.
// In that case the chunk is read once more; otherwise those who use this place alone would never
// have the deletion.
func (n *intent) knowsGone(ref amber.SyncRef, departed bool, known, now amber.Origin) (stop bool, err error) {
	if err := n.spare(ref); err != nil {
		return false, err
	}
	here, _, err := n.removedBy(n.chunk.Place, ref)
	if err != nil {
		return false, err
	}
	if !departed || !here {
		if err := n.noteRemoved(n.chunk.Place, ref, now); err != nil {
			return false, err
		}
	}
	return departed && !now.After(known), nil
}

// applyGoneSession deletes a session, unless it was changed later. The prompts
// that the device which deleted it knew are gone by records of their own; others stay, and
// so does what never left: answers, state, loops and compactions.
func (n *intent) applyGoneSession(g amber.SyncGone) error {
	id := amber.SessionID(g.ID)
	s, found, known, departed, err := n.knownSession(id)
	if err != nil {
		return err
	}
	if err := mayFollow(g.ID, g.Origin, known.Counter); err != nil {
		return err
	}
	if found {
		if !g.Origin.After(known.Origin) {
			return nil
		}
		if say, err := n.saysGone(sessionRef(id), s.Origin); err != nil || !say {
			return err
		}
		known.Project = s.Project
	}
	if stop, err := n.knowsGone(sessionRef(id), departed, known.Origin, g.Origin); err != nil || stop {
		return err
	}
	n.result.Sessions++
	if found {
		var project string
		var counter uint64
		if err := n.Row(deleteSession, id).Scan(&project, &counter); err != nil {
			return err
		}
	}
	known.Scope, known.ID, known.Origin = amber.ChangeSession, g.ID, g.Origin
	return n.noteGone(known)
}

// noteGone stores and logs a departure.
func (n *intent) noteGone(d sqlrows.Departure) error {
	if err := n.Depart(d); err != nil {
		return err
	}
	return n.Log(sqlrows.Entry(amber.OpDelete, d.Scope, d.ID, "", ""))
}
