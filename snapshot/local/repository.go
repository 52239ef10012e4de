package local

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/fsx"
	"github.com/amber-memory/amber/target/dir"
)

// repositories keeps the repository of each tenant in a folder.
type repositories struct {
	fs   fsx.FS
	path func(amber.TenantID) string
	wait time.Duration
}

// lockName is the kernel lock of a repository. It begins with a dot, so it is
// no object.
const lockName = ".lock"

func (r repositories) Open(_ context.Context, tenant amber.TenantID, create bool) (amber.Target, error) {
	if _, err := amber.ParseTenantID(string(tenant)); err != nil {
		return nil, err
	}
	path := r.path(tenant)
	if create {
		if err := fsx.MkdirAll(r.fs, path, 0o700); err != nil {
			return nil, &amber.Error{Op: "make repository", Kind: amber.KindOf(err), ID: path, Err: err}
		}
	} else if _, err := r.fs.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		e := amber.Errorf(amber.KindNotFound, "open repository", path, "there is none yet")
		e.Hint = "amber snapshot create"
		return nil, e
	}
	return dir.Open(path, dir.Options{FS: r.fs})
}

func (r repositories) Name(tenant amber.TenantID) string { return r.path(tenant) }

func (r repositories) Lock(ctx context.Context, tenant amber.TenantID, mode fsx.LockMode, wait bool) (func(), error) {
	return lockRepository(ctx, filepath.Join(r.path(tenant), lockName), mode, wait, r.wait)
}

// lockRepository takes the kernel lock at a path, or waits a while for it.
// Errors: busy.
func lockRepository(ctx context.Context, path string, mode fsx.LockMode, wait bool, atMost time.Duration) (func(), error) {
	var lock *fsx.Lock
	var err error
	if wait {
		within, cancel := context.WithTimeout(ctx, atMost)
		defer cancel()
		lock, err = fsx.AcquireLock(within, path, mode)
	} else {
		lock, err = fsx.TryLock(path, mode)
	}
	switch {
	case err == nil:
		return func() { _ = lock.Unlock() }, nil
	case ctx.Err() != nil:
		return nil, &amber.Error{Op: "lock repository", Kind: amber.KindUnreachable, ID: path, Err: ctx.Err()}
	case errors.Is(err, fsx.ErrLocked), errors.Is(err, context.DeadlineExceeded):
		return nil, amber.Errorf(amber.KindBusy, "lock repository", path, "another process works on it")
	}
	return nil, &amber.Error{Op: "lock repository", Kind: amber.KindInternal, ID: path, Err: err}
}
