package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/base/sqlconn"
	"github.com/amber-memory/amber/internal/recall/search"
	"github.com/amber-memory/amber/internal/store/sqlcore"
	"github.com/amber-memory/amber/internal/store/sqlfile"
	"github.com/amber-memory/amber/internal/store/statedir"
	"github.com/amber-memory/amber/store/home"
)

// Options say how a store works. Clock and Random are required.
type Options struct {
	Clock       amber.Clock
	Random      io.Reader
	BusyTimeout time.Duration // last resort against other programs on the file; default 30 s
	Readers     int           // connections that read at one time; default two more than processors, at least 4
	Queue       amber.QueueOptions
	// Model turns texts into vectors, for questions in other words; nil searches by words
	// alone.
	Model search.Model
	// Crowded reports whether the machine has more to do than it can; nil: never. A question
	// with little time is answered by words alone then.
	Crowded func() bool
	// MeaningOnly answers questions by the model alone, for measuring. Without a model it
	// finds nothing.
	MeaningOnly bool
	// KeepSchema opens an older database only to say that it is older. An
	// agent that does not exist is not made either.
	KeepSchema bool
	// NetworkFS tells the file system of a folder and whether its locks are
	// not to be trusted; nil asks the operating system.
	NetworkFS func(dir string) (name string, network bool)
	// ReadOnly reports whether a folder cannot be written; nil asks the operating
	// system.
	ReadOnly func(dir string) bool
	// OneByOne gives each write a transaction of its own, also where others wait
	// to write. Benchmarks and tests compare with it.
	OneByOne bool
	// SetAside is called for each row that was left out of an answer because it
	// cannot be read, also from several goroutines. It may be nil.
	SetAside func(amber.SetAside)
}

func (o Options) withDefaults() (Options, error) {
	if o.Clock == nil || o.Random == nil {
		return o, amber.Errorf(amber.KindInvalid, "open store", "", "clock and random source are required")
	}
	if o.BusyTimeout == 0 {
		o.BusyTimeout = 30 * time.Second
	}
	if o.Readers == 0 { // as many questions as processors are answered at once, and prompts wait for none of them
		o.Readers = max(4, runtime.GOMAXPROCS(0)+2)
	}
	if o.NetworkFS == nil {
		o.NetworkFS = sqlfile.NetworkFS
	}
	if o.ReadOnly == nil {
		o.ReadOnly = fsx.ReadOnly
	}
	o.Queue = o.Queue.WithDefaults()
	return o, nil
}

// core are the options of the contracts.
func (o Options) core() *sqlcore.Options {
	return &sqlcore.Options{
		Clock: o.Clock, Random: o.Random, Queue: o.Queue, Model: o.Model, Crowded: o.Crowded, MeaningOnly: o.MeaningOnly,
		SetAside: o.SetAside, Wrap: sqlconn.Wrap, Backend: backendName,
	}
}

// backendName is what health calls this backend.
const backendName = "sqlite"

// IndexStatus says how far the index is.
type IndexStatus = sqlcore.IndexStatus

// NoteChanges are what PutNotes is given.
type NoteChanges = sqlcore.NoteChanges

// Store is an agent's memory and control plane: the contracts over two files. It is
// safe for concurrent use, also by several processes on one agent.
type Store struct {
	*sqlcore.Contracts
	agent   *home.Agent
	memory  *database
	control *database
	o       Options
}

// Open opens the store of an agent, made now if there is no such agent.
// Errors: damaged for a database that is missing, corrupt or foreign, which
// is left as it is; too_new; refused for a network file system; busy. A store in
// a folder that cannot be written can be read; every write is refused.
func Open(ctx context.Context, agent *home.Agent, o Options) (*Store, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	s := newStore(agent, agent, o)
	if err := checkPath(agent.Dir()); err != nil {
		return nil, err
	}
	c, err := s.generation(ctx)
	if err != nil {
		return nil, err
	}
	return open(ctx, s, c)
}

// generation returns the live generation of the agent, which is made now if
// there is none.
func (s *Store) generation(ctx context.Context) (home.Current, error) {
	if s.o.KeepSchema {
		return s.agent.Current()
	}
	c, _, err := s.agent.Create(ctx, func(dir string, c home.Current) error { return s.build(ctx, dir, c) })
	return c, err
}

