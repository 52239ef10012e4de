package dir

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/freeze/target"
)

// Get implements [target.Target]. The reader returns kind damaged when the
// file ends before the range does, and kind unreachable once ctx is over. It
// is not safe for concurrent use; Close may be called twice.
func (d *Dir) Get(ctx context.Context, name string, offset, length int64) (io.ReadCloser, error) {
	const op = "get object"
	if err := target.Admit(ctx, op, name); err != nil {
		return nil, err
	}
	path, err := d.locate(name)
	var f fsx.File
	if err == nil {
		f, err = d.fs.OpenFile(path, os.O_RDONLY, 0)
	}
	switch {
	case isAbsent(err):
		return nil, absent(op, name)
	case err != nil:
		return nil, diskError(op, name, err)
	}
	length, err = within(f, name, offset, length)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &section{ctx: ctx, file: f, name: name, offset: offset, left: length, close: sync.OnceValue(f.Close)}, nil
}

func absent(op, name string) error {
	return amber.Errorf(amber.KindNotFound, op, name, "no such object")
}

// within returns the length of a range that lies in the open object.
func within(f fsx.File, name string, offset, length int64) (int64, error) {
	const op = "get object"
	info, err := f.Stat()
	switch {
	case err != nil:
		return 0, diskError(op, name, err)
	case info.IsDir():
		return 0, absent(op, name)
	case !info.Mode().IsRegular():
		return 0, diskError(op, name, fsx.ErrNotRegular)
	}
	return target.Within(op, name, info.Size(), offset, length)
}

// section reads a range of a file.
type section struct {
	ctx    context.Context // of the Get it belongs to
	file   fsx.File
	name   string
	offset int64
	left   int64
	close  func() error
}

// Read implements [io.Reader].
func (s *section) Read(p []byte) (int, error) {
	const op = "get object"
	if err := target.Alive(s.ctx, op, s.name); err != nil {
		return 0, err
	}
	if s.left == 0 {
		return 0, io.EOF
	}
	n, err := s.file.ReadAt(p[:min(int64(len(p)), s.left)], s.offset)
	s.offset += int64(n)
	s.left -= int64(n)
	switch {
	case err == io.EOF && s.left == 0:
		err = nil
	case err == io.EOF:
		err = amber.Errorf(amber.KindDamaged, op, s.name, "the object ends at byte %d, before the end of the range", s.offset)
	case err != nil:
		err = diskError(op, s.name, err)
	}
	return n, err
}

// Close implements [io.Closer].
func (s *section) Close() error { return s.close() }
