package dir

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/freeze/target"
)

// chunk is how much of an object is in memory while it is stored.
const chunk = 256 << 10

// Put implements [target.Target]. An object that is there with another size
// is damaged. A reader that blocks is not given up when ctx ends: that is
// noticed between its reads.
func (d *Dir) Put(ctx context.Context, name string, size int64, r io.Reader) (created bool, err error) {
	const op = "put object"
	if err := target.Admit(ctx, op, name); err != nil {
		return false, err
	}
	if size < 0 {
		return false, amber.Errorf(amber.KindInvalid, op, name, "the size is negative")
	}
	path, err := d.prepare(op, name)
	if err != nil {
		return false, err
	}
	there, err := d.confirm(name, path, size)
	if there || err != nil {
		return false, err
	}
	created, err = d.store(ctx, name, path, size, r)
	if created || err != nil {
		return created, err
	}
	// Another writer was faster.
	there, err = d.confirm(name, path, size)
	if !there && err == nil {
		err = amber.Errorf(amber.KindConflict, op, name, "another writer stored and deleted the object meanwhile")
	}
	return false, err
}

// confirm reports whether there is an object, and makes sure that it is
// durable and has the size.
func (d *Dir) confirm(name, path string, size int64) (there bool, err error) {
	const op = "put object"
	info, err := d.fs.Lstat(path)
	if err == nil && info.IsDir() {
		return false, amber.Errorf(amber.KindInvalid, op, name, "the name is that of a folder of objects")
	}
	var got int64
	if err == nil {
		got, err = fsx.SyncFile(d.fs, path)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, diskError(op, name, err)
	case got != size:
		return false, amber.Errorf(amber.KindDamaged, op, name,
			"the object that is there has %d bytes instead of %d", got, size)
	}
	return true, nil
}

// store writes a new object, unless there is one by the time it is complete.
func (d *Dir) store(ctx context.Context, name, path string, size int64, r io.Reader) (created bool, err error) {
	const op = "put object"
	s, err := fsx.StageNew(d.fs, path, 0o600)
	if err != nil {
		return false, diskError(op, name, err)
	}
	// Deferred, because the reader is foreign code and may panic.
	defer func() {
		if aerr := s.Abort(); aerr != nil {
			err = errors.Join(err, aerr)
		}
	}()
	if err := fill(ctx, s, name, size, r); err != nil {
		return false, err
	}
	err = s.Commit()
	switch {
	case errors.Is(err, fs.ErrExist):
		return false, nil
	case err != nil:
		return false, diskError(op, name, err)
	}
	return true, nil
}

// fill copies exactly size bytes. Its errors are complete.
func fill(ctx context.Context, w io.Writer, name string, size int64, r io.Reader) error {
	const op = "put object"
	buf := make([]byte, min(size+1, chunk))
	var stored int64
	for {
		if err := target.Alive(ctx, op, name); err != nil {
			return err
		}
		// One byte more than is left, to notice a reader that gives too much.
		n, rerr := r.Read(buf[:min(size-stored+1, int64(len(buf)))])
		if stored += int64(n); stored > size {
			return amber.Errorf(amber.KindInvalid, op, name, "more than %d bytes", size)
		}
		if n > 0 {
			if _, err := w.Write(buf[:n]); err != nil {
				return diskError(op, name, err)
			}
		}
		switch {
		case rerr == io.EOF && stored < size:
			return amber.Errorf(amber.KindInvalid, op, name, "%d bytes, want %d", stored, size)
		case rerr == io.EOF:
			return nil
		case rerr != nil:
			return fmt.Errorf("%s %s: %w", op, name, rerr)
		}
	}
}