// build makes both databases of a new agent.
func (s *Store) build(ctx context.Context, dir string, c home.Current) error {
	if err := s.checkFS(dir); err != nil {
		return err
	}
	for _, d := range []*database{s.memory, s.control} {
		if err := d.schema.Build(ctx, filepath.Join(dir, d.schema.File), c); err != nil {
			return err
		}
	}
	return nil
}

// checkFS refuses file systems on which SQLite's write-ahead log is not safe.
func (s *Store) checkFS(dir string) error {
	name, network := s.o.NetworkFS(dir)
	if !network {
		return nil
	}
	return amber.Errorf(amber.KindRefused, "open store", dir, "%s is a network file system; its locks do not keep a write-ahead log safe", name).
		WithHint("choose a local folder with --home")
}

// ready opens the file of a generation, migrating it first if it is older.
func (d *database) ready(ctx context.Context, c home.Current) error {
	h, err := d.acquire(ctx, c)
	if errors.Is(err, sqlconn.ErrOlder) && !d.o.KeepSchema {
		if err := d.migrate(ctx); err != nil {
			return err
		}
		h, err = d.acquire(ctx, c)
	}
	if err != nil {
		return err
	}
	defer d.release(h)
	return checkSQLite(ctx, h.readers.DB)
}

// catchUp indexes what a migration or a restore has left to do.
func (s *Store) catchUp(ctx context.Context) error {
	if _, frozen := s.memory.readOnly(); frozen || s.o.KeepSchema {
		return nil
	}
	return s.CatchUp(ctx)
}

// migrate brings the live file to the newest schema while no writer writes.
func (d *database) migrate(ctx context.Context) error {
	return d.ground.Exclusive(ctx, func(c home.Current) error {
		path := d.path(c)
		p, err := sqlfile.OpenPool(path, sqlfile.Write, d.o.BusyTimeout, 1)
		if err != nil {
			return sqlconn.Wrap("migrate", path, err)
		}
		return sqlconn.Wrap("migrate", path, errors.Join(d.schema.Migrate(ctx, p.DB), p.Close()))
	})
}

// checkSQLite asserts that the SQLite this binary carries is new enough and
// has what the schema needs.
func checkSQLite(ctx context.Context, db *sql.DB) error {
	var version string
	if err := db.QueryRowContext(ctx, "SELECT sqlite_version()").Scan(&version); err != nil {
		return sqlconn.Wrap("ask SQLite for its version", "", err)
	}
	var major, minor, patch int
	if _, err := fmt.Sscanf(version, "%d.%d.%d", &major, &minor, &patch); err != nil || major*1_000_000+minor*1000+patch < sqlfile.MinVersion {
		return amber.Errorf(amber.KindInternal, "open store", "", "SQLite %s is built in, want 3.51 or later", version)
	}
	return nil
}

// Close lets go of both databases. It may be called twice.
func (s *Store) Close() error {
	s.Settle()
	return errors.Join(s.memory.close(), s.control.close())
}

// Agent returns the agent the store belongs to.
func (s *Store) Agent() *home.Agent { return s.agent }

// Parts returns the contracts this backend has: all but notes. The documents of
// runtime state are files of the agent, not rows; a store of one generation,
// which is not the live one, has none.
func (s *Store) Parts() amber.Parts {
	p := s.Contracts.Parts()
	if agent, live := s.memory.ground.(*home.Agent); live {
		if d, err := statedir.New(agent, statedir.Options{}); err == nil { // it fails without an agent alone
			p.Documents = d
		}
	}
	return p
}

// Store returns the resolved value.
func (s *Store) Store() amber.Store { return amber.NewStore(s.Parts()) }

// MakeControl makes an empty control.db for a generation that is being built:
// what an agent has that was made of another one's memory. Errors: those of
// [Open].
func MakeControl(ctx context.Context, path string, c home.Current, o Options) error {
	if _, err := o.withDefaults(); err != nil {
		return err
	}
	return sqlfile.ControlSchema.Build(ctx, path, c)
}
