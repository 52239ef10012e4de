package fsx

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Staged is a new file that is written piece by piece and has no name yet. Its owner ends it with
// [Staged.Commit] or [Staged.Abort]; until then its bytes lie in a temporary file beside the name. It is not
// safe for concurrent use.
type Staged struct {
	fsys FS
	path string
	temp string
	file File  // nil once it ended
	err  error // of the first write that failed; nothing but Abort is left then
}

var _ io.Writer = (*Staged)(nil)

// StageNew begins the new file path, for content that does not fit in memory; [CreateNew] is for the rest. The
// umask applies to perm. Whether the name is free is found out by [Staged.Commit].
func StageNew(fsys FS, path string, perm fs.FileMode) (*Staged, error) {
	temp := filepath.Join(filepath.Dir(path), TempPrefix+rand.Text())
	f, err := fsys.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return nil, fmt.Errorf("stage %s: %w", path, err)
	}
	return &Staged{fsys: fsys, path: path, temp: temp, file: f}, nil
}

// Write appends p. After an error every further Write, and Commit, returns that error: part of p may
// be in the file.
func (s *Staged) Write(p []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	if s.file == nil {
		return 0, fmt.Errorf("stage %s: %w", s.path, fs.ErrClosed)
	}
	n, err := s.file.Write(p)
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	if err != nil {
		s.err = fmt.Errorf("stage %s: %w", s.path, err)
	}
	return n, s.err
}

// Commit gives the file its name and returns once the file and the name are durable. It returns an error
// satisfying errors.Is for [fs.ErrExist] when anything of that name exists, a symbolic link too; of any
// number of concurrent callers one succeeds. It ends the file, whatever it returns.
//
// On an error that is not [ErrInPlace] there is no file of that name from this call, and no temporary one.
func (s *Staged) Commit() error {
	if err := s.err; err != nil {
		return errors.Join(err, s.Abort())
	}
	if s.file == nil {
		return fmt.Errorf("commit %s: %w", s.path, fs.ErrClosed)
	}
	f := s.file
	s.file = nil
	// One sync only, as in fill.
	err := errors.Join(f.Sync(), f.Close())
	if err != nil {
		err = errors.Join(err, s.fsys.Remove(s.temp))
	} else {
		err = publish(s.fsys, s.temp, s.path)
	}
	if err != nil {
		return fmt.Errorf("commit %s: %w", s.path, err)
	}
	return nil
}

// Abort removes what was written. After Commit or an earlier Abort it does nothing and returns nil, so it
// may be deferred. After an error the temporary file may be left for [SweepTemp].
func (s *Staged) Abort() error {
	if s.file == nil {
		return nil
	}
	f := s.file
	s.file = nil
	if err := errors.Join(f.Close(), s.fsys.Remove(s.temp)); err != nil {
		return fmt.Errorf("abort %s: %w", s.path, err)
	}
	return nil
}

// SyncFile makes a regular file durable that is there already, its content and its name, and returns its
// size: its writer may have died before doing so. It does not look at the content, and it reaches
// the file only, not its parents: see [MkdirAll]. Anything but a regular file is refused with [ErrNotRegular].
func SyncFile(fsys FS, path string) (size int64, err error) {
	f, err := fsys.OpenFile(path, syncAccess, 0)
	if err != nil {
		return 0, fmt.Errorf("sync file: %w", err)
	}
	size, err = syncRegular(f)
	if err := errors.Join(err, f.Close()); err != nil {
		return 0, fmt.Errorf("sync file %s: %w", path, err)
	}
	if err := fsys.SyncDir(filepath.Dir(path)); err != nil {
		return 0, fmt.Errorf("sync file %s: %w", path, err)
	}
	return size, nil
}

func syncRegular(f File) (size int64, err error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	if !info.Mode().IsRegular() {
		return 0, fmt.Errorf("%w: %s", ErrNotRegular, typeName(info.Mode()))
	}
	return info.Size(), f.Sync()
}
