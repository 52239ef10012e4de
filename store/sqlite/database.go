package sqlite

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/sqlconn"
	"github.com/amber-memory/amber/internal/recall/search"
	"github.com/amber-memory/amber/internal/store/sqlcore"
	"github.com/amber-memory/amber/internal/store/sqlfile"
	"github.com/amber-memory/amber/internal/store/sqlrows"
	"github.com/amber-memory/amber/store/home"
)

// database is one of the two files, whichever generation is live.
type database struct {
	ground ground
	name   string // the writers' line, "memory"
	schema sqlfile.Schema
	o      Options
	core   *sqlcore.Options
	index  *sqlcore.Indexer // nil where there is no index

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

// stillUsable is usable for who does not hold d.mu.
func (d *database) stillUsable() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.usable()
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
	if err := sqlfile.CheckFile(path); err != nil {
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
		use  sqlfile.Access
		n    int
	}{{&h.writer, sqlfile.Write, 1}, {&h.readers, sqlfile.Read, d.o.Readers}, {&h.keeper, sqlfile.Write, 1}} {
		opened, err := sqlfile.OpenPool(path, p.use, d.o.BusyTimeout, p.n)
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
type tx = sqlcore.Tx

var _ sqlcore.Database = (*database)(nil)

// Name implements [sqlcore.Database].
func (d *database) Name() string { return d.schema.File }

const countBytes = `SELECT c.page_count * s.page_size FROM pragma_page_count c, pragma_page_size s`

// Bytes implements [sqlcore.Database].
func (d *database) Bytes(t *tx) (n int64, err error) {
	err = t.Row(countBytes).Scan(&n)
	return n, err
}

// nobody is the queue behind a writer that runs alone: it has no next work.
func nobody() (any, bool) { return nil, false }

// Update implements [sqlcore.Database]: the writer's turn, the shared lock,
// the live generation, BEGIN IMMEDIATE, the schema version, fn, COMMIT. On
// any error nothing of it stays. Callers that wait for their turn may share the
// transaction. A context that ends after fn has returned may come too late to undo it.
func (d *database) Update(ctx context.Context, op, id string, fn func(*tx) error) error {
	if d.o.OneByOne {
		return d.UpdateAlone(ctx, op, id, fn)
	}
	if dir, is := d.readOnly(); is {
		return readOnlyHome(op, id, dir)
	}
	w := sqlcore.NewWork(ctx, d.core, d.stillUsable, fn)
	var used *handles
	taken, err := d.ground.WriteTogether(ctx, d.name, w, func(c home.Current, next func() (any, bool)) (err error) {
		used, err = d.transact(ctx, c, fn, next)
		return err
	})
	if taken {
		err = w.Follow()
	}
	d.written(ctx, used)
	return sqlconn.Wrap(op, id, err)
}

// UpdateAlone implements [sqlcore.Database].
func (d *database) UpdateAlone(ctx context.Context, op, id string, fn func(*tx) error) error {
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

// transact runs the transaction of the writer whose turn it is. After a COMMIT it
// returns the handles, which the caller has to release.
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

// View implements [sqlcore.Database].
func (d *database) View(ctx context.Context, op, id string, fn func(*tx) error) error {
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
	t := d.tx(ctx, conn, h)
	return conn.Transact(ctx, begin, func() error { return fn(t) })
}

// lead runs one transaction for fn and for those whom next returns.
func (d *database) lead(ctx context.Context, h *handles, fn func(*tx) error, next func() (any, bool)) (err error) {
	conn, err := h.writer.Get(ctx)
	if err != nil {
		return err
	}
	defer h.writer.Put(conn)
	g := sqlcore.NewGroup()
	err = sqlcore.ErrGivenUp // unless what follows returns
	defer func() { g.End(err) }()
	return conn.TransactAll(ctx, "BEGIN IMMEDIATE", func() error {
		_, err := g.Run(d.tx(ctx, conn, h), func(t *tx) error {
			if err := d.schema.JudgeRow(t.Row(sqlconn.SelectVersion), d.schema.File); err != nil {
				return err
			}
			if err := t.Enter(h.adopted); err != nil {
				return err
			}
			return fn(t)
		}, next, d.index.Finish)
		return err
	})
}

// tx returns a transaction on a connection of h.
func (d *database) tx(ctx context.Context, conn *sqlconn.Conn, h *handles) *tx {
	t := &sqlrows.Tx{
		Ctx: ctx, Conn: conn, Random: d.o.Random, Told: d.o.SetAside, Current: h.current, Now: amber.At(d.o.Clock()), Index: &h.index,
		Overwrite: sqlfile.Overwrite,
	}
	if d.schema.File == sqlfile.MemorySchema.File && d.schema.Version() < sqlfile.MemorySchema.Version() {
		t.Schema = d.schema.Version()
	}
	return sqlcore.NewTx(t, d.core)
}
