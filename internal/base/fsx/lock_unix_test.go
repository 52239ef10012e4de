//go:build unix

package fsx_test

import (
	"os"
	"testing"

	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/test/must"
)

// Windows does not let anybody remove a lock file that is open.
func TestRemovedLockFileDoesNotCount(t *testing.T) {
	t.Parallel()
	path := lockPath(t)
	held := mustLock(t, path, fsx.Exclusive)
	ctx := newWaiting(t.Context())
	type result struct {
		lock *fsx.Lock
		err  error
	}
	got := make(chan result, 1)
	go func() {
		l, err := fsx.AcquireLock(ctx, path, fsx.Exclusive)
		got <- result{l, err}
	}()
	<-ctx.begun
	must.Do(t, os.Remove(path))
	second := mustLock(t, path, fsx.Exclusive)
	mustUnlock(t, held)
	// The waiter has the removed file now, finds out, and waits for the new one.
	mustUnlock(t, second)
	r := <-got
	if r.err != nil {
		t.Fatal(r.err)
	}
	defer r.lock.Unlock()
	must.Is(t, "lock on the waiter's file", must.Err(fsx.TryLock(path, fsx.Shared)), fsx.ErrLocked)
}
