package home

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"sync/atomic"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/diskerr"
	"github.com/amber-memory/amber/internal/base/fifo"
	"github.com/amber-memory/amber/internal/base/fsx"
)

// Names inside an agent folder.
const (
	currentName   = "CURRENT"
	creatingName  = "CREATING"
	restoringName = "RESTORING"
	deletingName  = "DELETING"
	movedName     = "MOVED"
	gateName      = "gate"
	lockName      = "lock"
	operationName = "operation"
	turnPrefix    = "turn-"
	genName       = "gen"
	spoolName     = "spool"
	parkedName    = "parked"
)

// Agent is the handle of one agent's folder. It is safe for concurrent use,
// also by several processes; several handles of one agent work like several
// processes.
type Agent struct {
	dir    string
	tenant amber.TenantID
	agent  amber.AgentID
	o      Options
	turns  *fifo.Lines[string]     // of the writers of this process, one for each store
	mover  string                  // id of the move that this handle makes; "": none
	known  atomic.Pointer[Current] // the last that was found to be live for good
}

// Dir returns the agent's folder.
func (a *Agent) Dir() string { return a.dir }

// SpoolDir returns the folder of the crash journal, which lies beside the
// generations: an appender meets neither a switch nor a fence. It
// need not exist.
func (a *Agent) SpoolDir() string { return a.path(spoolName) }

// Tenant returns the tenant's id.
func (a *Agent) Tenant() amber.TenantID { return a.tenant }

// ID returns the agent's id.
func (a *Agent) ID() amber.AgentID { return a.agent }

// GenDir returns the folder of the generation c names.
func (a *Agent) GenDir(c Current) string {
	return a.genPath(c.Generation)
}

// Current reads which generation is live now. It takes no lock: CURRENT is
// replaced in one step. Errors: not_found when there is no such agent;
// damaged when CURRENT is broken, or missing though the folder holds data;
// too_new; internal when the disk does not answer.
func (a *Agent) Current() (Current, error) {
	c, err := a.readCurrent()
	if !errors.Is(err, fs.ErrNotExist) {
		return c, err
	}
	lost, err := a.lostCurrent()
	if err != nil {
		return Current{}, diskerr.Own("open agent", a.dir, err)
	}
	if !lost {
		return Current{}, a.notFound()
	}
	// A creation may have come to its end between the first look and this one.
	c, err = a.readCurrent()
	if !errors.Is(err, fs.ErrNotExist) {
		return c, err
	}
	return Current{}, amber.Errorf(amber.KindDamaged, "open agent", string(a.agent), "the folder of the agent holds data, and its file CURRENT is missing").
		WithHint("put back " + a.path(currentName) + " from a backup; nothing was changed")
}

// readCurrent reads CURRENT. A missing file is fs.ErrNotExist.
func (a *Agent) readCurrent() (Current, error) {
	b, err := fsx.ReadFile(a.o.FS, a.path(currentName), maxRecord)
	if err != nil {
		return Current{}, a.unreadable(diskerr.Own("read CURRENT", a.path(currentName), err))
	}
	c, err := parseCurrent(b)
	if err != nil {
		return Current{}, a.unreadable(err)
	}
	return c, nil
}

// unreadable says whose CURRENT it is and, where it is broken, the way out.
func (a *Agent) unreadable(err error) error {
	e := &amber.Error{Op: "open agent", Kind: amber.KindOf(err), ID: string(a.agent), Err: err}
	if e.Kind == amber.KindDamaged {
		e.Hint = "amber doctor; a restored copy of " + a.path(currentName) + " brings the agent back, the data of the agent is untouched"
	}
	return e
}

func (a *Agent) notFound() error {
	return amber.Errorf(amber.KindNotFound, "open agent", string(a.agent), "the agent does not exist")
}

// Write runs fn while the agent may be written: in its turn among the writers
// of the named store, and with no fence or switch under way. The Current it
// passes holds until fn returns. Errors: those of fn and Current; busy when
// the turn does not come in time.
func (a *Agent) Write(ctx context.Context, store string, fn func(Current) error) error {
	_, err := a.write(ctx, store, nil, func(c Current, _ *fifo.Line) error { return fn(c) })
	return err
}

