package snapshot

import (
	"context"
	"errors"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/wire"
)

// replaceTries is how often the engine tries to replace an agent between two writes. After that the
// writers have to wait for as long as the replacement takes.
const replaceTries = 3

// replaceRows restores an agent that lives in a database. The caller is inside Operate.
func (s *restoration) replaceRows(ctx context.Context, o operation, rep *repository) (err error) {
	staged, done, err := s.e.scratch("restore")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	if err := s.build(ctx, staged); err != nil {
		return err
	}
	state, err := s.e.refresh(ctx, s.agent)
	if err != nil {
		return err
	}
	request := s.safetyRequest()
	var rehearsal *capture
	if !s.request.NoSafetySnapshot {
		if rehearsal, err = s.e.capture(ctx, s.agent, rep, request, under{fence: s.agent.Exclusive, state: state}, nil); err != nil {
			return err
		}
		rehearsal.close()
	}
	warned := len(s.report.Warnings)
	for try := 1; ; try++ {
		err := s.switchRows(ctx, o, rep, replacing{staged, request, rehearsal, state, try == replaceTries})
		if err == nil {
			return s.clean(ctx, o, rep)
		}
		if !errors.Is(err, ErrMoved) {
			return err
		}
		s.report.Warnings = s.report.Warnings[:warned] // they come again
		if state, err = s.e.refresh(ctx, s.agent); err != nil {
			return err
		}
	}
}

// replacing is one attempt.
type replacing struct {
	staged    string // what the snapshot holds
	request   wire.SnapshotRequest
	rehearsal *capture // of the safety snapshot; nil: none is taken
	state     *Refreshed
	last      bool // writers wait, if they have to
}

// switchRows builds a generation beside the copy of the live one, and has it put in the place of that.
func (s *restoration) switchRows(ctx context.Context, o operation, rep *repository, r replacing) (err error) {
	next, err := s.agent.BeginRestore(ctx, string(s.request.ID))
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, next.Abort())
		}
	}()
	hold, err := s.e.holdSpool(ctx, s.agent)
	if err != nil {
		return err
	}
	defer hold.close()
	return next.Switch(ctx, func(old home.Current) (stamp amber.Stamp, err error) {
		defer func() {
			if err != nil {
				err = errors.Join(err, s.unpark(old))
			}
		}()
		warned := len(s.report.Warnings)
		fill := func(ctx context.Context) (amber.Stamp, error) {
			s.report.Warnings = s.report.Warnings[:warned]
			if err := fsx.RemoveAll(s.e.o.FS, next.Dir()); err != nil {
				return 0, fail("restore", next.Dir(), err)
			}
			if _, err := copyFolder(s.e.o.FS, r.staged, next.Dir()); err != nil {
				return 0, fail("restore", next.Dir(), err)
			}
			return s.settle(ctx, hold, old, next)
		}
		if stamp, err = fill(ctx); err != nil {
			return 0, err
		}
		p := Replacement{
			Dir: next.Dir(), Current: next.Current(), Clock: stamp, From: s.request.ID, Expect: r.state.Version,
			Last: func(ctx context.Context) (amber.SnapshotID, error) {
				if r.rehearsal == nil {
					return "", nil
				}
				u := held(old, hold)
				u.state = r.state
				err := s.save(ctx, o, rep, r.request, u, r.rehearsal)
				return s.report.SafetySnapshot, err
			},
		}
		if r.last {
			p.Moved = func(ctx context.Context) (amber.Stamp, error) {
				if r.state, err = s.e.place.Refresh(ctx, s.agent, s.agent.GenDir(old)); err != nil {
					return 0, err
				}
				return fill(ctx)
			}
		}
		s.e.progress(ctx, "put the restored agent in the place of the live one", 0, 0)
		c, left, err := o.replace(ctx, p)
		if err != nil {
			return 0, err
		}
		s.leftOut(left)
		s.report.Generation, s.old = c.Generation, old.Generation
		return c.Clock, nil
	})
}

// leftOut warns of what a database does not hold.
func (s *restoration) leftOut(left []string) {
	for _, text := range left {
		s.warn("not restored: %s", text)
	}
}

// unpark removes the journal entries that were parked for a switch that did not happen: they are still in the spool.
func (s *restoration) unpark(old home.Current) error {
	folder, err := s.e.homeOf(s.agent)
	if err != nil {
		return err
	}
	return fail("remove parked entries", string(s.agent.ID()), fsx.RemoveAll(s.e.o.FS, folder.ParkedDir(old.Generation)))
}

// makeRows restores to an agent that is not in the database.
func (s *restoration) makeRows(ctx context.Context) error {
	return s.e.operate(ctx, s.agent, func(ctx context.Context, o operation) error {
		// The copy in the folder of an agent that is gone holds nothing of use.
		if err := s.agent.Forget(ctx); err != nil {
			return err
		}
		var made home.Current
		_, err := s.agent.Fork(ctx, func(dir string, c home.Current) (amber.Stamp, error) {
			stamp, err := s.found(ctx, dir, c)
			if err != nil {
				return 0, err
			}
			var left []string
			made, left, err = o.replace(ctx, Replacement{Dir: dir, Current: c, Clock: stamp, From: s.request.ID, New: true})
			s.leftOut(left)
			return made.Clock, err
		})
		s.report.Generation = made.Generation
		return err
	})
}
