package crashfs

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/amber-memory/amber/internal/base/fsx"
)

// file is an open file. fs.mu guards offset and closed too.
type file struct {
	fs     *FS
	node   *node
	name   string
	flag   int
	offset int
	closed bool
}

var _ fsx.File = (*file)(nil)

func writable(flag int) bool { return flag&(os.O_WRONLY|os.O_RDWR) != 0 }
func readable(flag int) bool { return flag&os.O_WRONLY == 0 }

func (f *file) Name() string { return f.name }

func (f *file) Read(p []byte) (int, error) {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	n, err := f.readAt(p, int64(f.offset))
	f.offset += n
	if n > 0 {
		err = nil
	}
	return n, err
}

func (f *file) ReadAt(p []byte, off int64) (int, error) {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	return f.readAt(p, off)
}

// readAt returns io.EOF itself, as readers compare it, and every other error with the path.
func (f *file) readAt(p []byte, off int64) (int, error) {
	if err := f.usable(f.fs.alive, readable(f.flag)); err != nil {
		return 0, pathError("read", f.name, err)
	}
	switch {
	case f.node.isDir():
		return 0, pathError("read", f.name, syscall.EISDIR)
	case off < 0:
		return 0, pathError("read", f.name, syscall.EINVAL)
	case len(p) == 0:
		return 0, nil
	case off >= int64(len(f.node.data)):
		return 0, io.EOF
	}
	n := copy(p, f.node.data[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f *file) Write(p []byte) (int, error) {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if err := f.usable(f.fs.mutate, writable(f.flag)); err != nil {
		return 0, pathError("write", f.name, err)
	}
	if f.flag&os.O_APPEND != 0 {
		f.offset = len(f.node.data)
	}
	f.node.writeAt(p, f.offset)
	f.node.modTime = f.fs.now()
	f.offset += len(p)
	return len(p), nil
}

// errAppend is what os.File says.
var errAppend = errors.New("the file was opened to append")

func (f *file) WriteAt(p []byte, off int64) (int, error) {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	err := f.usable(f.fs.mutate, writable(f.flag))
	switch {
	case err != nil:
	case f.flag&os.O_APPEND != 0:
		err = errAppend
	case off < 0:
		err = syscall.EINVAL
	}
	if err != nil {
		return 0, pathError("writeat", f.name, err)
	}
	f.node.writeAt(p, int(off))
	f.node.modTime = f.fs.now()
	return len(p), nil
}

func (f *file) Truncate(size int64) error {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	err := f.usable(f.fs.mutate, true)
	if err == nil && (size < 0 || !writable(f.flag)) {
		err = syscall.EINVAL
	}
	if err != nil {
		return pathError("truncate", f.name, err)
	}
	f.node.truncate(int(size))
	f.node.modTime = f.fs.now()
	return nil
}

// Sync of an open directory is SyncDir, as on Unix.
func (f *file) Sync() error {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if err := f.usable(f.fs.mutate, true); err != nil {
		return pathError("sync", f.name, err)
	}
	if f.node.isDir() {
		f.fs.syncNames(f.node)
	} else {
		f.node.sync()
	}
	return nil
}

func (f *file) Stat() (fs.FileInfo, error) {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if err := f.usable(f.fs.alive, true); err != nil {
		return nil, pathError("stat", f.name, err)
	}
	return f.node.info(f.name), nil
}

// Close works after a crash too: the kernel closes the files of a dead process.
func (f *file) Close() error {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if f.closed {
		return pathError("close", f.name, fs.ErrClosed)
	}
	f.closed = true
	return nil
}

// usable passes the gate of the file system, then checks that the file is open with the needed access.
func (f *file) usable(gate func() error, access bool) error {
	if err := gate(); err != nil {
		return err
	}
	if f.closed {
		return fs.ErrClosed
	}
	if !access {
		return syscall.EBADF
	}
	return nil
}
