package image

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/amber-memory/amber/internal/base/fsx"
)

// workshop is the two files beside a database while it is redacted: the copy
// that is rewritten, under a name that no person takes for a redacted file, and
// the fresh one.
type workshop struct {
	fsys             fsx.FS
	path, old, fresh string
}

func newWorkshop(fsys fsx.FS, path string) *workshop {
	dir, base := filepath.Split(path)
	temp := func(what string) string { return filepath.Join(dir, fsx.TempPrefix+what+"-"+base) }
	return &workshop{fsys: fsys, path: path, old: temp("unredacted"), fresh: temp("redacted")}
}

// open takes the copy away from its name and makes room for the fresh file.
func (w *workshop) open() error {
	if err := w.remove(w.old, w.fresh); err != nil { // what a crash has left
		return err
	}
	if err := w.fsys.Rename(w.path, w.old); err != nil {
		return err
	}
	return fsx.BuildOf(w.fsys, w.fresh, 0o600, nil)
}

// deliver gives the fresh file the name of the copy, which is gone by then.
func (w *workshop) deliver() error {
	if err := w.remove(w.old); err != nil {
		return err
	}
	return w.fsys.Rename(w.fresh, w.path)
}

// discard removes everything: half of the work is worse than none.
func (w *workshop) discard() error { return w.remove(w.old, w.fresh, w.path) }

func (w *workshop) remove(paths ...string) (err error) {
	for _, path := range paths {
		if rerr := w.fsys.Remove(path); !errors.Is(rerr, fs.ErrNotExist) {
			err = errors.Join(err, rerr)
		}
	}
	return err
}
