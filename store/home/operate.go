package home

import (
	"context"
	"errors"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
)

// Operate runs fn while no other snapshot or restore of this agent runs, in this
// process or another. Writers go on meanwhile. fn must not call Operate again.
// Errors: those of fn; not_found when the agent has no folder; busy when the
// other one is not done in time.
func (a *Agent) Operate(ctx context.Context, fn func() error) error {
	wait, cancel := context.WithTimeout(ctx, a.o.Wait)
	defer cancel()
	lock, err := fsx.AcquireLock(wait, a.path(operationName), fsx.Exclusive)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return amber.Errorf(amber.KindBusy, "wait for operation", string(a.agent), "another snapshot or restore of this agent is running").
			WithHint("try again when the other snapshot or restore is done")
	}
	if err != nil {
		return a.busy(ctx, "wait for operation", err)
	}
	defer lock.Unlock()
	return fn()
}

// operating reports whether an operation is under way. It makes no file.
func (a *Agent) operating() bool {
	if _, err := a.o.FS.Lstat(a.path(operationName)); err != nil {
		return false
	}
	lock, err := fsx.TryLock(a.path(operationName), fsx.Shared)
	if err != nil {
		return errors.Is(err, fsx.ErrLocked)
	}
	_ = lock.Unlock()
	return false
}
