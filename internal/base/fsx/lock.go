package fsx

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
)

// LockMode says who else may hold a lock at the same time.
type LockMode int

const (
	// Shared lets other shared holders in and keeps exclusive ones out.
	Shared LockMode = iota + 1
	// Exclusive keeps everybody else out.
	Exclusive
)

// String returns "shared" or "exclusive".
func (m LockMode) String() string {
	switch m {
	case Shared:
		return "shared"
	case Exclusive:
		return "exclusive"
	}
	return fmt.Sprintf("LockMode(%d)", int(m))
}

// Lock is a held kernel file lock (flock on Unix, LockFileEx on Windows). Each acquisition has its own open
// file, so locks exclude each other between goroutines as they do between processes, and the kernel
// drops them when the process ends, however it ends. A lock orders what is done to files; it is no
// replacement for a mutex around memory.
type Lock struct {
	file *os.File
	once sync.Once
	err  error
}

// AcquireLock takes the lock file path in the given mode and waits for it as long as ctx lasts. The file
// is created with mode 0600 when it is missing; its directory must exist. In [Shared] mode a file that
// cannot be opened for writing is opened for reading, so that a read-only home can be locked. A symbolic
// link, or anything else that is not a regular file, is refused with [ErrNotRegular].
//
// A free lock is granted even when the deadline of ctx is over: a process that the machine let wait must not get an
// error that another process holds it. A canceled ctx takes no lock. A waiter wakes as soon as the kernel grants the
// lock. When ctx ends first, AcquireLock returns at once with an error that wraps ctx.Err(); the kernel's wait cannot
// be broken off, so it goes on in the background and the lock is released in the moment it is granted. Each such wait
// costs one thread until then: callers that may queue up in numbers should queue among themselves first.
//
// A lock file that was removed or replaced during the wait does not count: the wait starts again on the
// file that has the name now.
func AcquireLock(ctx context.Context, path string, mode LockMode) (*Lock, error) {
	return acquire(path, mode, func(f *os.File) error { return await(ctx, f, mode) })
}

// TryLock is [AcquireLock] without the wait: it returns [ErrLocked] when the lock is held in a conflicting mode.
func TryLock(path string, mode LockMode) (*Lock, error) {
	return acquire(path, mode, func(f *os.File) error {
		err := lockFile(f, mode, false)
		if err != nil {
			f.Close()
		}
		return err
	})
}

// acquire opens the lock file and has grant lock it. A grant that fails has closed the file, or will.
func acquire(path string, mode LockMode, grant func(*os.File) error) (*Lock, error) {
	for {
		f, err := openLock(path, mode)
		if err == nil {
			err = grant(f)
		}
		if err != nil {
			return nil, fmt.Errorf("lock %s %s: %w", path, mode, err)
		}
		l := &Lock{file: f}
		current, err := hasName(f, path)
		if current && err == nil {
			return l, nil
		}
		if err := errors.Join(err, l.Unlock()); err != nil {
			return nil, fmt.Errorf("lock %s %s: %w", path, mode, err)
		}
	}
}

func openLock(path string, mode LockMode) (*os.File, error) {
	if mode != Shared && mode != Exclusive {
		return nil, fs.ErrInvalid
	}
	f, err := openNoFollow(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil && mode == Shared {
		if r, rerr := openNoFollow(path, os.O_RDONLY, 0); rerr == nil {
			f, err = r, nil
		}
	}
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%w: %s", ErrNotRegular, typeName(info.Mode()))
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// await locks f, or returns an error that wraps ctx.Err() when ctx ends first. It owns f when it fails.
func await(ctx context.Context, f *os.File, mode LockMode) error {
	if err := ctx.Err(); errors.Is(err, context.Canceled) {
		f.Close()
		return err
	}
	err := lockFile(f, mode, false)
	if err == nil {
		return nil
	}
	if !errors.Is(err, ErrLocked) {
		f.Close()
		return err
	}
	if err := ctx.Err(); err != nil {
		f.Close()
		return err
	}
	// Unbuffered, and both sides give up on the same signal: a grant is either received or released,
	// never both and never neither.
	granted := make(chan error)
	go func() {
		err := lockFile(f, mode, true)
		select {
		case granted <- err:
		case <-ctx.Done():
			(&Lock{file: f}).Unlock()
		}
	}()
	select {
	case err := <-granted:
		if err != nil {
			f.Close()
		}
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// hasName reports whether path still names the open file f.
func hasName(f *os.File, path string) (bool, error) {
	mine, err := f.Stat()
	if err != nil {
		return false, err
	}
	named, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return os.SameFile(mine, named), nil
}

// Unlock releases the lock. It may be called more than once and from several goroutines; every call
// returns the result of the first.
func (l *Lock) Unlock() error {
	l.once.Do(func() {
		// Closing alone is not enough: a child between fork and exec may still share the open file.
		l.err = errors.Join(unlockFile(l.file), l.file.Close())
	})
	return l.err
}
