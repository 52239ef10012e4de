package sqlcore

import (
	"context"
	"errors"

	"github.com/amber-memory/amber/internal/store/sqlrows"
)

// Where each question takes a way over a network, writers that say what they will ask share more than a
// transaction: what all of them ask goes in one message, and what they write in another, without savepoints. An
// error can be that of any of them then, so everything is undone, and each does its work again by itself.

// Asker is a [Database] for callers that say what they will ask.
type Asker interface {
	// UpdateAsking is Update for fn that asks for duplicates before it writes. Where nothing of fn stayed, it may run again.
	UpdateAsking(ctx context.Context, op, id string, twins []sqlrows.Twin, fn func(*Tx) error) error
}

// ErrSpoiled is what a caller gets whose work was undone because of another, or by an error of which it is not known
// whose it is. It is to be done again, alone.
var ErrSpoiled = errors.New("the transaction was undone with the work of others")

// NewAsking returns the work of a caller that says what it will ask.
func NewAsking(ctx context.Context, o *Options, usable func() error, twins []sqlrows.Twin, fn func(*Tx) error) *Work {
	w := NewWork(ctx, o, usable, fn)
	w.twins = twins
	return w
}

// IsAsking reports whether the work of a caller says what it will ask.
func IsAsking(work any) bool {
	w, ok := work.(*Work)
	return ok && w.twins != nil
}

// RunAsking does the work of the leader and of those whom next returns, all of which have said what they will
// ask, and finishes it. Own is why nothing of the leader's work is among what stays.
func (g *Group) RunAsking(t *Tx, leader *Work, next func() (any, bool), finish func(*Tx) error) (last *Tx, own, err error) {
	g.last = t
	var behind []*Work
	defer func() {
		for _, w := range behind { // an error, or a panic: there is nothing to begin
			close(w.begin)
		}
	}()
	twins := leader.twins
	for len(behind)+1 < MaxTogether {
		v, ok := next()
		if !ok {
			break
		}
		w := v.(*Work)
		w.group = g
		behind = append(behind, w)
		twins = append(twins[:len(twins):len(twins)], w.twins...)
	}
	ctx := t.Ctx
	if len(behind) > 0 { // the leader's context is not that of the others
		t.Ctx = steady{ctx}
	}
	if err := t.AskTwins(twins); err != nil {
		return t, nil, err
	}
	if own = leader.fn(t); own != nil && (len(behind) == 0 || t.isUsed(0, 0)) {
		return t, nil, own
	}
	for len(behind) > 0 {
		w := behind[0]
		behind = behind[1:]
		if err := g.addAsking(w); err != nil {
			return g.last, nil, err
		}
	}
	g.last.EndAsking()
	g.last.Ctx, g.last.together = ctx, true
	if g.shared {
		g.last.Ctx = context.WithoutCancel(ctx)
	}
	return g.last, own, finish(g.last)
}

// isUsed reports whether a transaction has asked or written something since it had so many times.
func (t *Tx) isUsed(asked, wrote int) bool {
	a, w := t.Used()
	return a != asked || w != wrote
}

// addAsking lets one caller do its work. The error means that everything is to be undone.
func (g *Group) addAsking(w *Work) error {
	t := g.joined(w)
	asked, wrote := t.Used()
	w.begin <- t
	cause := <-w.ended
	if cause == nil {
		g.last, g.shared = t, true
		return nil
	}
	g.last.Stamp = max(g.last.Stamp, t.Stamp) // no stamp is given twice
	if t.isUsed(asked, wrote) {
		return ErrSpoiled
	}
	return nil
}

// outcomeAsking is what became of fn.
func (w *Work) outcomeAsking(t *Tx) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	if err := w.usable(); err != nil {
		return err
	}
	return w.fn(t)
}