// WriteTogether is Write for a caller whose work another writer of this handle may do in its own
// turn. Fn receives next, which takes the work of the writers that wait behind, first come first.
// It takes none once no writer waits, or once the next writer does not share its work.
//
// When another writer has taken the work of the caller, WriteTogether returns true at once and
// calls nothing. That writer is still inside fn, and the rest is between the two; the end of ctx
// does not take the work back. A work is not nil.
func (a *Agent) WriteTogether(ctx context.Context, store string, work any, fn func(c Current, next func() (any, bool)) error) (taken bool, err error) {
	return a.write(ctx, store, work, func(c Current, l *fifo.Line) error { return fn(c, l.Take) })
}

func (a *Agent) write(ctx context.Context, store string, work any, fn func(Current, *fifo.Line) error) (taken bool, err error) {
	wait, cancel := context.WithTimeout(ctx, a.o.Wait)
	defer cancel()
	own := a.turns.Of(store)
	if taken, err := own.Join(wait, work); err != nil {
		return false, a.busy(ctx, "wait for turn", err)
	} else if taken {
		return true, nil
	}
	defer own.Leave()
	turn, err := fsx.AcquireLock(wait, a.path(turnPrefix+store), fsx.Exclusive)
	if err != nil {
		return false, a.busy(ctx, "wait for turn", err)
	}
	defer turn.Unlock()
	lock, err := a.enterShared(wait)
	if err != nil {
		return false, a.busy(ctx, "wait for lock", err)
	}
	defer lock.Unlock()
	c, err := a.settled()
	if err != nil {
		return false, err
	}
	return false, fn(c, own)
}

// enterShared passes the gate and takes the lock shared.
func (a *Agent) enterShared(ctx context.Context) (*fsx.Lock, error) {
	gate, err := fsx.AcquireLock(ctx, a.path(gateName), fsx.Shared)
	if err != nil {
		return nil, err
	}
	defer gate.Unlock()
	return fsx.AcquireLock(ctx, a.path(lockName), fsx.Shared)
}

// Exclusive runs fn while no process writes. Errors: those of fn and Current;
// busy when the writers are not done in time.
func (a *Agent) Exclusive(ctx context.Context, fn func(Current) error) error {
	return a.exclusive(ctx, func() error {
		c, err := a.settled()
		if err != nil {
			return err
		}
		return fn(c)
	})
}

// exclusive closes the gate, waits for the writers inside and runs fn.
func (a *Agent) exclusive(ctx context.Context, fn func() error) error {
	wait, cancel := context.WithTimeout(ctx, a.o.Wait)
	defer cancel()
	gate, err := fsx.AcquireLock(wait, a.path(gateName), fsx.Exclusive)
	if err != nil {
		return a.busy(ctx, "close gate", err)
	}
	defer gate.Unlock()
	lock, err := fsx.AcquireLock(wait, a.path(lockName), fsx.Exclusive)
	if err != nil {
		return a.busy(ctx, "wait for writers", err)
	}
	defer lock.Unlock()
	return fn()
}

// busy says what a wait that failed means: the caller gave up, the time was
// over, or the disk failed. A lock in a folder that is not there is an agent
// that is not there.
func (a *Agent) busy(ctx context.Context, op string, err error) error {
	switch {
	case ctx.Err() != nil:
		return &amber.Error{Op: op, Kind: amber.KindUnreachable, ID: string(a.agent), Err: ctx.Err()}
	case errors.Is(err, context.DeadlineExceeded):
		return amber.Errorf(amber.KindBusy, op, string(a.agent), "another process holds the agent for longer than %s", a.o.Wait.String()).WithHint("amber doctor")
	case errors.Is(err, fs.ErrNotExist):
		return a.notFound()
	}
	return diskerr.Own(op, a.dir, err)
}

func (a *Agent) path(name string) string { return filepath.Join(a.dir, name) }
