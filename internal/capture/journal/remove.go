package journal

import (
	"context"
	"errors"
	"io/fs"
	"runtime"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/diskerr"
	"github.com/amber-memory/amber/internal/base/fsx"
)

// Remove removes the folder of a session of which nothing is left: every entry
// has been drained and cleared, and nothing is in quarantine. It reports
// whether it did. An append that comes meanwhile makes a new folder, with
// another [Origin]. Errors: invalid, busy, unreachable, refused, too_new,
// internal.
func (j *Journal) Remove(ctx context.Context, key Key, drained int64) (removed bool, err error) {
	if err := checkKey(key); err != nil {
		return false, err
	}
	if runtime.GOOS == "windows" {
		return false, nil // Windows cannot remove a file that another process waits to lock
	}
	err = j.locked(ctx, key, func() error {
		left, err := j.left(key, drained)
		if left || err != nil {
			return err
		}
		removed = true
		return j.remove(key)
	})
	if amber.KindOf(err) == amber.KindNotFound {
		return false, nil
	}
	return removed && err == nil, err
}

// left reports whether anything but an empty segment is in the folder of a
// session. The session's lock is held.
func (j *Journal) left(key Key, drained int64) (bool, error) {
	if err := j.sweep(key); err != nil {
		return true, err
	}
	aside, err := j.o.FS.ReadDir(j.path(key, quarantineName))
	if len(aside) > 0 {
		return true, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return true, diskerr.Own("remove session", string(key), err)
	}
	_, origin := j.readMeta(key)
	entries, err := j.o.FS.ReadDir(j.path(key))
	if err != nil {
		return true, diskerr.Own("remove session", string(key), err)
	}
	for _, e := range entries {
		switch name := e.Name(); name {
		case lockName, metaName, quarantineName:
		default:
			n, ok := segmentNumber(name)
			if !ok {
				return true, nil
			}
			h, err := j.header(key, n)
			// Without an origin no store has a cursor that means its sequences.
			known := amber.KindOf(origin) != amber.KindNotFound
			if errors.Is(err, errHeader) || err == nil && known && h.base-1 > drained {
				return true, nil
			}
			if err != nil {
				return true, err
			}
			if info, err := e.Info(); err != nil || info.Size() != segmentHeader {
				return true, nil
			}
		}
	}
	return false, nil
}

// remove removes a folder with nothing in it. The meta file goes first: without
// it whatever a crash leaves gets another origin, and a sequence that is given
// again is not taken for one the store has seen. The lock goes last: a process that
// waits for it finds that it has no name any more.
func (j *Journal) remove(key Key) error {
	fsys := j.o.FS
	files, err := j.segments(key)
	if err != nil {
		return err
	}
	if err := j.removeName(key, metaName); err != nil {
		return err
	}
	if err := fsys.SyncDir(j.path(key)); err != nil {
		return diskerr.Own("remove session", string(key), err)
	}
	for _, f := range files {
		if err := j.removeName(key, segmentName(f.number)); err != nil {
			return err
		}
	}
	if err := j.removeName(key, quarantineName); err != nil {
		return err
	}
	if err := fsys.SyncDir(j.path(key)); err != nil {
		return diskerr.Own("remove session", string(key), err)
	}
	if err := j.removeName(key, lockName); err != nil {
		return err
	}
	// Another process may have begun to use the folder again.
	if fsys.Remove(j.path(key)) != nil {
		return nil
	}
	return diskerr.Own("remove session", string(key), fsys.SyncDir(j.dir))
}

func (j *Journal) removeName(key Key, name string) error {
	if err := j.o.FS.Remove(j.path(key, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return diskerr.Own("remove session", string(key), err)
	}
	return nil
}

// sweep removes what writers that were killed have left. The session's lock
// is held.
func (j *Journal) sweep(key Key) error {
	for _, dir := range []string{j.path(key), j.path(key, quarantineName)} {
		err := j.checkFolder(dir)
		if amber.KindOf(err) == amber.KindNotFound {
			continue
		}
		if err == nil {
			_, err = fsx.SweepTemp(j.o.FS, dir)
		}
		if err != nil {
			return diskerr.Own("sweep session", string(key), err)
		}
	}
	return nil
}
