package home

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/diskerr"
	"github.com/amber-memory/amber/internal/base/fsx"
)

// deletingNote is for people who look into the folder; only the name counts.
const deletingNote = "this agent is being deleted; without CURRENT there is no agent here any more\n"

// Delete removes the agent with everything in its folder. It keeps all writers out, calls last with
// the live generation, and then removes CURRENT: whatever ends the process, the agent is whole
// before that and gone after it. An interruption may leave files; a repeated Delete removes them,
// and so does a process that makes an agent of that name again. Last may be nil; after its error
// nothing was deleted. The caller is inside [Agent.Operate] and keeps the journal from being
// drained. Errors: those of last and Current, but a folder without an agent is removed, too;
// not_found where there is no folder; refused while a move has not come to its end; busy; those of
// the disk.
func (a *Agent) Delete(ctx context.Context, last func(Current) error) error {
	return a.exclusive(ctx, func() error {
		switch c, err := a.settled(); {
		case err == nil:
			if err := a.atRest(); err != nil {
				return err
			}
			if err := a.unmake(c, last); err != nil {
				return err
			}
		case amber.KindOf(err) != amber.KindNotFound:
			return err
		}
		if err := a.removeRemains(); err != nil {
			return diskerr.Own("delete agent", a.dir, err)
		}
		a.removeFolder()
		return nil
	})
}

// unmake makes an agent a folder without one. The order is the promise: the note,
// then CURRENT.
func (a *Agent) unmake(c Current, last func(Current) error) error {
	if last != nil {
		if err := last(c); err != nil {
			return err
		}
	}
	err := fsx.Replace(a.o.FS, a.path(deletingName), 0o600, []byte(deletingNote))
	if err == nil {
		err = fsx.RemoveAll(a.o.FS, a.path(currentName))
	}
	if err != nil {
		return diskerr.Own("delete agent", a.dir, err)
	}
	a.known.Store(nil)
	return nil
}

// deleting reports whether a deletion has begun; without CURRENT it is to be
// finished.
func (a *Agent) deleting() (bool, error) { return a.there(deletingName) }

// there reports whether the folder of the agent has a name.
func (a *Agent) there(name string) (bool, error) {
	_, err := a.o.FS.Lstat(a.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// Deleting reports whether the folder is what an interrupted deletion has left.
func (a *Agent) Deleting() bool {
	begun, err := a.deleting()
	if !begun || err != nil {
		return false
	}
	_, err = a.readCurrent()
	return errors.Is(err, fs.ErrNotExist)
}

// Exists reports whether there is an agent, or a journal that hooks have begun
// for it. Errors: those of Current.
func (a *Agent) Exists() (bool, error) {
	_, err := a.Current()
	if amber.KindOf(err) != amber.KindNotFound {
		return true, err
	}
	if a.Deleting() {
		return false, nil
	}
	_, err = a.o.FS.Lstat(a.SpoolDir())
	return err == nil, nil
}

// settleDeletion removes the note of a deletion that was cut off before CURRENT
// went. The caller keeps deletions out.
func (a *Agent) settleDeletion() error {
	begun, err := a.deleting()
	if begun && err == nil {
		err = fsx.RemoveAll(a.o.FS, a.path(deletingName))
	}
	return err
}

// finishDeletion removes what a deletion has left that was cut off after CURRENT
// went. The caller is exclusive.
func (a *Agent) finishDeletion() error {
	begun, err := a.deleting()
	if !begun || err != nil {
		return err
	}
	return a.removeRemains()
}

// removeRemains removes everything but the locks, the note last. There is no
// CURRENT, and the caller is exclusive.
func (a *Agent) removeRemains() error {
	entries, err := a.o.FS.ReadDir(a.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	kept := []string{gateName, lockName, operationName, deletingName}
	for _, e := range entries {
		if slices.Contains(kept, e.Name()) {
			continue
		}
		for range removeTries { // a hook or a reader may put files there
			if err = fsx.RemoveAll(a.o.FS, a.path(e.Name())); !errors.Is(err, syscall.ENOTEMPTY) {
				break
			}
		}
		if err != nil {
			return err
		}
	}
	return fsx.RemoveAll(a.o.FS, a.path(deletingName))
}

// removeFolder removes the locks and the folder. A program that gets a lock it has waited for finds
// out that its file is gone. As long as the file lock has its name no program enters, so that file
// goes last. A program may have a file open, or be about to make the agent anew, so that a removal
// fails; that does no harm and is no error.
func (a *Agent) removeFolder() {
	for _, name := range []string{operationName, gateName, lockName, ""} {
		_ = a.o.FS.Remove(a.path(name))
	}
	_ = a.o.FS.SyncDir(filepath.Dir(a.dir))
}
