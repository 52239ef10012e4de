package journal

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/diskerr"
	"github.com/amber-memory/amber/internal/base/fsx"
)

// locked runs fn while no other caller appends to, cuts or clears the session.
// Errors: those of fn; not_found where the session has no folder; busy,
// unreachable when ctx ends first, damaged, refused, internal.
func (j *Journal) locked(ctx context.Context, key Key, fn func() error) error {
	return j.lockedTelling(ctx, key, func(bool) {}, fn)
}

// lockedTelling is locked for callers that want to know whether they wait for
// another holder of the lock: it calls blocked with true before such a wait and
// with false after it.
func (j *Journal) lockedTelling(ctx context.Context, key Key, blocked func(bool), fn func() error) error {
	// A link would lead everything that follows out of the spool.
	for _, dir := range []string{j.dir, j.path(key)} {
		if err := j.checkFolder(dir); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return ended("wait for session", string(key), ctx)
	}
	wait, cancel := context.WithTimeout(ctx, j.o.Wait)
	defer cancel()
	l, err := fsx.TryLock(j.path(key, lockName), fsx.Exclusive)
	if errors.Is(err, fsx.ErrLocked) {
		blocked(true)
		l, err = fsx.AcquireLock(wait, j.path(key, lockName), fsx.Exclusive)
		blocked(false)
	}
	switch {
	case err == nil:
		defer l.Unlock()
		return fn()
	case ctx.Err() != nil:
		return ended("wait for session", string(key), ctx)
	case errors.Is(err, context.DeadlineExceeded):
		return amber.Errorf(amber.KindBusy, "wait for session", string(key), "another process has held the session for more than %s", j.o.Wait.String())
	case errors.Is(err, fs.ErrNotExist): // it was removed meanwhile
		return noFolder(j.path(key))
	}
	return diskerr.Own("lock session", string(key), err)
}

// checkFolder returns nil when dir is a folder and no link to one, an error of
// kind not_found when nothing is there, damaged when something else is.
func (j *Journal) checkFolder(dir string) error {
	info, err := j.o.FS.Lstat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return noFolder(dir)
	case err != nil:
		return diskerr.Own("open spool", dir, err)
	case !info.IsDir():
		return amber.Errorf(amber.KindDamaged, "open spool", dir, "not a folder")
	}
	return nil
}

func noFolder(dir string) error {
	return amber.Errorf(amber.KindNotFound, "open spool", dir, "no such folder")
}

// BeginDrain waits until no other process drains and returns the call that ends it.
// Only one at a time may read, clear and remove sessions: what one has read
// another could have removed and a third made again. Errors: not_found for a
// journal that was never written to, busy, unreachable when ctx ends first, and
// those of the disk.
func (j *Journal) BeginDrain(ctx context.Context) (end func() error, err error) {
	if err := j.checkFolder(j.dir); err != nil {
		return nil, err
	}
	wait, cancel := context.WithTimeout(ctx, j.o.Wait)
	defer cancel()
	l, err := fsx.AcquireLock(wait, filepath.Join(j.dir, drainLockName), fsx.Exclusive)
	switch {
	case err == nil:
		return l.Unlock, nil
	case ctx.Err() != nil:
		return nil, ended("wait for drain", "", ctx)
	case errors.Is(err, context.DeadlineExceeded):
		return nil, amber.Errorf(amber.KindBusy, "wait for drain", "", "another process has been draining for %s", j.o.Wait.String())
	}
	return nil, diskerr.Own("wait for drain", j.dir, err)
}

// Make makes the folder of the journal, durably, unless it is there: one that
// was never written to can be held with [Journal.BeginDrain] then. Errors:
// damaged when the path is not a folder, and those of the disk.
func (j *Journal) Make() error {
	err := j.checkFolder(j.dir)
	if amber.KindOf(err) != amber.KindNotFound {
		return err
	}
	return diskerr.Own("make spool", j.dir, fsx.MkdirAll(j.o.FS, j.dir, 0o700))
}

// makeFolder makes the folder of a session, durably, unless the journal is
// full.
func (j *Journal) makeFolder(key Key) error {
	p, err := j.pressure()
	if err != nil {
		return err
	}
	if p == full {
		return j.quotaError()
	}
	if err := j.syncFolder(key); err != nil {
		return err
	}
	j.keepReserve()
	return nil
}

// syncFolder makes the folder of a session, or makes sure that the name of the
// one there is cannot get lost.
func (j *Journal) syncFolder(key Key) error {
	return diskerr.Own("make session", string(key), fsx.MkdirAll(j.o.FS, j.path(key), 0o700))
}

func checkKey(key Key) error {
	_, err := ParseKey(string(key))
	return err
}

// ended is the error of a context that is over.
func ended(op, id string, ctx context.Context) error {
	return &amber.Error{Op: op, Kind: amber.KindUnreachable, ID: id, Err: context.Cause(ctx)}
}
