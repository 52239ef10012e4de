package image

import (
	"context"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	lib "modernc.org/sqlite/lib"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/sqlconn"
	"github.com/amber-memory/amber/internal/store/sqlrows"
	"github.com/amber-memory/amber/wire"
)

// sourceWait is how long the database of another program may be locked before
// Freeze gives up: that program is busier than we can wait for.
const sourceWait = 5 * time.Second

// Freeze pins a database that is not Amber's and is only read: nothing is
// written to it, no file is made beside it, no checkpoint. A database with a
// write-ahead log goes on being written meanwhile; one without is locked
// against its writers until the frozen one is closed. Errors: not_found;
// damaged where SQLite cannot open it; busy where it is locked for long, or
// where it changed while its pages were read; refused where it may not be
// read; unsupported where it was left in the middle of a write that only its
// own program may finish.
func Freeze(ctx context.Context, path string) (wire.FrozenDatabase, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, sourceError(path, err)
	}
	info, err := os.Stat(real)
	if err != nil {
		return nil, sourceError(path, err)
	}
	if !info.Mode().IsRegular() {
		return nil, amber.Errorf(amber.KindRefused, "freeze source", path, "want a regular file, found %s", info.Mode().Type())
	}
	f, err := freezeSource(ctx, real)
	if err != nil {
		return nil, sourceError(path, err)
	}
	return f, nil
}

// freezeSource chooses how to read. Where SQLite would make the files that
// readers of a write-ahead log share, no program has the database open. Then
// freezeSource reads without locks, and still reports in the end whether a
// program has written meanwhile.
func freezeSource(ctx context.Context, path string) (*frozenDatabase, error) {
	readOnly := url.Values{"mode": {"ro"}}
	if size(path+"-wal") > 0 {
		if size(path+"-shm") < 0 {
			return nil, unfinished(path, "a write-ahead log without its index lies beside the file")
		}
		return pin(ctx, path, readOnly, sourceWait)
	}
	before, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	f, err := pin(ctx, path, url.Values{"mode": {"ro"}, "immutable": {"1"}}, sourceWait)
	if err != nil {
		return nil, err
	}
	header, err := f.header()
	if err != nil {
		return nil, errors.Join(sqlrows.Damaged("freeze source", path, err), f.Close())
	}
	if header[19] == 2 { // it has a write-ahead log when it is open
		f.still = func() error { return unchanged(path, before) }
		return f, nil
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	return pin(ctx, path, readOnly, sourceWait)
}

// size returns the size of a file, -1 where there is none.
func size(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return -1
	}
	return info.Size()
}

// unchanged returns an error if a program has written since a look at the file: a
// writer makes a write-ahead log, and takes it into the file before it removes it.
func unchanged(path string, before fs.FileInfo) error {
	after, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !os.SameFile(before, after) || before.Size() != after.Size() || !before.ModTime().Equal(after.ModTime()) || size(path+"-wal") > 0 {
		return amber.Errorf(amber.KindBusy, "read pages", path, "the file changed during the read")
	}
	return nil
}

func unfinished(path, why string) error {
	return amber.Errorf(amber.KindUnsupported, "freeze source", path, "%s", why).WithHint("open the file once with the program that wrote it")
}

// sourceError says what an error means for a source.
func sourceError(path string, err error) error {
	var code interface {
		error
		Code() int
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return amber.Errorf(amber.KindNotFound, "freeze source", path, "the file does not exist")
	case errors.Is(err, fs.ErrPermission):
		return &amber.Error{Op: "freeze source", Kind: amber.KindRefused, ID: path, Err: err}
	case errors.As(err, &code) && code.Code() == lib.SQLITE_READONLY_ROLLBACK:
		return unfinished(path, "the last write to the file was cut off")
	case errors.As(err, &code) && code.Code()&0xff == lib.SQLITE_CANTOPEN:
		return &amber.Error{Op: "freeze source", Kind: amber.KindRefused, ID: path, Err: err}
	}
	return sqlconn.Wrap("freeze source", path, err)
}
