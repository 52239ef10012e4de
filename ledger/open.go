package ledger

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"sync"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/events"
	"github.com/amber-memory/amber/internal/fsx"
	"github.com/amber-memory/amber/internal/sqlconn"
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
// processes on one file.
type DB struct {
	path    string
	o       Options
	schema  *schema
	writer  *sqlconn.Pool
	readers *sqlconn.Pool

	line     line     // of those who record
	head     head     // the known end of the audit log
	uses     uses     // of tokens, to be written down
	presence presence // by which others know that answers are still to come

	answering sync.Map // of wire.AnswerKey: requests that this process is answering

	life   sync.RWMutex // held for reading by every call inside
	closed bool
	end    func() error // closes everything, once
}

var (
	_ wire.Tokens      = (*DB)(nil)
	_ wire.AuditLog    = (*DB)(nil)
	_ events.Publisher = (*DB)(nil)
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

func open(ctx context.Context, path string, o Options, s *schema, shapes func() ([]sqlconn.Shape, error)) (*DB, error) {
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
	d := &DB{path: path, o: o, schema: s, presence: presence{dir: path + holdersSuffix, id: hex.EncodeToString(id)}}
	d.end = sync.OnceValue(d.close)
	if d.readers, err = sqlconn.Open(dsn(path, o.BusyTimeout, false), o.Readers); err != nil {
		return nil, sqlconn.Wrap("open database", path, err)
	}
	if d.writer, err = sqlconn.Open(dsn(path, o.BusyTimeout, true), 1); err != nil {
		return nil, sqlconn.Wrap("open database", path, errors.Join(err, d.readers.Close()))
	}
	if err := d.settle(ctx, shapes); err != nil {
		return nil, errors.Join(err, d.writer.Close(), d.readers.Close())
	}
	return d, nil
}

// settle checks the file and brings it to the newest schema.
func (d *DB) settle(ctx context.Context, shapes func() ([]sqlconn.Shape, error)) error {
	all, err := shapes()
	if err != nil {
		return sqlconn.Wrap("open database", d.path, err)
	}
	err = d.schema.check(ctx, d, all)
	if !errors.Is(err, sqlconn.ErrOlder) || d.o.Look {
		return err
	}
	if err := d.schema.migrate(ctx, d); err != nil {
		return err
	}
	return d.schema.check(ctx, d, all)
}

// place makes sure that there is a regular file, and makes a new database where
// there never was one.
func place(ctx context.Context, path string, o Options, s *schema) error {
	const op = "open database"
	dir := filepath.Dir(path)
	if name, network := o.NetworkFS(dir); network {
		return amber.Errorf(amber.KindRefused, op, dir, "%s is a network file system; its locks do not keep a write-ahead log safe", name).
			WithHint("choose a local folder with --home")
	}
	there, err := isFile(path)
	if err != nil {
		return err
	}
	if there {
		return settleName(dir, o)
	}
	if trace, err := traces(path, o); err != nil {
		return err
	} else if trace != "" {
		// A process that makes a database makes the file first.
		if there, err := isFile(path); err != nil || there {
			return err
		}
		return amber.Errorf(amber.KindDamaged, op, path, "the database is missing, but %s exists", trace).
			WithHint("put the database back from a backup; to begin without tokens and audit log, remove " + trace)
	}
	if o.Look {
		return amber.Errorf(amber.KindNotFound, op, path, "the database does not exist yet")
	}
	image, err := s.image(ctx)
	if err != nil {
		return err
	}
	err = fsx.CreateNew(fsx.OS(), path, 0o600, image)
	switch {
	case errors.Is(err, fs.ErrExist): // somebody was faster
		return settleName(dir, o)
	case errors.Is(err, fs.ErrPermission):
		return &amber.Error{Op: "make database", Kind: amber.KindRefused, ID: path, Err: err}
	case err != nil:
		return &amber.Error{Op: "make database", Kind: amber.KindInternal, ID: path, Err: err}
	}
	return nil
}

// settleName makes the name of a file durable that somebody else may have made
// a moment ago.
func settleName(dir string, o Options) error {
	if o.Look {
		return nil
	}
	if err := fsx.OS().SyncDir(dir); err != nil {
		return &amber.Error{Op: "open database", Kind: amber.KindInternal, ID: dir, Err: err}
	}
	return nil
}

// traces returns what a database has left that is gone, "" when there is none.
// A log of another file must never lie beside a new one: SQLite would read it.
func traces(path string, o Options) (string, error) {
	for _, name := range []string{path + "-wal", o.Head} {
		if name == "" {
			continue
		}
		_, err := fsx.OS().Lstat(name)
		if err == nil {
			return name, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", &amber.Error{Op: "open database", Kind: amber.KindInternal, ID: name, Err: err}
		}
	}
	return "", nil
}

// isFile reports whether path is there, and refuses what must not be handed to
// SQLite: a link, a pipe.
func isFile(path string) (bool, error) {
	info, err := fsx.OS().Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case errors.Is(err, fs.ErrPermission):
		return false, &amber.Error{Op: "open database", Kind: amber.KindRefused, ID: path, Err: err}
	case err != nil:
		return false, &amber.Error{Op: "open database", Kind: amber.KindInternal, ID: path, Err: err}
	case !info.Mode().IsRegular():
		return false, damaged("open database", path, "database is not a regular file")
	}
	return true, nil
}

// enter lets somebody in until leave is called. A call that is inside does not
// enter again.
func (d *DB) enter() (leave func(), err error) {
	d.life.RLock()
	if d.closed {
		d.life.RUnlock()
		return nil, amber.Errorf(amber.KindInvalid, "use database", d.path, "the database is closed")
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
	d.uses.wait()
	var errs []error
	if d.head.due() {
		errs = append(errs, d.noteHead(context.Background()))
	}
	return errors.Join(append(errs, d.presence.end(), d.writer.Close(), d.readers.Close())...)
}

// Check lets SQLite look at every page and index of the file. Errors: damaged.
func (d *DB) Check(ctx context.Context) error {
	return d.view(ctx, "check database", d.path, func(t *tx) error {
		return t.integrity("PRAGMA integrity_check(10)", func(problem string) error {
			return damaged("check database", d.path, problem)
		})
	})
}

// integrity calls fn for everything a check of SQLite has found.
func (t *tx) integrity(check string, fn func(problem string) error) error {
	return t.each(check, nil, func(s scanner) error {
		var text string
		if err := s.Scan(&text); err != nil {
			return err
		}
		if text == "ok" {
			return nil
		}
		return fn(text)
	})
}
