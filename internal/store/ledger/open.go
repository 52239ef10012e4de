package ledger

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"sync"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/events"
	"github.com/amber-memory/amber/internal/base/fifo"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/base/sqlconn"
	"github.com/amber-memory/amber/wire"
)

// Options say how the database works. Clock and Random are required.
type Options struct {
	Clock  amber.Clock
	Random io.Reader // unpredictable
	// Head is the file that keeps the last known end of the audit log, outside
	// of the database; "" for none. Its folder is made when it is needed.
	Head string
	// Look opens a database that is there: it is neither made nor migrated.
	Look        bool
	BusyTimeout time.Duration // how long to wait for other processes; default 30 s
	Readers     int           // connections that read at one time; default 4
	// NetworkFS tells the file system of a folder and whether its locks are
	// not to be trusted; nil asks the operating system.
	NetworkFS func(dir string) (name string, network bool)
}

func (o Options) withDefaults() (Options, error) {
	if o.Clock == nil || o.Random == nil {
		return o, amber.Errorf(amber.KindInvalid, "open database", "", "clock and random source are required")
	}
	if o.Head != "" && !filepath.IsAbs(o.Head) {
		return o, amber.Errorf(amber.KindInvalid, "open database", o.Head, "the path of the head file is not absolute")
	}
	if o.BusyTimeout == 0 {
		o.BusyTimeout = 30 * time.Second
	}
	if o.Readers == 0 {
		o.Readers = 4
	}
	if o.NetworkFS == nil {
		o.NetworkFS = networkFS
	}
	return o, nil
}

func networkFS(dir string) (string, bool) {
	info, err := fsx.Info(dir)
	return info.Type, err == nil && info.Network
}

// DB is the open database of a home. Safe for concurrent use, also by several
// processes on one database.
type DB struct {
	engine engine
	clock  amber.Clock
	random io.Reader

	line fifo.Line // of those who record
	uses uses      // of tokens, to be written down

	answering answering

	life   sync.RWMutex // held for reading by every call inside
	closed bool
	ending context.Context // ends when the database is closed
	stop   func()          // ends it
	end    func() error    // closes everything, once
}

var (
	_ wire.Tokens      = (*DB)(nil)
	_ wire.AuditLog    = (*DB)(nil)
	_ wire.Answers     = (*DB)(nil)
	_ events.Publisher = (*DB)(nil)
	_ events.Outbox    = (*DB)(nil)
)

// Open opens the database at path, an absolute one whose folder is there. It is
// made now if nothing is known of one. Errors: damaged for a file that is
// corrupt, foreign, or missing though traces of it are there, which is left as
// it is; too_new; not_found for one that is only looked at and is not there, and
// conflict when its schema is older; refused for a folder that cannot be written
// and for a network file system; busy.
func Open(ctx context.Context, path string, o Options) (*DB, error) {
	return open(ctx, path, o, homeSchema, known)
}

func open(ctx context.Context, path string, o Options, s sqlconn.Schema, shapes func() ([]sqlconn.Shape, error)) (*DB, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	if !filepath.IsAbs(path) {
		return nil, amber.Errorf(amber.KindInvalid, "open database", path, "the path is not absolute")
	}
	if err := place(ctx, path, o, s); err != nil {
		return nil, err
	}
	id := make([]byte, holderBytes)
	if _, err := io.ReadFull(o.Random, id); err != nil {
		return nil, sqlconn.Wrap("open database", path, fmt.Errorf("read random bytes: %w", err))
	}
	f := &file{path: path, o: o, schema: s, presence: presence{dir: path + holdersSuffix, id: hex.EncodeToString(id)}}
	if f.readers, err = sqlconn.Open(dsn(path, o.BusyTimeout, false), o.Readers); err != nil {
		return nil, sqlconn.Wrap("open database", path, err)
	}
	if f.writer, err = sqlconn.Open(dsn(path, o.BusyTimeout, true), 1); err != nil {
		return nil, sqlconn.Wrap("open database", path, errors.Join(err, f.readers.Close()))
	}
	if err := f.settle(ctx, shapes); err != nil {
		return nil, errors.Join(err, f.writer.Close(), f.readers.Close())
	}
	return newDB(f, o.Clock, o.Random), nil
}

func newDB(e engine, clock amber.Clock, random io.Reader) *DB {
	d := &DB{engine: e, clock: clock, random: random}
	d.ending, d.stop = context.WithCancel(context.Background())
	d.end = sync.OnceValue(d.close)
	return d
}

// enter lets a call in until the call leaves with leave. A call that is inside does not enter
// again.
func (d *DB) enter() (leave func(), err error) {
	d.life.RLock()
	if d.closed {
		d.life.RUnlock()
		return nil, amber.Errorf(amber.KindInvalid, "use database", d.engine.name(), "the database is closed")
	}
	return d.life.RUnlock, nil
}

// Close waits for those who are inside, notes the end of the audit log and lets
// go of everything. It may be called twice and reports the first error.
func (d *DB) Close() error { return d.end() }

func (d *DB) close() error {
	d.life.Lock()
	d.closed = true
	d.life.Unlock()
	d.stop()
	d.uses.wait()
	d.answering.wg.Wait()
	return d.engine.close()
}

// Check reads everything: SQLite looks at every page and index of the file. Errors: damaged.
func (d *DB) Check(ctx context.Context) error {
	leave, err := d.enter()
	if err != nil {
		return err
	}
	defer leave()
	return d.engine.check(ctx)
}
