package snapshot

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/freeze/target"
	"github.com/amber-memory/amber/internal/freeze/target/dir"
)

// Remote is a place for repositories that is no folder of this machine.
type Remote struct {
	// Name identifies the place: different places have different names.
	Name string
	// Open returns the target of a tenant's repository there.
	Open func(ctx context.Context, tenant amber.TenantID) (target.Target, error)
}

// lockName is the kernel lock of a repository. A name that begins with a dot
// is no object.
const lockName = ".lock"

// folder returns the folder of a tenant's repository on this machine.
func (o Options) folder(tenant amber.TenantID) string {
	if o.Root != "" {
		return filepath.Join(o.Root, string(tenant))
	}
	return o.Home.RepoDir(tenant)
}

// repositoryName identifies the repository of a tenant: different repositories
// have different names.
func (n notebook) repositoryName(tenant amber.TenantID) string {
	if n.o.Remote != nil {
		return n.o.Remote.Name + "#" + string(tenant)
	}
	return n.o.folder(tenant)
}

// openTarget returns the target of a tenant's repository. Create makes the
// folder. Errors: not_found without a folder.
func (e *Engine) openTarget(ctx context.Context, tenant amber.TenantID, create bool) (target.Target, error) {
	if _, err := amber.ParseTenantID(string(tenant)); err != nil {
		return nil, err
	}
	if e.o.Remote != nil {
		return e.o.Remote.Open(ctx, tenant)
	}
	path := e.o.folder(tenant)
	if create {
		if err := fsx.MkdirAll(e.o.FS, path, 0o700); err != nil {
			return nil, &amber.Error{Op: "make repository", Kind: amber.KindOf(err), ID: path, Err: err}
		}
	} else if _, err := e.o.FS.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, amber.Errorf(amber.KindNotFound, "open repository", path, "no snapshot has been taken yet").WithHint("amber snapshot create")
	}
	return dir.Open(path, dir.Options{FS: e.o.FS})
}

// lock takes the kernel lock of a tenant's repository. For a remote repository, only the processes
// of this home lock each other out; the rules of gc hold without locks. With wait it waits up to
// Options.Wait. Errors: busy.
func (e *Engine) lock(ctx context.Context, tenant amber.TenantID, mode fsx.LockMode, wait bool) (func(), error) {
	const op = "lock repository"
	path := filepath.Join(e.o.folder(tenant), lockName)
	if e.o.Remote != nil {
		locks := filepath.Join(e.o.Home.CacheDir(), "locks")
		if err := fsx.MkdirAll(e.o.FS, locks, 0o700); err != nil {
			return nil, &amber.Error{Op: op, Kind: amber.KindOf(err), ID: locks, Err: err}
		}
		sum := sha256.Sum256([]byte(e.book.repositoryName(tenant)))
		path = filepath.Join(locks, hex.EncodeToString(sum[:8])+lockName)
	}
	var lock *fsx.Lock
	var err error
	if wait {
		within, cancel := context.WithTimeout(ctx, e.o.Wait)
		defer cancel()
		lock, err = fsx.AcquireLock(within, path, mode)
	} else {
		lock, err = fsx.TryLock(path, mode)
	}
	switch {
	case err == nil:
		return func() { _ = lock.Unlock() }, nil
	case ctx.Err() != nil:
		return nil, &amber.Error{Op: op, Kind: amber.KindUnreachable, ID: path, Err: ctx.Err()}
	case errors.Is(err, fsx.ErrLocked), errors.Is(err, context.DeadlineExceeded):
		return nil, amber.Errorf(amber.KindBusy, op, path, "another process is using the repository")
	}
	return nil, &amber.Error{Op: op, Kind: amber.KindInternal, ID: path, Err: err}
}
