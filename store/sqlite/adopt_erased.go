package sqlite

import (
	"fmt"

	"github.com/amber-memory/amber"
)

const (
	liveErased       = `SELECT id FROM live.erased WHERE id > ? ORDER BY id LIMIT ?`
	selectLiveErased = `SELECT device, counter, clock FROM live.erased WHERE id = ?`
	selectErased     = `SELECT device, counter, clock FROM main.erased WHERE id = ?`
	liveRemoved      = `SELECT DISTINCT record FROM live.sync_removed WHERE scope = 'memory' AND record > ? ORDER BY record LIMIT ?`
	removers         = `SELECT place FROM main.sync_removed WHERE scope = 'memory' AND record = ?`
	putErased        = `INSERT OR REPLACE INTO erased (id, device, counter, clock) VALUES (?, ?, ?, ?)`
)

// keepErased removes what was erased since, with what quotes it: a restore
// brings nothing back that somebody wanted gone.
func (a *adoption) keepErased() error {
	if err := a.eachID(liveErased, a.keepErasedID); err != nil {
		return err
	}
	return a.eachID(liveRemoved, func(id string) error {
		m, found, err := a.load(amber.MemoryID(id))
		if err != nil || !found {
			return err
		}
		_, err = a.eraseThereAgain(m)
		return err
	})
}

const (
	takeHeld    = `INSERT OR IGNORE INTO sync_held SELECT * FROM live.sync_held`
	takeRemoved = `INSERT INTO sync_removed SELECT * FROM live.sync_removed WHERE true
ON CONFLICT DO UPDATE SET device = excluded.device, counter = excluded.counter, clock = excluded.clock`
)

// keepHeld takes over what the folders of this agent have, and what was erased
// there: that goes on whatever is restored here.
func (a *adoption) keepHeld() error {
	if !a.grown {
		return a.execAll(takeRemoved)
	}
	return a.execAll(takeHeld, takeRemoved)
}

// scrubErased removes the traces of what was erased. Writing pages means
// locking every attached database for writing, so it comes when the live one
// is no longer attached.
func (a *adoption) scrubErased() error {
	if a.report.KeptErased == 0 {
		return nil
	}
	if _, err := a.exec("DETACH live"); err != nil {
		return err
	}
	return a.inTransaction(a.scrub)
}

func (a *adoption) keepErasedID(id string) error {
	live, err := scanOrigin(a.row(selectLiveErased, id))
	if a.passOver(err) { // that it was erased counts, whatever its stamp is
		live, err = a.origin(1), nil
	}
	if err != nil {
		return err
	}
	m, found, err := a.loadLoosely(amber.MemoryID(id))
	if err != nil {
		return err
	}
	if found {
		gone, err := a.eraseFound(m)
		if err != nil {
			return fmt.Errorf("erase %s: %w", id, err)
		}
		if !gone {
			return nil
		}
	}
	if err := a.forgetSync(amber.MemoryID(id)); err != nil { // a relation may wait for it
		return err
	}
	own, err := scanOrigin(a.row(selectErased, id))
	switch {
	case a.passOver(err):
	case err == nil:
		if live = later(own, live); live == own {
			return nil
		}
	case !absent(err):
		return err
	}
	if _, err = a.exec(putErased, id, live.Device, int64(live.Counter), live.Clock); err != nil || found {
		return err // where it was found, it is logged
	}
	return a.log(change{amber.OpDelete, amber.ChangeMemory, id, "", ""})
}

// eraseFound erases a memory that was erased since: all of it where this agent
// did so, else what was at the folders where it was erased.
func (a *adoption) eraseFound(m amber.Memory) (gone bool, err error) {
	var others bool
	if err := a.row(isRemovedByAny, amber.ChangeMemory, m.ID).Scan(&others); err != nil {
		return false, err
	}
	if others {
		return a.eraseThereAgain(m)
	}
	return true, a.eraseAgain(m)
}

// eraseThereAgain removes the versions that are at folders where the memory was
// erased, and nothing that quotes them.
func (a *adoption) eraseThereAgain(m amber.Memory) (gone bool, err error) {
	places, err := all(a.tx, scanText, removers, m.ID)
	if err != nil {
		return false, err
	}
	for _, place := range places {
		parts, err := a.partsAt(place, m)
		if err != nil {
			return false, err
		}
		if len(parts.held) == 0 {
			continue
		}
		a.report.KeptErased++
		if len(parts.rest) == 0 {
			return true, a.eraseRow(m)
		}
		if err := a.erasePart(m, parts); err != nil {
			return false, err
		}
		if m, _, err = a.load(m.ID); err != nil {
			return false, err
		}
	}
	return false, nil
}

// eraseAgain erases a memory as [Store.Erase] does.
func (a *adoption) eraseAgain(m amber.Memory) error {
	a.report.KeptErased++
	texts, err := a.texts(m)
	if err != nil {
		return err
	}
	if _, err := a.eraseTurns(texts); err != nil {
		return err
	}
	if err := a.eraseRow(m); err != nil {
		return err
	}
	return a.eraseDerived(texts, &amber.EraseReport{})
}

func scanOrigin(s scanner) (o amber.Origin, err error) {
	if err = s.Scan(&o.Device, &o.Counter, &o.Clock); err != nil {
		return o, err
	}
	return o, fitOrigin("erased", "", o)
}
