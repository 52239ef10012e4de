package ledger

import (
	"context"
	"slices"
	"sync"

	"github.com/amber-memory/amber/wire"
)

// maxBatch bounds how many entries share a transaction.
const maxBatch = 256

// line is where the callers of Record wait, so that many of them share one
// transaction. The first in line leads: it writes the entries of all in line, reports the
// outcome to them, and leaves the lead to the next.
type line struct {
	mu      sync.Mutex
	waiting []*waiter
	led     bool // a waiter leads, or has the message to lead
}

type waiter struct {
	record record
	told   chan verdict // has room for one
	leads  bool         // guarded by line.mu
}

// verdict is a message to a waiter: it leads now, or how the write of its entry ended.
type verdict struct {
	lead bool
	err  error
}

// join puts a waiter at the end of the line. The first waiter gets the message to lead.
func (l *line) join(r record) *waiter {
	w := &waiter{record: r, told: make(chan verdict, 1)}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting = append(l.waiting, w)
	l.appoint()
	return w
}

// appoint makes the first waiter in line the leader if the line has no leader. The caller holds
// l.mu.
func (l *line) appoint() {
	if l.led || len(l.waiting) == 0 {
		return
	}
	l.led = true
	l.waiting[0].leads = true
	l.waiting[0].told <- verdict{lead: true}
}

// leave takes a waiter out of the line, unless the waiter leads or its entry is being written, and
// reports whether it did.
func (l *line) leave(w *waiter) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.Index(l.waiting, w)
	if i < 0 || w.leads {
		return false
	}
	l.waiting = slices.Delete(l.waiting, i, i+1)
	return true
}

// take returns those at the beginning of the line, the leader first.
func (l *line) take() []*waiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := min(len(l.waiting), maxBatch)
	batch := slices.Clone(l.waiting[:n])
	l.waiting = slices.Delete(l.waiting, 0, n)
	return batch
}

// done reports the outcome to every waiter but the leader, and leaves the lead to the next.
func (l *line) done(batch []*waiter, err error) {
	for _, w := range batch[1:] {
		w.told <- verdict{err: err}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.led = false
	l.appoint()
}

// Record appends an entry to the audit log; sequence, time and hashes are
// filled in, and a field that is too long is cut. It returns once the entry is
// durable. A context that ends takes the entry out of the line; one that is
// being written is waited for, so the outcome is never in doubt. Errors: busy
// when other processes hold the database for too long; damaged; internal.
func (d *DB) Record(ctx context.Context, e wire.AuditEntry) error {
	leave, err := d.enter()
	if err != nil {
		return err
	}
	defer leave()
	if err := ctx.Err(); err != nil {
		return d.engine.wrap("write audit log", "", err)
	}
	w := d.line.join(recordOf(e))
	var v verdict
	select {
	case v = <-w.told:
	case <-ctx.Done():
		if d.line.leave(w) {
			return d.engine.wrap("write audit log", "", ctx.Err())
		}
		v = <-w.told
	}
	if !v.lead {
		return v.err
	}
	return d.lead(context.WithoutCancel(ctx))
}

// lead writes one batch. The patience of the leader is not that of the others.
func (d *DB) lead(ctx context.Context) error {
	batch := d.line.take()
	seq, err := d.appendAudit(ctx, batch)
	d.line.done(batch, err)
	if err == nil {
		d.engine.wrote(ctx, seq)
	}
	return err
}
