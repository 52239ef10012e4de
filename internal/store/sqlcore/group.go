package sqlcore

import (
	"context"
	"errors"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/sqlrows"
)

// Writers that wait share a transaction. The writer whose turn it is leads: it begins the
// transaction, does its own work, lets those behind it in line do theirs one after the other, and
// commits once for all of them. Each caller runs its function in its own goroutine while the leader
// waits, inside a savepoint, so that an error, a panic or the end of a context undoes the work of
// one caller alone. A leader does not wait for company: it takes the writers that are there.
const (
	// MaxTogether bounds the callers of one transaction.
	MaxTogether = 64
	// MaxGather is after how many milliseconds no more callers are taken: a
	// fence waits for one transaction, and so do those who are done.
	MaxGather = 20
	// FewTogether is how many memories a batch may have that shares a transaction.
	FewTogether = 16

	beginOne = "SAVEPOINT one"
	undoOne  = "ROLLBACK TO one"
	endOne   = "RELEASE one"
)

// ErrGivenUp is what callers get whose transaction ended without a word: the
// leader panicked, or the function of a caller did.
var ErrGivenUp error = amber.Errorf(amber.KindInternal, "write", "", "the transaction was given up, nothing was changed")

// Work is what one caller of [Database.Update] wants done.
type Work struct {
	ctx    context.Context
	fn     func(*Tx) error
	o      *Options
	usable func() error   // whether the caller's store is still open
	twins  []sqlrows.Twin // what it will ask; nil: it does not say
	group  *Group         // set before begin is sent
	begin  chan *Tx       // the transaction to work on; nil when the group is at its end
	ended  chan error     // what became of fn
}

// NewWork returns the work of a caller with options. Usable says why it may not be
// done any more.
func NewWork(ctx context.Context, o *Options, usable func() error, fn func(*Tx) error) *Work {
	return &Work{ctx: ctx, fn: fn, o: o, usable: usable, begin: make(chan *Tx, 1), ended: make(chan error, 1)}
}

// Follow does the work in the transaction of the leader that took it, and returns when
// that is durable or certainly undone.
func (w *Work) Follow() error {
	if t := <-w.begin; t != nil {
		if err := w.run(t); err != nil {
			return err
		}
	}
	<-w.group.over
	return w.group.err
}

// run runs fn, and tells the leader whatever happens.
func (w *Work) run(t *Tx) error {
	outcome := ErrGivenUp // unless fn returns
	defer func() { w.ended <- outcome }()
	if w.group.asking {
		outcome = w.outcomeAsking(t)
	} else {
		outcome = w.outcome(t)
	}
	return outcome
}

func (w *Work) outcome(t *Tx) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	if err := w.usable(); err != nil {
		return err
	}
	if err := w.fn(t); err != nil {
		return err
	}
	if err := t.Conn.Flush(t.Ctx); err != nil {
		return err
	}
	return w.ctx.Err()
}

// Group is a transaction with the work of several callers.
type Group struct {
	last   *Tx  // the state after the last caller whose work stays
	asking bool // all have said what they will ask
	shared bool // another caller beside the leader is in it
	over   chan struct{}
	err    error // why nothing was committed; set before over is closed
}

// NewGroup returns a group whose transaction has not begun.
func NewGroup() *Group { return &Group{over: make(chan struct{})} }

// NewAskingGroup returns a group for callers that have said what they will ask.
func NewAskingGroup() *Group { return &Group{asking: true, over: make(chan struct{})} }

// End tells everybody what became of the transaction. It is called once, whatever
// happened.
func (g *Group) End(err error) {
	g.err = err
	close(g.over)
}

// Run does the work of the leader and of those whom next returns in the transaction t,
// which has begun, and finishes it with finish, right before it is committed. It returns the
// transaction as the last caller left it.
func (g *Group) Run(t *Tx, fn func(*Tx) error, next func() (any, bool), finish func(*Tx) error) (*Tx, error) {
	g.last = t
	// The leader's own work needs no savepoint: where it fails there is nothing else
	// in the transaction.
	ctx := t.Ctx
	if err := fn(t); err != nil {
		return t, err
	}
	if err := t.Conn.Flush(t.Ctx); err != nil {
		return t, err
	}
	if err := t.Ctx.Err(); err != nil {
		return t, err
	}
	alone, err := g.gather(t.Conn, next)
	if err != nil {
		return g.last, err
	}
	if !alone { // the leader's context is not that of the others
		g.last.Ctx = context.WithoutCancel(ctx)
	}
	if err := finish(g.last); err != nil {
		return g.last, err
	}
	return g.last, g.last.Ctx.Err()
}

// gather lets those who wait do their work. Its error means that the
// transaction is lost.
func (g *Group) gather(conn sqlrows.Conn, next func() (any, bool)) (alone bool, err error) {
	began := g.last.Now.UnixMilli()
	for n := 1; n < MaxTogether && g.last.Now.UnixMilli()-began < MaxGather; n++ {
		v, ok := next()
		if !ok {
			return n == 1, nil
		}
		if err := g.add(conn, v.(*Work)); err != nil {
			return false, err
		}
	}
	return false, nil
}

// add lets one caller do its work inside a savepoint.
func (g *Group) add(conn sqlrows.Conn, w *Work) error {
	w.group = g
	var t *Tx
	defer func() {
		if t == nil { // an error, or a panic: there is nothing to begin
			close(w.begin)
		}
	}()
	ctx := context.WithoutCancel(w.ctx)
	if err := conn.Later(ctx, beginOne); err != nil {
		return err
	}
	t = g.joined(w)
	w.begin <- t
	cause := <-w.ended
	if cause == nil {
		g.last = t
		return conn.Later(ctx, endOne)
	}
	g.last.Stamp = max(g.last.Stamp, t.Stamp) // no stamp is given twice
	if _, err := conn.Exec(ctx, undoOne); err != nil {
		return whyLost(cause, err)
	}
	return conn.Later(ctx, endOne)
}

// whyLost returns what everybody is told when one caller failed and there is no
// savepoint to go back to: after some errors, such as a full disk, the engine has
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
func (g *Group) joined(w *Work) *Tx {
	c := *g.last.Tx
	c.Ctx, c.Random, c.Told, c.Now, c.Aside = steady{w.ctx}, w.o.Random, w.o.SetAside, amber.At(w.o.Clock()), nil
	return NewTx(&c, w.o)
}

// steady is a context whose end keeps statements from being begun, and
// interrupts none: the whole transaction of an interrupted one is undone, and watching
// over a statement takes two goroutines.
type steady struct{ context.Context }

func (steady) Done() <-chan struct{} { return nil }
