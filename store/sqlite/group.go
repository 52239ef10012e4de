package sqlite

import (
	"context"
	"errors"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/sqlconn"
	"github.com/amber-memory/amber/store/sqlite/internal/sqlrows"
)

// Writers that wait share a transaction. The one whose turn it is leads: it
// begins the transaction, does its own work, lets those behind it in line do
// theirs one after the other, and commits once for all of them. Each caller runs
// its function in its own goroutine while the leader waits, inside a savepoint,
// so that an error, a panic or the end of a context undoes the work of one
// caller alone. Nobody waits for company: a leader takes who is there.
const (
	// maxTogether bounds the callers of one transaction.
	maxTogether = 64
	// maxGather is after how many milliseconds no more callers are taken: a
	// fence waits for one transaction, and so do those who are done.
	maxGather = 20
	// fewTogether is how many memories a batch may have that shares a transaction.
	fewTogether = 16

	beginOne = "SAVEPOINT one"
	undoOne  = "ROLLBACK TO one"
	endOne   = "RELEASE one"
)

// errGivenUp is what callers get whose transaction ended without a word: the
// leader panicked, or the function of a caller did.
var errGivenUp error = amber.Errorf(amber.KindInternal, "write", "", "the transaction was given up, nothing was changed")

// work is what one caller of [database.update] wants done.
type work struct {
	d     *database
	ctx   context.Context
	fn    func(*tx) error
	group *group     // set before begin is sent
	begin chan *tx   // the transaction to work on; nil when the group is at its end
	ended chan error // what became of fn
}

func (d *database) work(ctx context.Context, fn func(*tx) error) *work {
	return &work{d: d, ctx: ctx, fn: fn, begin: make(chan *tx, 1), ended: make(chan error, 1)}
}

// follow does the work in the transaction of the leader that took it, and returns when
// that is durable or certainly undone.
func (w *work) follow() error {
	if t := <-w.begin; t != nil {
		if err := w.run(t); err != nil {
			return err
		}
	}
	<-w.group.over
	return w.group.err
}

// run runs fn, and tells the leader whatever happens.
func (w *work) run(t *tx) error {
	outcome := errGivenUp // unless fn returns
	defer func() { w.ended <- outcome }()
	outcome = w.outcome(t)
	return outcome
}

func (w *work) outcome(t *tx) error {
	if err := w.mayRun(); err != nil {
		return err
	}
	if err := w.fn(t); err != nil {
		return err
	}
	return w.ctx.Err()
}

// mayRun looks whether the caller still wants its work done.
func (w *work) mayRun() error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	w.d.mu.Lock()
	defer w.d.mu.Unlock()
	return w.d.usable()
}

// group is a transaction with the work of several callers.
type group struct {
	conn *sqlconn.Conn
	last *tx // as the last caller left it whose work stays
	over chan struct{}
	err  error // why nothing was committed; set before over is closed
}

// lead runs one transaction for fn and for those whom next returns.
func (d *database) lead(ctx context.Context, h *handles, fn func(*tx) error, next func() (any, bool)) (err error) {
	conn, err := h.writer.Get(ctx)
	if err != nil {
		return err
	}
	defer h.writer.Put(conn)
	g := &group{conn: conn, over: make(chan struct{})}
	err = errGivenUp // unless what follows returns
	defer func() {
		g.err = err
		close(g.over)
	}()
	return conn.TransactAll(ctx, "BEGIN IMMEDIATE", func() error {
		g.last = d.tx(ctx, conn, h)
		if err := d.own(g.last, h, fn); err != nil {
			return err
		}
		alone, err := g.gather(next)
		if err != nil {
			return err
		}
		if !alone { // the leader's context is not that of the others
			g.last.Ctx = context.WithoutCancel(ctx)
		}
		if err := d.finish(g.last); err != nil {
			return err
		}
		return g.last.Ctx.Err()
	})
}

// own does the work of the leader. It comes first and needs no savepoint:
// where it fails there is nothing else in the transaction.
func (d *database) own(t *tx, h *handles, fn func(*tx) error) error {
	if err := d.schema.CheckVersion(t.Tx); err != nil {
		return err
	}
	if err := t.Enter(h.adopted); err != nil {
		return err
	}
	if err := fn(t); err != nil {
		return err
	}
	return t.Ctx.Err()
}

// finish is called once in every write transaction, right before COMMIT, on
// behalf of all callers together: what they have written comes into the index.
// Its error is an error of all, and means that the transaction is lost or that
// the one caller there is has given up.
func (d *database) finish(t *tx) error {
	if !d.indexed() || t.late {
		return nil
	}
	return d.index(t)
}

// gather lets those who wait do their work. Its error means that the
// transaction is lost.
func (g *group) gather(next func() (any, bool)) (alone bool, err error) {
	began := g.last.Now.UnixMilli()
	for n := 1; n < maxTogether && g.last.Now.UnixMilli()-began < maxGather; n++ {
		v, ok := next()
		if !ok {
			return n == 1, nil
		}
		if err := g.add(v.(*work)); err != nil {
			return false, err
		}
	}
	return false, nil
}

// add lets one caller do its work inside a savepoint.
func (g *group) add(w *work) error {
	w.group = g
	var t *tx
	defer func() {
		if t == nil { // an error, or a panic: there is nothing to begin
			close(w.begin)
		}
	}()
	ctx := context.WithoutCancel(w.ctx)
	if _, err := g.conn.Exec(ctx, beginOne); err != nil {
		return err
	}
	t = g.joined(w)
	w.begin <- t
	cause := <-w.ended
	if cause == nil {
		g.last = t
		_, err := g.conn.Exec(ctx, endOne)
		return err
	}
	g.last.Stamp = max(g.last.Stamp, t.Stamp) // no stamp is given twice
	if _, err := g.conn.Exec(ctx, undoOne); err != nil {
		return whyLost(cause, err)
	}
	_, err := g.conn.Exec(ctx, endOne)
	return err
}

// whyLost returns what everybody is told when one caller failed and there is no
// savepoint to go back to: after some errors, such as a full disk, SQLite has
// undone the whole transaction. Nothing else of the caller's error is told.
func whyLost(cause, undo error) error {
	var s interface {
		error
		Code() int
	}
	if errors.As(cause, &s) {
		return s
	}
	return undo
}

// joined returns the transaction for a caller: a copy of what the last caller
// left, with a context, a time and rows set aside of its own. The copy is
// forgotten with work that is undone, so that nothing of it is counted.
func (g *group) joined(w *work) *tx {
	c := *g.last.Tx
	c.Ctx, c.Random, c.Told, c.Now, c.Aside = steady{w.ctx}, w.d.o.Random, w.d.o.SetAside, amber.At(w.d.o.Clock()), nil
	return &tx{Tx: &c, o: &w.d.o}
}

// steady is a context whose end keeps statements from being begun, and
// interrupts none: SQLite undoes the whole transaction of an interrupted one, and watching
// over a statement takes two goroutines.
type steady struct{ context.Context }

func (steady) Done() <-chan struct{} { return nil }

// tx returns a transaction on a connection of h.
func (d *database) tx(ctx context.Context, conn *sqlconn.Conn, h *handles) *tx {
	t := &sqlrows.Tx{
		Ctx: ctx, Conn: conn, Random: d.o.Random, Told: d.o.SetAside, Current: h.current, Now: amber.At(d.o.Clock()), Index: &h.index,
	}
	return &tx{Tx: t, o: &d.o}
}
