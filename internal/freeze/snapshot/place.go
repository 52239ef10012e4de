package snapshot

import (
	"context"
	"errors"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/permit"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/wire"
)

// Place is where agents live: in folders of a home, or in a database that several machines share. The engine works on a folder in
// which everything is where it is in a home. In a home the folder is the agent, and the default. The folder of an agent in a
// database is a copy of it at one instant; its folder in the home has the crash journal of this machine and nothing else.
type Place interface {
	// Folder returns the folder of an agent to work on. It touches no disk.
	Folder(tenant amber.TenantID, id amber.AgentID) (*home.Agent, error)
	// Copies reports whether folders are copies.
	Copies() bool
	// Current returns the live generation. Errors: not_found.
	Current(ctx context.Context, agent *home.Agent) (home.Current, error)
	// Operate runs fn while no other operation on the agent runs, on whatever machine. Errors: those of fn; busy.
	Operate(ctx context.Context, agent *home.Agent, fn func(ctx context.Context, l Lease) error) error
	// Refresh makes the folder what the agent is now, before it is captured. It returns what a copy was made of, and nil for
	// other folders. Dir is "", or the folder of the live generation of a copy for a caller that has its exclusive lock. The caller is
	// inside Operate.
	Refresh(ctx context.Context, agent *home.Agent, dir string) (*Refreshed, error)
	// Spool makes sure that the folder with the crash journal of this machine is there, and returns what knows how far it was
	// drained, nil where that cannot be asked. The caller closes that.
	Spool(ctx context.Context, agent *home.Agent) (cursors amber.Ingester, done func() error, err error)
	// Old returns the numbers of the generations that are not live any more, and Remove removes one of them.
	Old(ctx context.Context, agent *home.Agent) ([]int64, error)
	Remove(ctx context.Context, agent *home.Agent, generation int64) error
	// Sweep removes what operations that died have left outside of the folders of the agents of a tenant, and names it.
	Sweep(ctx context.Context, tenant amber.TenantID) ([]string, error)
	// Generation says where the live generation came from.
	Generation(ctx context.Context, agent *home.Agent) (wire.Generation, error)
}

// Lease is the right to operate on an agent of a database, among all machines. It is good inside [Place.Operate].
type Lease interface {
	// Renew makes the lease begin anew. Errors: conflict when another machine has it by now.
	Renew(ctx context.Context) error
	// Replace makes a new generation of a folder and puts it in the place of the live one, in one step, whose transaction checks
	// the lease. Left names what of the folder has no place in the database. Errors: [ErrMoved]; conflict where there is an agent
	// and none was expected, and where another machine has the lease by now.
	Replace(ctx context.Context, r Replacement) (c home.Current, left []string, err error)
}

// Refreshed says what a copy was made of.
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

// operation is the right to operate on an agent, see [Engine.operate].
type operation struct {
	permit.Permit
	place Place
	lease Lease // of an agent in a database
}

// operate runs fn while no other operation on an agent runs.
func (e *Engine) operate(ctx context.Context, agent *home.Agent, fn func(ctx context.Context, o operation) error) error {
	return e.place.Operate(ctx, agent, func(ctx context.Context, l Lease) error {
		var renew func(context.Context) error
		if l != nil {
			renew = l.Renew
		}
		p, end := permitFor(renew, e.outer)
		defer end()
		return fn(ctx, operation{p, e.place, l})
	})
}

// replace puts a generation in the place of the live one of an agent in a database.
func (o operation) replace(ctx context.Context, r Replacement) (c home.Current, left []string, err error) {
	if err := o.Ask(ctx); err != nil {
		return c, nil, err
	}
	return o.lease.Replace(ctx, r)
}

// remove removes a generation that is not live any more.
func (o operation) remove(ctx context.Context, agent *home.Agent, n int64) error {
	if err := o.Ask(ctx); err != nil {
		return err
	}
	return o.place.Remove(ctx, agent, n)
}

// homeOf returns the folder of an agent in the home: its own, or the one with its crash journal.
func (e *Engine) homeOf(agent *home.Agent) (*home.Agent, error) {
	return e.o.Home.Agent(agent.Tenant(), agent.ID())
}

// refresh makes the folder of an agent what the agent is now.
func (e *Engine) refresh(ctx context.Context, agent *home.Agent) (*Refreshed, error) {
	if e.place.Copies() {
		e.progress(ctx, "read the agent from its database", 0, 0)
	}
	return e.place.Refresh(ctx, agent, "")
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
