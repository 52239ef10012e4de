package home

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strconv"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/diskerr"
	"github.com/amber-memory/amber/internal/base/fsx"
)

// Restore is a generation on its way to be the live one. One goroutine uses it
// at a time, inside [Agent.Operate], and ends it with Switch or Abort.
type Restore struct {
	a       *Agent
	note    note
	current Current
	over    bool
}

// BeginRestore makes an empty generation beside the live one. From says what
// is restored, the id of a snapshot. The caller is inside [Agent.Operate]; an
// earlier restore that was interrupted is settled first. Whatever ends the
// process from here on, the agent is the old generation or the new one.
//
// The number of the generation is higher than that of any generation there is;
// a number is used again only if its generation was given up before it was
// ever live. Errors: invalid, those of Current and [Agent.Settle], and those of
// the disk.
func (a *Agent) BeginRestore(ctx context.Context, from string) (*Restore, error) {
	if err := amber.CheckID("from", from); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, a.busy(ctx, "begin restore", ctx.Err())
	}
	if _, err := a.settleRestore(); err != nil {
		return nil, err
	}
	old, err := a.settled()
	if err != nil {
		return nil, err
	}
	r, err := a.newRestore(old, from)
	if err != nil {
		return nil, err
	}
	if err := r.begin(); err != nil {
		_, undo := a.settleRestore()
		return nil, errors.Join(diskerr.Own("begin restore", a.dir, err), undo)
	}
	return r, nil
}

func (a *Agent) newRestore(old Current, from string) (*Restore, error) {
	n, err := a.nextGeneration(old)
	if err != nil {
		return nil, err
	}
	incarnation, err := amber.NewUUID(a.o.Clock(), a.o.Random)
	if err != nil {
		return nil, err
	}
	next := old
	next.Generation, next.Incarnation = n, incarnation
	return &Restore{
		a: a, current: next,
		note: note{generation: n, incarnation: incarnation, replaces: old.Generation, from: from},
	}, nil
}

// begin leaves the note, durably, and then makes the folder.
func (r *Restore) begin() error {
	if err := fsx.Replace(r.a.o.FS, r.a.path(restoringName), 0o600, r.note.marshal()); err != nil {
		return err
	}
	return fsx.MkdirAll(r.a.o.FS, r.Dir(), 0o700)
}

// Dir returns the folder of the new generation. The caller need not sync what it puts there: Switch
// does that.
func (r *Restore) Dir() string { return r.a.GenDir(r.current) }

// Current returns what CURRENT will say: a new incarnation and the device of
// the old generation. Its clock is that of the old generation until Switch has
// raised it.
func (r *Restore) Current() Current { return r.current }

// Replaces returns the number of the generation that was live when it began.
func (r *Restore) Replaces() int64 { return r.note.replaces }

// Sync makes durable what was built so far. Switch does so, too, while no process
// may write; after a Sync there is little left for it to do. After an error
// the restore must be aborted.
func (r *Restore) Sync() error {
	if err := r.a.o.FS.SyncAll(r.Dir()); err != nil {
		return diskerr.Own("sync restore", r.Dir(), err)
	}
	return nil
}

// Switch makes the new generation the live one, in one step and durably. It
// keeps all writers out, calls prepare with the generation that is live until
// then, makes what was built durable, and replaces CURRENT. Prepare returns the
// latest stamp in the new generation; the clock of CURRENT becomes that or what
// it was, whichever is later.
//
// On an error the old generation is live and the restore can be aborted, with
// one exception: where [fsx.ErrInPlace] is in the error the new generation is
// live, but a power cut may undo the switch until the first write to it. The
// next writer makes sure that this cannot happen any more, and Abort does
// nothing. Errors: those of prepare and Current; busy; conflict when another
// generation is live than the one it was to replace.
func (r *Restore) Switch(ctx context.Context, prepare func(old Current) (amber.Stamp, error)) error {
	if r.over {
		return amber.Errorf(amber.KindInternal, "switch generation", string(r.a.agent), "the restore is over")
	}
	return r.a.exclusive(ctx, func() error {
		old, err := r.a.settled()
		if err != nil {
			return err
		}
		if old.Generation != r.note.replaces {
			why := fmt.Sprintf("generation %d is live, not %d", old.Generation, r.note.replaces)
			return amber.Errorf(amber.KindConflict, "switch generation", string(r.a.agent), "%s", why)
		}
		stamp, err := prepare(old)
		if err != nil {
			return err
		}
		return r.replace(max(stamp, old.Clock))
	})
}

// replace runs under the exclusive lock. The order is the promise: the data,
// CURRENT, the note gone.
func (r *Restore) replace(clock amber.Stamp) error {
	next := r.current
	next.Clock = clock
	if !next.valid() {
		return r.a.beyondTime("switch generation", clock)
	}
	if err := r.Sync(); err != nil {
		return err
	}
	err := fsx.Replace(r.a.o.FS, r.a.path(currentName), 0o600, next.marshal())
	if err != nil && !errors.Is(err, fsx.ErrInPlace) {
		return diskerr.Own("switch generation", r.a.dir, err)
	}
	r.current, r.over = next, true
	if err != nil {
		return diskerr.Own("switch generation", r.a.dir, err)
	}
	r.a.known.Store(&next)
	// Failing to remove the note is no failure: the next writer does it.
	_ = fsx.RemoveAll(r.a.o.FS, r.a.path(restoringName))
	return nil
}

// Abort removes what was built, unless it is live. After Switch it does
// nothing, so it may be deferred; after an error it may be repeated, and
// [Agent.Settle] does the same.
func (r *Restore) Abort() error {
	if r.over {
		return nil
	}
	_, err := r.a.settleRestore()
	r.over = err == nil
	return err
}

// nextGeneration returns a number above CURRENT and above everything in gen.
func (a *Agent) nextGeneration(c Current) (int64, error) {
	last := c.Generation
	all, err := a.Generations()
	if err != nil {
		return 0, err
	}
	for _, n := range all {
		last = max(last, n)
	}
	if last == math.MaxInt64 {
		return 0, amber.Errorf(amber.KindDamaged, "begin restore", string(a.agent), "the number of the generation is the highest possible")
	}
	return last + 1, nil
}

func (a *Agent) genPath(n int64) string {
	return filepath.Join(a.dir, genName, strconv.FormatInt(n, 10))
}
