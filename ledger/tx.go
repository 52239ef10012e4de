package ledger

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/sqlconn"
)

// tx is one transaction. Its time is fixed when it begins.
type tx struct {
	ctx  context.Context
	conn *sqlconn.Conn
	now  amber.Time
}

// update is updateInside for a caller that is not inside yet.
func (d *DB) update(ctx context.Context, op, id string, fn func(*tx) error) error {
	leave, err := d.enter()
	if err != nil {
		return err
	}
	defer leave()
	return d.updateInside(ctx, op, id, fn)
}

// view is viewInside for a caller that is not inside yet.
func (d *DB) view(ctx context.Context, op, id string, fn func(*tx) error) error {
	leave, err := d.enter()
	if err != nil {
		return err
	}
	defer leave()
	return d.viewInside(ctx, op, id, fn)
}

// updateInside runs fn in a write transaction: BEGIN IMMEDIATE, the schema
// version, fn, COMMIT. On any error nothing of it stays. Fn runs at most once.
func (d *DB) updateInside(ctx context.Context, op, id string, fn func(*tx) error) error {
	return sqlconn.Wrap(op, id, d.run(ctx, d.writer, "BEGIN IMMEDIATE", d.atVersion(fn)))
}

// viewInside runs fn in a read transaction, one view of the file. Fn runs at
// most once.
func (d *DB) viewInside(ctx context.Context, op, id string, fn func(*tx) error) error {
	return sqlconn.Wrap(op, id, d.run(ctx, d.readers, "BEGIN", d.atVersion(fn)))
}

// atVersion runs fn where the schema is the one this Amber knows: another
// process may have migrated the file since it was opened.
func (d *DB) atVersion(fn func(*tx) error) func(*tx) error {
	return func(t *tx) error {
		if err := d.schema.checkVersion(t, d.path); err != nil {
			return err
		}
		return fn(t)
	}
}

// run runs fn in a transaction on a connection of the pool.
func (d *DB) run(ctx context.Context, p *sqlconn.Pool, begin string, fn func(*tx) error) error {
	conn, err := p.Get(ctx)
	if err != nil {
		return err
	}
	defer p.Put(conn)
	return conn.Transact(ctx, begin, func() error {
		return fn(&tx{ctx: ctx, conn: conn, now: amber.At(d.o.Clock())})
	})
}

// exec runs a statement that returns no rows and reports how many it changed.
func (t *tx) exec(query string, args ...any) (int64, error) {
	return t.conn.Exec(t.ctx, query, args...)
}

// scanner is a row.
type scanner = sqlconn.Row

// row runs a query of one row.
func (t *tx) row(query string, args ...any) scanner { return t.conn.Row(t.ctx, query, args...) }

// each runs a query and calls fn for every row. Fn runs no query.
func (t *tx) each(query string, args []any, fn func(scanner) error) error {
	return t.conn.Each(t.ctx, query, args, fn)
}
