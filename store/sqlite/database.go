package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/home"
	"github.com/amber-memory/amber/internal/sqlconn"
)

// database is one of the two files, whichever generation is live.
type database struct {
	ground ground
	name   string // the writers' line, "memory"
	schema schema
	o      Options

	mu     sync.Mutex
	live   *handles
	closed bool
}

// handles are the connections to the file of one generation. They are closed
// when the generation is no longer live and the last user is gone.
type handles struct {
	current home.Current
	writer  *sqlconn.Pool
	readers *sqlconn.Pool
	keeper  *sqlconn.Pool // makes checkpoints

	// resting and copied are of a folder that cannot be written: what the file
	// looked like, and where the copy is that is read instead.
	resting *resting
	copied  string

	tidying sync.Mutex

	users   int  // guarded by database.mu
	retired bool // guarded by database.mu
	// adopted is set once a committed change log knows this incarnation; only
	// the writer, alone in its turn, reads and sets it.
	adopted bool
}

func (h *handles) close() (err error) {
	for _, p := range []*sqlconn.Pool{h.writer, h.readers, h.keeper} {
		if p != nil { // a database that is only read has readers alone
			err = errors.Join(err, p.Close())
		}
	}
	if h.copied != "" {
		err = errors.Join(err, os.RemoveAll(h.copied))
	}
	return err
}

// acquire returns the handles of a generation, opened now if they are not. A
// reader that was overtaken by a switch gets those of the newer generation.
func (d *database) acquire(ctx context.Context, c home.Current) (*handles, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, amber.Errorf(amber.KindInvalid, "use store", d.name, "it is closed")
	}
	if d.live == nil || d.live.current.Incarnation != c.Incarnation && d.live.current.Generation <= c.Generation {
		h, err := d.open(ctx, c)
		if err != nil {
			return nil, err
		}
		if err := d.retire(); err != nil {
			return nil, errors.Join(err, h.close())
		}
		d.live = h
	}
	d.live.users++
	return d.live, nil
}

// release gives handles back.
func (d *database) release(h *handles) {
	d.mu.Lock()
	defer d.mu.Unlock()
	h.users--
	if h.retired && h.users == 0 {
		_ = h.close() // an old generation: its last committed state is on disk
	}
}

// retire lets go of the live handles; d.mu is held.
func (d *database) retire() error {
	h := d.live
	d.live = nil
	if h == nil {
		return nil
	}
	h.retired = true
	if h.users > 0 {
		return nil
	}
	return h.close()
}

// drop lets go of handles to a file that turned out to change: the next caller
// opens it anew.
func (d *database) drop(h *handles) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.live == h {
		_ = d.retire() // its user is still inside, so nothing is closed here
	}
}

// close lets go of everything. Users that are still inside finish first.
func (d *database) close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	return d.retire()
}

// path returns the file of a generation.
func (d *database) path(c home.Current) string {
	return filepath.Join(d.ground.GenDir(c), d.schema.file)
}

// open opens the file of a generation and looks whether it is ours.
func (d *database) open(ctx context.Context, c home.Current) (*handles, error) {
	path := d.path(c)
	if err := d.lookAt(path); err != nil {
		return nil, err
	}
	if dir := filepath.Dir(path); d.frozen(dir) {
		h, err := d.openResting(c, path)
		if err != nil {
			return nil, err
		}
		if err := d.schema.check(ctx, h.readers.DB, path); err != nil {
			if errors.Is(err, sqlconn.ErrOlder) && !d.o.KeepSchema {
				err = readOnlyHome("migrate", path, dir)
			}
			return nil, errors.Join(err, h.close())
		}
		return h, nil
	}
	h := &handles{current: c}
	for _, p := range []struct {
		into **sqlconn.Pool
		use  access
		n    int
	}{{&h.writer, write, 1}, {&h.readers, read, d.o.Readers}, {&h.keeper, write, 1}} {
		opened, err := openPool(path, p.use, d.o.BusyTimeout, p.n)
		if err != nil { // only a name the driver cannot parse; nothing is open yet
			return nil, sqlconn.Wrap("open database", path, err)
		}
		*p.into = opened
	}
	if err := d.schema.check(ctx, h.readers.DB, path); err != nil {
		return nil, errors.Join(err, h.close())
	}
	return h, nil
}

// lookAt refuses what must not be handed to SQLite: a missing file, a link, a
// pipe.
func (d *database) lookAt(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e := amber.Errorf(amber.KindDamaged, "open database", path, "it is missing though its agent exists")
		e.Hint = "put it back from a backup; it is never made anew"
		return e
	case errors.Is(err, fs.ErrPermission):
		return &amber.Error{Op: "open database", Kind: amber.KindRefused, ID: path, Err: err}
	case err != nil:
		return &amber.Error{Op: "open database", Kind: amber.KindInternal, ID: path, Err: err}
	case !info.Mode().IsRegular():
		return amber.Errorf(amber.KindDamaged, "open database", path, "it is not a regular file")
	}
	return nil
}

