package home

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"github.com/amber-memory/amber/internal/base/diskerr"
	"github.com/amber-memory/amber/internal/base/fsx"
)

// SettleReport says what became of an interrupted restore.
type SettleReport struct {
	From       string // what was restored; "" when there was nothing to settle
	Generation int64  // that was built
	Finished   bool   // it is live
	Undone     bool   // it is gone, and the old one is live
	Running    bool   // another process is at it, so it was left alone
	Removed    []int64
}

// Settle finishes or undoes what an interrupted restore has left, and goes on
// with removals of generations that were cut off. A restore that is under way,
// in whatever process, is left alone. Writers need not wait for it: they settle
// themselves what matters to them. Where there is nothing to do it takes no lock
// and writes nothing. Errors: those of Current; damaged and too_new for a note
// that cannot be believed, in which case nothing is changed; those of the disk.
func (a *Agent) Settle(ctx context.Context) (SettleReport, error) {
	if ctx.Err() != nil {
		return SettleReport{}, a.busy(ctx, "settle restore", ctx.Err())
	}
	open, err := a.unsettled()
	if err != nil || !open {
		return SettleReport{}, err
	}
	lock, err := fsx.TryLock(a.path(operationName), fsx.Exclusive)
	if errors.Is(err, fsx.ErrLocked) {
		return SettleReport{Running: true}, nil
	}
	if err != nil {
		return SettleReport{}, a.busy(ctx, "settle restore", err)
	}
	defer lock.Unlock()
	return a.settleRestore()
}

// unsettled reports whether there may be something to settle.
func (a *Agent) unsettled() (bool, error) {
	begun, err := a.there(restoringName)
	if err != nil {
		return false, diskerr.Own("settle restore", a.dir, err)
	}
	if begun {
		return true, nil
	}
	removals, err := a.removals()
	if err != nil || len(removals) > 0 {
		return len(removals) > 0, err
	}
	return a.halfWritten()
}

// halfWritten reports whether a writer that was killed left a file among the
// generations, before there was anything else to settle.
func (a *Agent) halfWritten() (bool, error) {
	entries, err := a.o.FS.ReadDir(a.path(genName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, diskerr.Own("settle restore", a.dir, err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), fsx.TempPrefix) {
			return true, nil
		}
	}
	return false, nil
}

// settleRestore is Settle for a caller inside Operate.
func (a *Agent) settleRestore() (SettleReport, error) {
	c, err := a.Current()
	if err != nil {
		return SettleReport{}, err
	}
	report, err := a.settleNote(c)
	if err != nil {
		return report, err
	}
	// Only creations and operations write files there.
	for _, dir := range []string{a.dir, a.path(genName)} {
		if _, err := fsx.SweepTemp(a.o.FS, dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return report, diskerr.Own("settle restore", dir, err)
		}
	}
	report.Removed, err = a.resumeRemovals(c)
	return report, err
}

func (a *Agent) settleNote(c Current) (SettleReport, error) {
	n, found, err := a.readNote()
	if !found || err != nil {
		return SettleReport{}, err
	}
	s, err := n.stage(c)
	if err != nil {
		return SettleReport{}, a.badNote(err)
	}
	report := SettleReport{From: n.from, Generation: n.generation, Finished: s == switched, Undone: s == building}
	if s == switched {
		err = a.o.FS.SyncDir(a.dir)
	} else {
		err = a.undo(n)
	}
	if err == nil {
		err = fsx.RemoveAll(a.o.FS, a.path(restoringName))
	}
	if err != nil {
		return SettleReport{From: n.from, Generation: n.generation}, diskerr.Own("settle restore", a.dir, err)
	}
	return report, nil
}

// undo removes a generation that never was live, and the journal entries that
// were parked for a switch that did not happen: they are still in the spool.
func (a *Agent) undo(n note) error {
	if err := fsx.RemoveAll(a.o.FS, a.genPath(n.generation)); err != nil {
		return err
	}
	return fsx.RemoveAll(a.o.FS, a.ParkedDir(n.replaces))
}

// settled is Current for a caller that is about to write. No power cut can take back what it
// returns, and the agent is not on its way elsewhere. Once a handle has found a generation settled,
// that stays so, so only its first write to a generation looks for the notes.
func (a *Agent) settled() (Current, error) {
	c, open, err := a.durable()
	if err == nil {
		err = a.fixed(c)
	}
	if err != nil {
		return Current{}, err
	}
	if known := a.known.Load(); known == nil || *known != c {
		if err := a.settleDeletion(); err != nil {
			return Current{}, diskerr.Own("settle deletion", a.dir, err)
		}
	}
	if open {
		a.tidy()
	}
	a.known.Store(&c)
	return c, nil
}

// durable is Current made durable, for those who may only want to look: it
// removes nothing but the note of a creation. It reports whether a restore has
// not come to its end, as far as this handle does not know better.
func (a *Agent) durable() (c Current, open bool, err error) {
	if c, err = a.Current(); err != nil {
		return Current{}, false, err
	}
	if known := a.known.Load(); known != nil && *known == c {
		return c, false, nil
	}
	if err := a.settleCreation(); err != nil {
		return Current{}, false, diskerr.Own("finish making agent", a.dir, err)
	}
	if open, err = a.settleSwitch(c); err != nil {
		return Current{}, false, diskerr.Own("finish restore", a.dir, err)
	}
	return c, open, nil
}

// settleCreation finishes a creation. A note beside CURRENT says that it was
// cut off before the name CURRENT was known to be durable. A power cut could
// still take that name away and leave the note, and with it the order to begin
// again from nothing. So the name is made durable and the note removed before
// anything is acknowledged. No lock is taken against writers and restores: they never
// remove CURRENT, only Delete does.
func (a *Agent) settleCreation() error {
	begun, err := a.there(creatingName)
	if begun && err == nil {
		err = a.o.FS.SyncDir(a.dir)
	}
	if begun && err == nil {
		err = fsx.RemoveAll(a.o.FS, a.path(creatingName))
	}
	return err
}

// settleSwitch makes sure that the generation c is live for good, and reports
// whether there is a note. As long as a restore builds, CURRENT is the one that
// was durable before its note. Once CURRENT was replaced, or where the note
// cannot be read, what can be seen is made durable before anything is
// acknowledged in it: a power cut could take CURRENT back to the old generation.
func (a *Agent) settleSwitch(c Current) (open bool, err error) {
	n, found, err := a.readNote()
	if err == nil && !found {
		return false, nil // never there, or removed by a process that made sure
	}
	if err != nil || c.Generation != n.replaces {
		if err := a.o.FS.SyncDir(a.dir); err != nil {
			return true, err
		}
	}
	return true, nil
}

// tidy settles what is left of a restore unless a process is at it. The writer on
// whose way it lies needs nothing of it, so that it may fail; Settle and the
// next restore say why.
func (a *Agent) tidy() {
	lock, err := fsx.TryLock(a.path(operationName), fsx.Exclusive)
	if err != nil {
		return
	}
	defer lock.Unlock()
	_, _ = a.settleRestore()
}
