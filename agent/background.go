package agent

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"github.com/amber-memory/amber/internal/fsx"
	"github.com/amber-memory/amber/journal/drain"
)

// A background drain waits a moment, so that one of them serves many hooks, and stays
// until nothing has come for a while.
const (
	drainPause = 300 * time.Millisecond
	drainStay  = 3 * time.Second
)

// backgroundLock is the lock of the background drain, in the spool.
func (a *Agent) backgroundLock() string {
	return filepath.Join(a.folder.SpoolDir(), "background.lock")
}

// DrainsInBackground reports whether a process drains the journal in the background.
func (a *Agent) DrainsInBackground() (bool, error) {
	// Shared: a look must not keep another hook from looking.
	lock, err := fsx.TryLock(a.backgroundLock(), fsx.Shared)
	if errors.Is(err, fsx.ErrLocked) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	return false, lock.Unlock()
}

// DrainInBackground opens the agent and drains its journal until nothing comes any
// more. One process at a time does: others find the lock taken and return. A hook
// that appends after the last look and finds the lock still taken relies on this
// drain, so it looks once more after it let go of the lock.
func DrainInBackground(ctx context.Context, o Options) error {
	for more := true; more; {
		var err error
		if more, err = drainWhileAlone(ctx, o); err != nil {
			return err
		}
	}
	return nil
}

// drainWhileAlone drains under a lock until nothing comes any more, lets go of the
// lock, and reports whether something has come since.
func drainWhileAlone(ctx context.Context, o Options) (more bool, err error) {
	closed, err := At(o)
	if err != nil {
		return false, err
	}
	wait, cancel := context.WithTimeout(ctx, drainPause) // hooks take the lock for a moment, to look
	defer cancel()
	lock, err := fsx.AcquireLock(wait, closed.backgroundLock(), fsx.Exclusive)
	if errors.Is(err, context.DeadlineExceeded) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer lock.Unlock()
	a, err := Open(ctx, o)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	w, err := a.Drainer(drain.Options{})
	if err != nil {
		return false, err
	}
	err = drainUntilQuiet(ctx, w)
	if err = errors.Join(err, lock.Unlock()); err != nil {
		return false, err
	}
	report, err := w.Once(ctx)
	if err == nil && report.Applied == 0 {
		a.SyncWithin(ctx, a.config.Search.Budget)
	}
	return report.Applied > 0, err
}

// drainUntilQuiet drains until nothing has come into the store for a while. A session
// that cannot be drained keeps no other waiting; the next drain tries it again.
func drainUntilQuiet(ctx context.Context, w *drain.Worker) error {
	for quiet := time.Duration(0); quiet < drainStay; quiet += drainPause {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(drainPause):
		}
		report, err := w.Once(ctx)
		if err != nil {
			return err
		}
		if report.Applied > 0 {
			quiet = 0
		}
	}
	return nil
}
