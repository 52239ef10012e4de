package sqlconn

import (
	"errors"
	"io"
	"io/fs"
	"net/url"
	"sync"
	"time"

	"modernc.org/sqlite/vfs"

	"github.com/amber-memory/amber"
)

// virtualName is what SQLite calls the one file there is.
const virtualName = "database"

// Served lets SQLite read a database that is no file of the operating
// system. SQLite knows it by a name of its own while it is open.
type Served struct {
	name string
	fs   *vfs.FS
	file *oneFile
}

// Serve tells SQLite of a database of size bytes. Nothing lies beside it: no
// journal and no log.
func Serve(r io.ReaderAt, size int64) (*Served, error) {
	file := &oneFile{r: r, size: size}
	name, f, err := vfs.New(file)
	if err != nil {
		return nil, err
	}
	return &Served{name, f, file}, nil
}

// URI names the database as one that is not trusted.
func (v *Served) URI() string { return UntrustedURI(virtualName, url.Values{"vfs": {v.name}}) }

// Failure returns the first error of the reader, nil while there was none.
func (v *Served) Failure() error {
	v.file.mu.Lock()
	defer v.file.mu.Unlock()
	return v.file.err
}

// Close makes SQLite forget it. Every connection to it has been closed.
func (v *Served) Close() error { return v.fs.Close() }

// oneFile is a file system with one file.
type oneFile struct {
	r    io.ReaderAt
	size int64

	mu  sync.Mutex
	err error // the first one of r
}

// Open implements [fs.FS]: whatever lies beside the file is not there.
func (f *oneFile) Open(name string) (fs.File, error) {
	if name != virtualName {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return &virtualFile{SectionReader: io.NewSectionReader(f, 0, f.size)}, nil
}

// ReadAt reads from the reader. An error must not look like the end of the
// file: SQLite would take the rest for zeros.
func (f *oneFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.r.ReadAt(p, off)
	if n == len(p) {
		return n, nil
	}
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = amber.Errorf(amber.KindDamaged, "read database", "", "the file ends at byte %d", off+int64(n))
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil {
		f.err = err
	}
	return n, err
}

// virtualFile is the file, open. SQLite seeks before each read, and uses one
// handle from one goroutine at a time.
type virtualFile struct{ *io.SectionReader }

func (f *virtualFile) Stat() (fs.FileInfo, error) { return virtualInfo{f.Size()}, nil }
func (f *virtualFile) Close() error               { return nil }

type virtualInfo struct{ size int64 }

func (i virtualInfo) Name() string       { return virtualName }
func (i virtualInfo) Size() int64        { return i.size }
func (i virtualInfo) Mode() fs.FileMode  { return 0o400 }
func (i virtualInfo) ModTime() time.Time { return time.Time{} }
func (i virtualInfo) IsDir() bool        { return false }
func (i virtualInfo) Sys() any           { return nil }
