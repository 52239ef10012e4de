package sqlite

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/home"
	"github.com/amber-memory/amber/internal/sqlconn"
	"github.com/amber-memory/amber/search"
	"github.com/amber-memory/amber/store/sqlite/internal/sqlrows"
)

// database is one of the two files, whichever generation is live.
type database struct {
	ground ground
	name   string // the writers' line, "memory"
	schema sqlrows.Schema
	o      Options

	brought atomic.Int64 // owners that came into the index

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
	index   search.Cache // what readers have read of the index

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

// usable says whether the database may be used; d.mu is held.
func (d *database) usable() error {
	if d.closed {
		return amber.Errorf(amber.KindInvalid, "use store", d.name, "the store is closed")
	}
	return nil
}

// acquire returns the handles of a generation, opened now if they are not. A
// reader that was overtaken by a switch gets those of the newer generation.
func (d *database) acquire(ctx context.Context, c home.Current) (*handles, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.usable(); err != nil {
		return nil, err
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
	return filepath.Join(d.ground.GenDir(c), d.schema.File)
}

// open opens the file of a generation and looks whether it is ours.
func (d *database) open(ctx context.Context, c home.Current) (*handles, error) {
	path := d.path(c)
	if err := sqlrows.CheckFile(path); err != nil {
		return nil, err
	}
	if dir := filepath.Dir(path); d.frozen(dir) {
		h, err := d.openResting(c, path)
		if err != nil {
			return nil, err
		}
		if err := d.schema.Check(ctx, h.readers.DB, path); err != nil {
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
		use  sqlrows.Access
		n    int
	}{{&h.writer, sqlrows.Write, 1}, {&h.readers, sqlrows.Read, d.o.Readers}, {&h.keeper, sqlrows.Write, 1}} {
		opened, err := sqlrows.OpenPool(path, p.use, d.o.BusyTimeout, p.n)
		if err != nil { // only a name the driver cannot parse; nothing is open yet
			return nil, sqlconn.Wrap("open database", path, err)
		}
		*p.into = opened
	}
	if err := d.schema.Check(ctx, h.readers.DB, path); err != nil {
		return nil, errors.Join(err, h.close())
	}
	return h, nil
}

// tx is one transaction of the store.
type tx struct {
	*sqlrows.Tx
	o    *Options
	late bool // what is to be indexed is left to others; only for work that goes alone
}

type scanner = sqlconn.Row

// update runs fn in a write transaction: the writer's turn, the shared lock,
// the live generation, BEGIN IMMEDIATE, the schema version, fn, COMMIT. On
// any error nothing of it stays. Fn runs at most once. Callers that wait for
// their turn may share the transaction: see group.go. A context that ends after
// fn has returned may come too late to undo it.
func (d *database) update(ctx context.Context, op, id string, fn func(*tx) error) error {
	if d.o.OneByOne {
		return d.updateAlone(ctx, op, id, fn)
	}
	if dir, is := d.readOnly(); is {
		return readOnlyHome(op, id, dir)
	}
	w := d.work(ctx, fn)
	var used *handles
	taken, err := d.ground.WriteTogether(ctx, d.name, w, func(c home.Current, next func() (any, bool)) (err error) {
		used, err = d.transact(ctx, c, fn, next)
		return err
	})
	if taken {
		err = w.follow()
	}
	d.written(ctx, used)
	return sqlconn.Wrap(op, id, err)
}

// updateAlone is update for work that needs the whole transaction for itself, or
// takes so long that others should not wait for its COMMIT.
func (d *database) updateAlone(ctx context.Context, op, id string, fn func(*tx) error) error {
	if dir, is := d.readOnly(); is {
		return readOnlyHome(op, id, dir)
	}
	var used *handles
	err := d.ground.Write(ctx, d.name, func(c home.Current) (err error) {
		used, err = d.transact(ctx, c, fn, nobody)
		return err
	})
	d.written(ctx, used)
	return sqlconn.Wrap(op, id, err)
}

// transact runs the transaction of somebody whose turn it is. After a COMMIT it
// returns the handles, which are still to be released.
func (d *database) transact(ctx context.Context, c home.Current, fn func(*tx) error, next func() (any, bool)) (used *handles, err error) {
	h, err := d.acquire(ctx, c)
	if err != nil {
		return nil, err
	}
	defer func() {
		if used == nil {
			d.release(h)
		}
	}()
	if err := d.lead(ctx, h, fn, next); err != nil {
		return nil, err
	}
	h.adopted = true
	return h, nil
}

// written is called after a turn with the handles of a committed transaction, nil
// where there was none. The write is durable; whether its pages are in the
// database or in the log is not the caller's concern.
func (d *database) written(ctx context.Context, used *handles) {
	if used == nil {
		return
	}
	_ = d.tidy(context.WithoutCancel(ctx), used)
	d.release(used)
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

// update is [database.update] for a transaction that answers.
func update[T any](ctx context.Context, d *database, op, id string, fn func(*tx) (T, error)) (v T, err error) {
	err = d.update(ctx, op, id, func(t *tx) error {
		v, err = fn(t)
		return err
	})
	return v, err
}

// briefly is for a transaction of many statements that are short, each of which is finished:
// the end of its context is noticed between two of them.
func (t *tx) briefly() { t.Ctx = steady{t.Ctx} }

// view is [database.view] for a transaction that answers.
func view[T any](ctx context.Context, d *database, op, id string, fn func(*tx) (T, error)) (v T, err error) {
	err = d.view(ctx, op, id, func(t *tx) error {
		v, err = fn(t)
		return err
	})
	return v, err
}

// one reads the row of a query, or says that there is no record id.
func one[T any](t *tx, op, id string, scan func(scanner) (T, error), query string, args ...any) (T, error) {
	v, err := scan(t.Row(query, args...))
	if sqlrows.Absent(err) {
		err = sqlrows.NotFound(op, id)
	}
	return v, err
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
	t := d.tx(ctx, conn, h)
	return conn.Transact(ctx, begin, func() error { return fn(t) })
}
