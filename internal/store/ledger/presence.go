package ledger

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
)

// Every open database that answers requests holds a kernel lock on a file of its own, named by its
// id, in a folder beside the database. The kernel releases the lock when the process ends, however
// that ends: if another process can lock the file, or the file is not there, its holder is gone.
const (
	holdersSuffix = "-holders"
	holderBytes   = 16
)

// presence is the lock of one open database. It is taken when it is first
// needed: most processes never answer a request.
type presence struct {
	dir, id string

	mu   sync.Mutex
	lock *fsx.Lock
}

// show makes sure that others see this one, and returns its id.
func (p *presence) show(ctx context.Context) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lock != nil {
		return p.id, nil
	}
	if err := fsx.MkdirAll(fsx.OS(), p.dir, 0o700); err != nil {
		return "", p.fail(err)
	}
	p.sweep()
	lock, err := fsx.AcquireLock(ctx, filepath.Join(p.dir, p.id), fsx.Exclusive)
	if err != nil {
		return "", p.fail(err)
	}
	p.lock = lock
	return p.id, nil
}

func (p *presence) fail(err error) error {
	return &amber.Error{Op: "lock answers", Kind: amber.KindInternal, ID: p.dir, Err: err}
}

// sweep removes the files of holders that are gone. A process that was about to lock one of them
// finds its name gone and makes the file again. A file that cannot be removed stays for the next
// sweep.
func (p *presence) sweep() {
	entries, err := fsx.OS().ReadDir(p.dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !isHolder(e.Name()) {
			continue
		}
		path := filepath.Join(p.dir, e.Name())
		lock, err := fsx.TryLock(path, fsx.Exclusive)
		if err != nil {
			continue
		}
		_ = fsx.OS().Remove(path)
		_ = lock.Unlock()
	}
}

// gone reports whether another open database has ended.
func (p *presence) gone(id string) (bool, error) {
	if !isHolder(id) {
		return true, nil // no database ever had it
	}
	path := filepath.Join(p.dir, id)
	if _, err := fsx.OS().Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	lock, err := fsx.TryLock(path, fsx.Shared)
	switch {
	case errors.Is(err, fsx.ErrLocked):
		return false, nil
	case err != nil:
		return false, p.fail(err)
	}
	return true, lock.Unlock()
}

// end lets others know that this one is gone.
func (p *presence) end() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lock == nil {
		return nil
	}
	err := p.lock.Unlock()
	p.lock = nil
	_ = fsx.OS().Remove(filepath.Join(p.dir, p.id)) // or another process sweeps it
	return err
}

// isHolder reports whether a name is the id of an open database. It comes from
// the database or a folder and becomes part of a path.
func isHolder(name string) bool {
	return len(name) == 2*holderBytes && strings.Trim(name, "0123456789abcdef") == ""
}
