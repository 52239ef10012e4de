package sqlite

import (
	"fmt"

	"github.com/amber-memory/amber"
)

const (
	liveErased       = `SELECT id FROM live.erased WHERE id > ? ORDER BY id LIMIT ?`
	selectLiveErased = `SELECT device, counter, clock FROM live.erased WHERE id = ?`
	selectErased     = `SELECT device, counter, clock FROM main.erased WHERE id = ?`
	putErased        = `INSERT OR REPLACE INTO erased (id, device, counter, clock) VALUES (?, ?, ?, ?)`
)

// keepErased removes what was erased since, with what quotes it: a restore
// brings nothing back that somebody wanted gone.
func (a *adoption) keepErased() error {
	return a.eachID(liveErased, a.keepErasedID)
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
		if err := a.eraseAgain(m); err != nil {
			return fmt.Errorf("erase %s: %w", id, err)
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
