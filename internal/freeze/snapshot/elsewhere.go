package snapshot

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/base/permit"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/wire"
)

// Elsewhere keeps agents whose data lies in a database that several machines share. The engine
// works on a folder that is a copy of such an agent at one instant; in it everything is where it is
// in a home. The folder of the agent in the home contains the crash journal of this machine and
// nothing else.
type Elsewhere interface {
	// Folder returns the folder with the copy of an agent. It touches no disk.
	Folder(tenant amber.TenantID, id amber.AgentID) (*home.Agent, error)
	// Current returns the live generation. Errors: not_found.
	Current(ctx context.Context, tenant amber.TenantID, id amber.AgentID) (home.Current, error)
	// Operate runs fn while no other operation on the agent runs, on whatever machine. Errors: those of fn; busy.
	Operate(ctx context.Context, agent *home.Agent, fn func(ctx context.Context, l Lease) error) error
	// Refresh makes the folder what the agent is at one instant; dir is "", or the folder of the live generation for a caller
	// that has the exclusive lock of the folder. The caller is inside Operate.
	Refresh(ctx context.Context, agent *home.Agent, dir string) (Refreshed, error)
	// Spool makes sure that the folder with the crash journal of this machine is there, and returns what knows how far it was
	// drained. The caller closes that.
	Spool(ctx context.Context, tenant amber.TenantID, id amber.AgentID) (cursors amber.Ingester, done func() error, err error)
	// Old returns the numbers of the generations that are not live any more, and Remove removes one of them.
	Old(ctx context.Context, tenant amber.TenantID, id amber.AgentID) ([]int64, error)
	Remove(ctx context.Context, tenant amber.TenantID, id amber.AgentID, generation int64) error
	// Sweep removes what operations that died have left of any agent in the database of a tenant, and names it.
	Sweep(ctx context.Context, tenant amber.TenantID) ([]string, error)
	// Generation tells where the live generation came from.
	Generation(ctx context.Context, tenant amber.TenantID, id amber.AgentID) (wire.Generation, error)
}

// Lease is the right to operate on an agent of a database, among all machines. It is good inside [Elsewhere.Operate].
type Lease interface {
	// Renew makes the lease begin anew. Errors: conflict when another machine has it by now.
	Renew(ctx context.Context) error
	// Replace makes a new generation of a folder and puts it in the place of the live one, in one step, whose transaction checks
	// the lease. Left names what of the folder has no place in the database. Errors: [ErrMoved]; conflict where there is an agent
	// and none was expected, and where another machine has the lease by now.
	Replace(ctx context.Context, r Replacement) (c home.Current, left []string, err error)
}

// operation is the right to operate on an agent, see [Engine.operate].
type operation struct {
	permit.Permit
	lease Lease // of an agent in a database
}

// Refreshed says what a folder was made of.
type Refreshed struct {
	At       time.Time     // everything that was acknowledged before is in it
	Pin      time.Duration // how long it took to fix the instant
	Version  string        // of the agent: another one after any write
	Checks   []wire.Check  // what was compared with the database
	Warnings []string
}

// Replacement is a generation that is to replace the live one.
type Replacement struct {
	Dir     string       // of its data
	Current home.Current // what the folder calls it
	Clock   amber.Stamp  // no stamp in it is later
	From    amber.SnapshotID
	// New is for an agent that is not there yet.
	New bool
	// Expect is the version of the agent that the folder replaces. If the agent has another version
	// by now, Replace calls Moved when no process can write any more, and Moved makes the folder
	// anew. If Moved is nil, nothing is replaced.
	Expect string
	Moved  func(ctx context.Context) (amber.Stamp, error)
	// Last is called when no process can write any more and the old generation is still live. It
	// returns the snapshot that holds that generation, "" for none. May be nil.
	Last func(ctx context.Context) (amber.SnapshotID, error)
}

// ErrMoved is in the error about an agent that was written to since the folder was made that was to replace it.
var ErrMoved = errors.New("the agent was written to meanwhile")

// home returns the folder of an agent in the home: its own, or the one with its crash journal.
func (e *Engine) homeOf(agent *home.Agent) (*home.Agent, error) {
	if e.o.Elsewhere == nil {
		return agent, nil
	}
	return e.o.Home.Agent(agent.Tenant(), agent.ID())
}

// current returns the live generation of an agent.
func (e *Engine) current(ctx context.Context, agent *home.Agent) (home.Current, error) {
	if e.o.Elsewhere == nil {
		return agent.Current()
	}
	return e.o.Elsewhere.Current(ctx, agent.Tenant(), agent.ID())
}

// operate runs fn while no other operation on an agent runs.
func (e *Engine) operate(ctx context.Context, agent *home.Agent, fn func(ctx context.Context, o operation) error) error {
	if e.o.Elsewhere == nil {
		return agent.Operate(ctx, func() error {
			p, end := permitFor(nil, e.outer)
			defer end()
			return fn(ctx, operation{Permit: p})
		})
	}
	return e.o.Elsewhere.Operate(ctx, agent, func(ctx context.Context, l Lease) error {
		p, end := permitFor(l.Renew, e.outer)
		defer end()
		return fn(ctx, operation{p, l})
	})
}

