package homedb

import (
	"context"
	"fmt"

	"github.com/amber-memory/amber"
)

// tx is one transaction. Its time is fixed when it begins.
type tx struct {
	ctx  context.Context
	conn *conn
	now  amber.Time
}

// update runs fn in a write transaction: BEGIN IMMEDIATE, the schema version,
// fn, COMMIT. On any error nothing of it stays. Fn runs at most once.
func (d *DB) update(ctx context.Context, op, id string, fn func(*tx) error) error {
	return wrap(op, id, d.run(ctx, d.writer, "BEGIN IMMEDIATE", func(t *tx) error {
		// Another process may have migrated the file since it was opened.
		if err := d.schema.checkVersion(t, d.path); err != nil {
			return err
		}
		return fn(t)
	}))
}

// view runs fn in a read transaction, one view of the file. Fn runs at most
// once.
func (d *DB) view(ctx context.Context, op, id string, fn func(*tx) error) error {
	return wrap(op, id, d.run(ctx, d.readers, "BEGIN", fn))
}

// run begins a transaction, runs fn and commits. A context that ends before the
// commit undoes everything; the commit itself is not interrupted, so that its
// outcome is never in doubt.
func (d *DB) run(ctx context.Context, p *pool, begin string, fn func(*tx) error) error {
	conn, err := p.get(ctx)
	if err != nil {
		return err
	}
	defer p.put(conn)
	t := &tx{ctx: ctx, conn: conn}
	if _, err := t.exec(begin); err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	t.now = amber.At(d.o.Clock())
	err = fn(t)
	if err == nil {
		err = ctx.Err()
	}
	t.ctx = context.WithoutCancel(ctx)
	if err == nil {
		if _, err = t.exec("COMMIT"); err == nil {
			return nil
		}
	}
	// After some errors SQLite has rolled back by itself; then this fails and
	// changes nothing.
	_, _ = t.exec("ROLLBACK")
	return err
}

// exec runs a statement that returns no rows and reports how many it changed.
func (t *tx) exec(query string, args ...any) (int64, error) {
	s, err := t.conn.stmt(t.ctx, query)
	if err != nil {
		return 0, err
	}
	r, err := s.ExecContext(t.ctx, args...)
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

// scanner is a row.
type scanner interface{ Scan(dest ...any) error }

// failed is a row that could not be asked for.
type failed struct{ err error }

func (f failed) Scan(...any) error { return f.err }

// row runs a query of one row.
func (t *tx) row(query string, args ...any) scanner {
	s, err := t.conn.stmt(t.ctx, query)
	if err != nil {
		return failed{err}
	}
	return s.QueryRowContext(t.ctx, args...)
}

// each runs a query and calls fn for every row. Fn runs no query.
func (t *tx) each(query string, args []any, fn func(scanner) error) error {
	s, err := t.conn.stmt(t.ctx, query)
	if err != nil {
		return err
	}
	rows, err := s.QueryContext(t.ctx, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := fn(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}
