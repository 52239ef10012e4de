package image

import (
	"fmt"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/sqlrows"
)

const (
	liveErased       = `SELECT id FROM live.erased WHERE id > ? ORDER BY id LIMIT ?`
	selectLiveErased = `SELECT device, counter, clock FROM live.erased WHERE id = ?`
	liveRemoved      = `SELECT DISTINCT record FROM live.sync_removed WHERE scope = 'memory' AND record > ? ORDER BY record LIMIT ?`
	removers         = `SELECT place FROM main.sync_removed WHERE scope = 'memory' AND record = ?`
)

// keepErased removes what was erased since, with what quotes it: a restore
// brings nothing back that a person wanted gone.
func (a *adoption) keepErased() error {
	if err := a.eachID(liveErased, a.keepErasedID); err != nil {
		return err
	}
	return a.eachID(liveRemoved, func(id string) error {
		m, found, err := a.Load(amber.MemoryID(id))
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
		return a.ExecAll(takeRemoved)
	}
	return a.ExecAll(takeHeld, takeRemoved)
}

// scrubErased removes the traces of what was erased. Writing pages means
// locking every attached database for writing, so it comes when the live one
// is no longer attached.
func (a *adoption) scrubErased() error {
	if a.report.KeptErased == 0 {
		return nil
	}
	if _, err := a.Exec("DETACH live"); err != nil {
		return err
	}
	return a.inTransaction(a.Scrub)
}

func (a *adoption) keepErasedID(id string) error {
	live, err := sqlrows.ScanOrigin(a.Row(selectLiveErased, id))
	if a.passOver(err) { // that it was erased counts, whatever its stamp is
		live, err = a.Origin(1), nil
	}
	if err != nil {
		return err
	}
	m, found, err := a.LoadLoosely(amber.MemoryID(id))
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
	if err := a.ForgetSync(amber.MemoryID(id)); err != nil { // a relation may wait for it
		return err
	}
	own, err := sqlrows.ScanOrigin(a.Row(sqlrows.SelectErased, id))
	switch {
	case a.passOver(err):
	case err == nil:
		if live = sqlrows.Later(own, live); live == own {
			return nil
		}
	case !sqlrows.Absent(err):
		return err
	}
	if _, err = a.Exec(sqlrows.PutErased, id, live.Device, int64(live.Counter), live.Clock); err != nil || found {
		return err // where it was found, it is logged
	}
	return a.Log(sqlrows.Entry(amber.OpDelete, amber.ChangeMemory, id, "", ""))
}

// eraseFound erases a memory that was erased since: all of it where this agent
// did so, else what was at the folders where it was erased.
func (a *adoption) eraseFound(m amber.Memory) (gone bool, err error) {
	var others bool
	if err := a.Row(sqlrows.IsRemovedByAny, amber.ChangeMemory, m.ID).Scan(&others); err != nil {
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
	places, err := sqlrows.All(a.Tx, sqlrows.ScanText, removers, m.ID)
	if err != nil {
		return false, err
	}
	for _, place := range places {
		parts, err := a.PartsAt(place, m)
		if err != nil {
			return false, err
		}
		if len(parts.Held) == 0 {
			continue
		}
		a.report.KeptErased++
		if len(parts.Rest) == 0 {
			return true, a.EraseRow(m)
		}
		if err := a.ErasePart(m, parts); err != nil {
			return false, err
		}
		if m, _, err = a.Load(m.ID); err != nil {
			return false, err
		}
	}
	return false, nil
}

// eraseAgain erases a memory as Store.Erase of the store does.
func (a *adoption) eraseAgain(m amber.Memory) error {
	a.report.KeptErased++
	texts, err := a.Texts(m)
	if err != nil {
		return err
	}
	if _, err := a.EraseTurns(texts); err != nil {
		return err
	}
	if err := a.EraseRow(m); err != nil {
		return err
	}
	return a.EraseDerived(texts, &amber.EraseReport{})
}
