package pgdb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// Conn is a connection inside a transaction. Its statements are written for SQLite. It is for one goroutine at a
// time.
type Conn struct {
	pg      *pgx.Conn
	dialect *Dialect
}

// Exec runs a statement that returns no rows and reports how many it changed.
func (c *Conn) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if len(args) == 0 && isControl(query) {
		return 0, c.Script(ctx, query)
	}
	query, args, err := c.prepare(query, args)
	if err != nil {
		return 0, err
	}
	tag, err := c.pg.Exec(ctx, query, args...)
	return tag.RowsAffected(), err
}

// isControl reports whether a statement is one about the transaction, which has neither
// arguments nor a plan.
func isControl(query string) bool {
	return strings.HasPrefix(query, "SAVEPOINT ") || strings.HasPrefix(query, "ROLLBACK TO ") || strings.HasPrefix(query, "RELEASE ")
}

// Script runs statements of PostgreSQL that have no arguments, in one round trip.
func (c *Conn) Script(ctx context.Context, script string) error {
	return c.pg.PgConn().Exec(ctx, script).Close()
}

// prepare translates a statement and its arguments.
func (c *Conn) prepare(query string, args []any) (string, []any, error) {
	query, err := c.dialect.Translate(query)
	if err != nil {
		return "", nil, err
	}
	values := make([]any, len(args))
	for i, a := range args {
		if values[i], err = value(a); err != nil {
			return "", nil, fmt.Errorf("argument %d: %w", i+1, err)
		}
	}
	return query, values, nil
}

// value makes of an argument what databases take, as package database/sql does.
func value(arg any) (any, error) {
	v, err := driver.DefaultParameterConverter.ConvertValue(arg)
	if err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case bool:
		return flag(v), nil
	case []byte:
		if v == nil {
			return nil, nil
		}
	}
	return v, nil
}

// flag is a truth value for a column of either kind: SQLite has numbers for them.
type flag bool

// BoolValue implements [pgtype.BoolValuer].
func (f flag) BoolValue() (pgtype.Bool, error) { return pgtype.Bool{Bool: bool(f), Valid: true}, nil }

// Int64Value implements [pgtype.Int64Valuer].
func (f flag) Int64Value() (pgtype.Int8, error) {
	n := pgtype.Int8{Valid: true}
	if f {
		n.Int64 = 1
	}
	return n, nil
}

// row is what a query of one row found.
type row struct {
	rows pgx.Rows
	err  error
}

// Row runs a query of one row. The row must be scanned.
func (c *Conn) Row(ctx context.Context, query string, args ...any) interface{ Scan(dest ...any) error } {
	if err := ctx.Err(); err != nil {
		return row{err: err}
	}
	query, args, err := c.prepare(query, args)
	if err != nil {
		return row{err: err}
	}
	rows, err := c.pg.Query(ctx, query, args...)
	return row{rows, err}
}

// Scan reads the row. Its error is [sql.ErrNoRows] where there is none.
func (r row) Scan(dest ...any) error {
	if r.err != nil {
		return r.err
	}
	defer r.rows.Close()
	if !r.rows.Next() {
		if err := r.rows.Err(); err != nil {
			return err
		}
		return sql.ErrNoRows
	}
	if err := scan(r.rows, dest); err != nil {
		return err
	}
	r.rows.Close()
	return r.rows.Err()
}

// each is the row a query stands at.
type each struct{ rows pgx.Rows }

func (e each) Scan(dest ...any) error { return scan(e.rows, dest) }

// Each runs a query and calls fn for every row. Fn runs no query.
func (c *Conn) Each(ctx context.Context, query string, args []any, fn func(interface{ Scan(dest ...any) error }) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	query, args, err := c.prepare(query, args)
	if err != nil {
		return err
	}
	rows, err := c.pg.Query(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := fn(each{rows}); err != nil {
			return err
		}
	}
	return rows.Err()
}

var errCount = errors.New("the row has another number of columns than are asked for")

// scan reads the columns of a row. An error about a value is worded as those of
// package database/sql are.
func scan(rows pgx.Rows, dest []any) error {
	raw, fields := rows.RawValues(), rows.FieldDescriptions()
	if len(raw) != len(dest) {
		return errCount
	}
	for i, d := range dest {
		v, err := decode(fields[i].DataTypeOID, fields[i].Format, raw[i])
		if err == nil {
			err = assign(d, v)
		}
		if err != nil {
			return fmt.Errorf(`sql: Scan error on column index %d, name %q: %w`, i, fields[i].Name, err)
		}
	}
	return nil
}

// PG returns the connection for statements of PostgreSQL's own.
func (c *Conn) PG() *pgx.Conn { return c.pg }
