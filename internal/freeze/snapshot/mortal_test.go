package snapshot_test

import (
	"errors"
	"io/fs"
	"os"
	"sync"
	"syscall"

	"github.com/amber-memory/amber/internal/base/fsx"
)

// errKilled is what every call of a killed process returns. A killed process would not make these
// calls at all.
var errKilled = errors.New("the process is dead")

// mortal is a file system that fails from a chosen call on. Calls that may
// change something are counted; the one at which it happens is half done, where
// it is a write. Syncs do not reach the disk: a process that is killed loses
// nothing that it has written.
type mortal struct {
	fsx.FS
	full bool   // the disk is full: what needs no space goes on
	die  func() // called once, at the chosen call; may be nil

	mu    sync.Mutex
	calls int
	at    int // 0: never
	dead  bool
}

// newMortal returns a file system that is killed at a call, counted from 1.
func newMortal(at int, die func()) *mortal { return &mortal{FS: fsx.OS(), at: at, die: die} }

// reached returns how many calls were made, and whether the chosen one was.
func (m *mortal) reached() (calls int, dead bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.calls, m.dead
}

// change counts a call that changes something. First is true for the chosen
// one.
func (m *mortal) change(needsSpace bool) (first bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls++
	if first = !m.dead && m.calls == m.at; first {
		m.dead = true
		if m.die != nil {
			m.die()
		}
	}
	switch {
	case m.dead && m.full && needsSpace:
		return first, syscall.ENOSPC
	case m.dead && !m.full:
		return first, errKilled
	}
	return false, nil
}

// look is asked by calls that change nothing.
func (m *mortal) look() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dead && !m.full {
		return errKilled
	}
	return nil
}

func pathError(op, name string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: name, Err: err}
}

func (m *mortal) OpenFile(name string, flag int, perm fs.FileMode) (fsx.File, error) {
	err := m.look()
	if flag&(os.O_CREATE|os.O_TRUNC) != 0 {
		_, err = m.change(flag&os.O_CREATE != 0)
	}
	if err != nil {
		return nil, pathError("open", name, err)
	}
	f, err := m.FS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return mortalFile{f, m}, nil
}

func (m *mortal) do(op, name string, needsSpace bool, fn func() error) error {
	if _, err := m.change(needsSpace); err != nil {
		return pathError(op, name, err)
	}
	return fn()
}

func nothing() error { return nil }

func (m *mortal) Mkdir(name string, perm fs.FileMode) error {
	return m.do("mkdir", name, true, func() error { return m.FS.Mkdir(name, perm) })
}

func (m *mortal) Link(oldname, newname string) error {
	return m.do("link", oldname, true, func() error { return m.FS.Link(oldname, newname) })
}

func (m *mortal) Rename(oldname, newname string) error {
	return m.do("rename", oldname, true, func() error { return m.FS.Rename(oldname, newname) })
}

func (m *mortal) Remove(name string) error {
	return m.do("remove", name, false, func() error { return m.FS.Remove(name) })
}

func (m *mortal) SyncDir(name string) error { return m.do("sync", name, true, nothing) }
func (m *mortal) SyncAll(name string) error { return m.do("sync", name, true, nothing) }

func (m *mortal) Lstat(name string) (fs.FileInfo, error) {
	if err := m.look(); err != nil {
		return nil, pathError("lstat", name, err)
	}
	return m.FS.Lstat(name)
}

func (m *mortal) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := m.look(); err != nil {
		return nil, pathError("readdir", name, err)
	}
	return m.FS.ReadDir(name)
}

// mortalFile is a file that its process has open.
type mortalFile struct {
	fsx.File
	m *mortal
}

func (f mortalFile) Read(p []byte) (int, error) {
	if err := f.m.look(); err != nil {
		return 0, pathError("read", f.Name(), err)
	}
	return f.File.Read(p)
}

func (f mortalFile) ReadAt(p []byte, off int64) (int, error) {
	if err := f.m.look(); err != nil {
		return 0, pathError("read", f.Name(), err)
	}
	return f.File.ReadAt(p, off)
}

// write lets half of the write at which it happens through.
func (f mortalFile) write(p []byte, fn func([]byte) (int, error)) (int, error) {
	first, err := f.m.change(true)
	if err == nil {
		return fn(p)
	}
	n := 0
	if first {
		n, _ = fn(p[:len(p)/2])
	}
	return n, pathError("write", f.Name(), err)
}

func (f mortalFile) Write(p []byte) (int, error) { return f.write(p, f.File.Write) }

func (f mortalFile) WriteAt(p []byte, off int64) (int, error) {
	return f.write(p, func(p []byte) (int, error) { return f.File.WriteAt(p, off) })
}

func (f mortalFile) Truncate(size int64) error {
	return f.m.do("truncate", f.Name(), false, func() error { return f.File.Truncate(size) })
}

func (f mortalFile) Sync() error { return f.m.do("sync", f.Name(), true, nothing) }

func (f mortalFile) Stat() (fs.FileInfo, error) {
	if err := f.m.look(); err != nil {
		return nil, pathError("stat", f.Name(), err)
	}
	return f.File.Stat()
}
