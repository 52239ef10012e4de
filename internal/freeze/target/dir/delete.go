package dir

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/freeze/target"
)

// Delete implements [target.Target]. The name is durably gone when it returns,
// also when it was gone before. Folders stay.
func (d *Dir) Delete(ctx context.Context, name string) error {
	const op = "delete object"
	if err := target.Admit(ctx, op, name); err != nil {
		return err
	}
	path, err := d.locate(name)
	if err == nil {
		err = d.remove(path)
	}
	if err != nil && !isAbsent(err) {
		return diskError(op, name, err)
	}
	return nil
}

// remove removes a file durably. A folder has the name of no object and stays.
func (d *Dir) remove(path string) error {
	info, err := d.fs.Lstat(path)
	switch {
	case err == nil && info.IsDir():
		return nil
	case err == nil && !info.Mode().IsRegular():
		return fsx.ErrNotRegular
	case err == nil:
		err = d.fs.Remove(path)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	// A missing file is no proof that its removal is durable.
	return d.fs.SyncDir(filepath.Dir(path))
}

// Sweep removes the temporary files that writers which were killed left
// behind, those last written before the given time, and returns how many. A
// writer still at work whose file is swept fails and has stored nothing, so
// the time should lie some hours back. It goes on after an error and returns
// all of them.
func (d *Dir) Sweep(ctx context.Context, before amber.Time) (removed int, err error) {
	return d.sweep(ctx, "", before)
}

func (d *Dir) sweep(ctx context.Context, below string, before amber.Time) (removed int, err error) {
	const op = "sweep target"
	if err := target.Alive(ctx, op, d.root); err != nil {
		return 0, err
	}
	entries, err := d.entries(op, below)
	if err != nil {
		return 0, err
	}
	dir := filepath.Join(d.root, filepath.FromSlash(below))
	var errs []error
	swept := 0
	for _, e := range entries {
		name := below + e.Name()
		if e.IsDir() && target.CheckObjectName(name) == nil {
			n, err := d.sweep(ctx, name+"/", before)
			removed, errs = removed+n, append(errs, err)
			continue
		}
		done, err := d.sweepFile(dir, e, before)
		if err != nil {
			errs = append(errs, diskError(op, name, err))
		}
		if done {
			swept++
		}
	}
	if swept > 0 {
		if err := d.fs.SyncDir(dir); err != nil {
			errs = append(errs, diskError(op, below, err))
		}
	}
	return removed + swept, errors.Join(errs...)
}

// sweepFile removes a temporary file that is old enough.
func (d *Dir) sweepFile(dir string, e fs.DirEntry, before amber.Time) (removed bool, err error) {
	if !strings.HasPrefix(e.Name(), fsx.TempPrefix) || !e.Type().IsRegular() {
		return false, nil
	}
	info, err := e.Info()
	if err == nil && !amber.At(info.ModTime()).Before(before) {
		return false, nil
	}
	if err == nil {
		err = d.fs.Remove(filepath.Join(dir, e.Name()))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