// refresh makes the folder of an agent what the agent is now. Nil where the folder is the agent.
func (e *Engine) refresh(ctx context.Context, agent *home.Agent) (*Refreshed, error) {
	if e.o.Elsewhere == nil {
		return nil, nil
	}
	e.progress(ctx, "read the agent from its database", 0, 0)
	r, err := e.o.Elsewhere.Refresh(ctx, agent, "")
	return &r, err
}

// told puts what is known about the copy of an agent into its snapshot.
func (c *capture) told(r *Refreshed) {
	if r == nil {
		return
	}
	c.i.at, c.i.fence = amber.At(r.At), r.Pin
	c.warn = append(c.warn, r.Warnings...)
	for _, check := range r.Checks {
		check.At = c.i.at
		c.inner.Checks = append(c.inner.Checks, check)
	}
	c.inner.Checks = append(c.inner.Checks, wire.Check{
		Name: "journal", Part: partJournal, OK: true, At: c.i.at, Detail: "the crash journal of this machine was captured; journals of edges: not captured",
	})
}

// replaceTries is how often the engine tries to replace an agent between two writes. After that the
// writers have to wait for as long as the replacement takes.
const replaceTries = 3

// replaceElsewhere restores an agent that lives in a database. The caller is inside Operate.
func (s *restoration) replaceElsewhere(ctx context.Context, o operation, rep *repository) (err error) {
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
		err := s.switchElsewhere(ctx, o, rep, replacing{staged, request, rehearsal, state, try == replaceTries})
		if err == nil {
			return s.cleanElsewhere(ctx, o, rep)
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

// switchElsewhere builds a generation beside the copy of the live one, and has it put in the place of that.
func (s *restoration) switchElsewhere(ctx context.Context, o operation, rep *repository, r replacing) (err error) {
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
	freezer, err := s.e.newFreezer(ctx, s.agent)
	if err != nil {
		return err
	}
	defer freezer.close()
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
			return s.settle(ctx, freezer, hold, old, next)
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
				u := held(old, hold, freezer)
				u.state = r.state
				err := s.save(ctx, o, rep, r.request, u, r.rehearsal)
				return s.report.SafetySnapshot, err
			},
		}
		if r.last {
			p.Moved = func(ctx context.Context) (amber.Stamp, error) {
				state, err := s.e.o.Elsewhere.Refresh(ctx, s.agent, s.agent.GenDir(old))
				if err != nil {
					return 0, err
				}
				r.state = &state
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

// cleanElsewhere removes the old generation once its last state is in a verified snapshot.
func (s *restoration) cleanElsewhere(ctx context.Context, o operation, rep *repository) error {
	s.e.progress(ctx, "read the safety snapshot and remove the old generation", 0, 0)
	_ = o.remove(ctx, s.agent, s.old) // of the copy; the next restore tries again
	list, err := s.e.o.Elsewhere.Old(ctx, s.agent.Tenant(), s.agent.ID())
	if err != nil {
		s.report.OldGeneration = s.old
		s.warn("old generations could not be listed: %v", err)
		return nil
	}
	for _, n := range list {
		switch {
		case n == s.old && (s.request.DiscardOld || s.safe(ctx, rep)):
			if err := o.removeRows(ctx, s.e.o.Elsewhere, s.agent, n); err != nil {
				s.report.OldGeneration = n
				s.warn("generation %d could not be removed: %v", n, err)
			}
		case n == s.old:
			s.report.OldGeneration = n
		default: // an earlier restore has kept it, or died
			s.warn("generation %d was replaced by an earlier restore and stays (amber snapshot gc --old-generations)", n)
		}
	}
	return nil
}

// makeElsewhere restores to an agent that is not in the database.
func (s *restoration) makeElsewhere(ctx context.Context) error {
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

// replace puts a generation in the place of the live one of an agent in a database.
func (o operation) replace(ctx context.Context, r Replacement) (c home.Current, left []string, err error) {
	if err := o.Ask(ctx); err != nil {
		return c, nil, err
	}
	return o.lease.Replace(ctx, r)
}

// remove removes a generation of a folder that is not live any more.
func (o operation) remove(ctx context.Context, agent *home.Agent, n int64) error {
	if err := o.Ask(ctx); err != nil {
		return err
	}
	return agent.RemoveGeneration(ctx, n)
}

// removeRows removes a generation of a database that is not live any more.
func (o operation) removeRows(ctx context.Context, from Elsewhere, agent *home.Agent, n int64) error {
	if err := o.Ask(ctx); err != nil {
		return err
	}
	return from.Remove(ctx, agent.Tenant(), agent.ID(), n)
}

// discardElsewhere removes the generations of an agent that are not live any more.
func (e *Engine) discardElsewhere(ctx context.Context, agent *home.Agent, dryRun bool) (removed []string, err error) {
	err = e.operate(ctx, agent, func(ctx context.Context, o operation) error {
		list, err := e.o.Elsewhere.Old(ctx, agent.Tenant(), agent.ID())
		for _, n := range list {
			if err == nil && !dryRun {
				err = o.removeRows(ctx, e.o.Elsewhere, agent, n)
			}
			if err != nil {
				return err
			}
			removed = append(removed, fmt.Sprintf("generation %d of agent %s, which no snapshot holds", n, agent.ID()))
		}
		return err
	})
	return removed, err
}
