package ledger

import (
	"context"

	"github.com/amber-memory/amber/wire"
)

// maxBatch bounds how many entries share a transaction.
const maxBatch = 256

// waiter is a caller of Record in the line of this process. The first in line writes the entries of
// those behind it together with its own, and tells them how that ended.
type waiter struct {
	record record
	ended  chan error // has room for one
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
	w := &waiter{recordOf(e), make(chan error, 1)}
	switch taken, err := d.line.Join(ctx, w); {
	case err != nil:
		return d.engine.wrap("write audit log", "", err)
	case taken:
		return <-w.ended
	}
	ctx = context.WithoutCancel(ctx) // the patience of the first is not that of the others
	seq, err := d.lead(ctx, w)
	if err == nil {
		d.engine.wrote(ctx, seq)
	}
	return err
}

// lead writes the entry of the first in line and those of the waiters behind it. It returns the
// number of the last entry.
func (d *DB) lead(ctx context.Context, first *waiter) (seq int64, err error) {
	defer d.line.Leave()
	batch := []*waiter{first}
	for len(batch) < maxBatch {
		next, more := d.line.Take()
		if !more {
			break
		}
		batch = append(batch, next.(*waiter))
	}
	seq, err = d.appendAudit(ctx, batch)
	for _, w := range batch[1:] {
		w.ended <- err
	}
	return seq, err
}