// tx is one transaction. Its time is fixed when it begins.
type tx struct {
	ctx     context.Context
	conn    *sqlconn.Conn
	o       *Options
	current home.Current
	now     amber.Time
	stamp   amber.Stamp // of the last entry in the change log; grows with each
	seq     int64       // of that entry; grows with each
	// firstSeq is seq when the transaction began.
	firstSeq int64
	indexed  bool             // the text of a memory was written
	aside    []amber.SetAside // rows that could not be read and were left out
}

// update runs fn in a write transaction: the writer's turn, the shared lock,
// the live generation, BEGIN IMMEDIATE, the schema version, fn, COMMIT. On
// any error nothing of it stays. Fn runs at most once.
func (d *database) update(ctx context.Context, op, id string, fn func(*tx) error) error {
	if dir, is := d.readOnly(); is {
		return readOnlyHome(op, id, dir)
	}
	var used *handles // by a write that was committed, released below
	err := d.ground.Write(ctx, d.name, func(c home.Current) error {
		h, err := d.acquire(ctx, c)
		if err != nil {
			return err
		}
		defer func() {
			if used == nil {
				d.release(h)
			}
		}()
		err = d.run(ctx, h, h.writer, "BEGIN IMMEDIATE", func(t *tx) error {
			if err := d.schema.checkVersion(t); err != nil {
				return err
			}
			if err := t.enter(h); err != nil {
				return err
			}
			if err := fn(t); err != nil {
				return err
			}
			return t.mergeIndexes()
		})
		if err == nil {
			h.adopted = true
			used = h
		}
		return err
	})
	if used != nil {
		// The write is durable; whether its pages are in the database or in
		// the log is not the caller's concern.
		_ = d.tidy(context.WithoutCancel(ctx), used)
		d.release(used)
	}
	return sqlconn.Wrap(op, id, err)
}

// view runs fn in a read transaction: one consistent view of the file. Fn runs
// at most once.
func (d *database) view(ctx context.Context, op, id string, fn func(*tx) error) error {
	err := d.follow(func(c home.Current) (began bool, err error) {
		h, err := d.acquire(ctx, c)
		if err != nil {
			return false, err
		}
		defer d.release(h)
		err = d.run(ctx, h, h.readers, "BEGIN", d.reading(h, &began, fn))
		if changed := h.resting.check(); changed != nil {
			d.drop(h)
			err = errors.Join(err, changed)
		}
		return began, err
	})
	return sqlconn.Wrap(op, id, err)
}

// direct runs fn on the writer's connection, in the writer's turn, outside a
// transaction.
func (d *database) direct(ctx context.Context, fn func(*sqlconn.Conn) error) error {
	return d.ground.Write(ctx, d.name, func(c home.Current) error {
		h, err := d.acquire(ctx, c)
		if err != nil {
			return err
		}
		defer d.release(h)
		conn, err := h.writer.Get(ctx)
		if err != nil {
			return err
		}
		defer h.writer.Put(conn)
		return fn(conn)
	})
}

// run runs fn in a transaction on a connection of the pool.
func (d *database) run(ctx context.Context, h *handles, p *sqlconn.Pool, begin string, fn func(*tx) error) error {
	conn, err := p.Get(ctx)
	if err != nil {
		return err
	}
	defer p.Put(conn)
	t := &tx{ctx: ctx, conn: conn, o: &d.o, current: h.current, now: amber.At(d.o.Clock())}
	return conn.Transact(ctx, begin, func() error { return fn(t) })
}

// exec runs a statement that returns no rows and reports how many it changed.
func (t *tx) exec(query string, args ...any) (int64, error) {
	return t.conn.Exec(t.ctx, query, args...)
}

// row runs a query of one row.
func (t *tx) row(query string, args ...any) scanner {
	return strictRow{t.conn.Row(t.ctx, query, args...)}
}

// each runs a query and calls fn for every row. Fn runs no query.
func (t *tx) each(query string, args []any, fn func(scanner) error) error {
	return t.conn.Each(t.ctx, query, args, func(s scanner) error { return fn(strictRow{s}) })
}

// all collects what scan makes of every row. The list is never nil.
func all[T any](t *tx, scan func(scanner) (T, error), query string, args ...any) ([]T, error) {
	out := []T{}
	err := t.each(query, args, func(s scanner) error {
		v, err := scan(s)
		out = append(out, v)
		return err
	})
	return out, err
}

// scanner is a row.
type scanner = sqlconn.Row

// newID mints a UUIDv7 at the transaction's time.
func (t *tx) newID() (string, error) { return amber.NewUUID(t.now.Time(), t.o.Random) }
