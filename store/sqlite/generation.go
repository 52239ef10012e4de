package sqlite

import (
	"context"
	"errors"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/sqlconn"
	"github.com/amber-memory/amber/internal/store/sqlcore"
	"github.com/amber-memory/amber/internal/store/sqlfile"
	"github.com/amber-memory/amber/store/home"
)

// ground is what a database stands on: which generation is its, and who may
// write when. [home.Agent] is one.
type ground interface {
	Current() (home.Current, error)
	Gone(c home.Current) error
	GenDir(c home.Current) string
	Write(ctx context.Context, store string, fn func(home.Current) error) error
	WriteTogether(ctx context.Context, store string, work any, fn func(c home.Current, next func() (any, bool)) error) (taken bool, err error)
	Exclusive(ctx context.Context, fn func(home.Current) error) error
}

// site is the ground of a generation that is being built, or of a database that lies in a folder of
// its own: it belongs to its builder, so no lock is taken, and the generation never changes.
type site struct {
	dir     string
	current home.Current
	gone    func(home.Current) error
}

func (s site) Current() (home.Current, error) { return s.current, nil }
func (s site) Gone(c home.Current) error      { return s.gone(c) }
func (s site) GenDir(home.Current) string     { return s.dir }

func (s site) Write(_ context.Context, _ string, fn func(home.Current) error) error {
	return fn(s.current)
}

// WriteTogether implements ground: the builder has no company.
func (s site) WriteTogether(_ context.Context, _ string, _ any, fn func(home.Current, func() (any, bool)) error) (bool, error) {
	return false, fn(s.current, nobody)
}

func (s site) Exclusive(_ context.Context, fn func(home.Current) error) error { return fn(s.current) }

// OpenGeneration opens the databases of a generation that is not live yet, for
// its builder alone: no lock of the agent is taken, and the store stays on
// that generation whatever CURRENT says. Older databases are migrated. Errors:
// those of [Open].
func OpenGeneration(ctx context.Context, agent *home.Agent, c home.Current, o Options) (*Store, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	return open(ctx, newStore(agent, site{agent.GenDir(c), c, agent.Gone}, o), c)
}

// newStore returns a store with nothing open.
func newStore(agent *home.Agent, g ground, o Options) *Store {
	core, index := o.core(), &sqlcore.Indexer{}
	s := &Store{
		agent:   agent,
		memory:  &database{ground: g, name: "memory", schema: sqlfile.MemorySchema, o: o, core: core, index: index},
		control: &database{ground: g, name: "control", schema: sqlfile.ControlSchema, o: o, core: core},
		o:       o,
	}
	s.Contracts = sqlcore.New(s.memory, s.control, index, core)
	return s
}

// open opens both databases of the generation that is theirs, c when it was
// looked for.
func open(ctx context.Context, s *Store, c home.Current) (*Store, error) {
	if err := s.checkFS(s.agent.GenDir(c)); err != nil {
		return nil, err
	}
	for _, d := range []*database{s.memory, s.control} {
		err := d.follow(func(c home.Current) (bool, error) { return false, d.ready(ctx, c) })
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	if err := s.catchUp(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// follow calls fn with the live generation, once more each time another one
// became live before fn had begun its work: the folder of the one before may
// be gone, or going.
func (d *database) follow(fn func(c home.Current) (began bool, err error)) error {
	for {
		c, err := d.ground.Current()
		if err == nil {
			err = d.ground.Gone(c)
		}
		if err != nil {
			return err
		}
		began, err := fn(c)
		if err == nil || began {
			return err
		}
		now, cerr := d.ground.Current()
		if cerr != nil || now.Incarnation == c.Incarnation {
			return err
		}
	}
}

// errMoved is for a reader whose generation was replaced while it opened it.
var errMoved = amber.Errorf(amber.KindBusy, "read database", "", "another generation became live during the read")

// settle makes sure that a new connection has opened a whole generation. Its
// files go one by one when it is no longer live; a view that was pinned while
// it was, is of all of them.
func (d *database) settle(t *tx, h *handles) error {
	conn := t.Conn.(*sqlconn.Conn)
	if conn.Settled {
		return nil
	}
	var version int64
	if err := t.Row("PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	now, err := d.ground.Current()
	if err == nil {
		err = d.ground.Gone(now)
	}
	if err != nil {
		return err
	}
	if now.Incarnation != h.current.Incarnation {
		return errMoved
	}
	conn.Settled = true
	return nil
}

// reading returns what fn does in a view that is of a whole generation.
func (d *database) reading(h *handles, began *bool, fn func(*tx) error) func(*tx) error {
	return func(t *tx) error {
		if err := d.settle(t, h); err != nil {
			return err
		}
		*began = true
		return fn(t)
	}
}
