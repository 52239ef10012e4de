package pgdb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

// Conn is a connection inside a transaction. Its statements are written for SQLite. It is for one goroutine at a
// time.
type Conn struct {
	pg      *pgx.Conn
	dialect *Dialect
	waiting *pgx.Batch // statements that go with the next one; nil for none
	size    int        // of their arguments, about
	changed int64
	wrote   bool  // a statement may have changed something
	lost    error // why the connection is closed; nil where no statement has found that
}

const (
	// maxWaiting bounds the statements that wait, and maxWaitingBytes what they hold.
	maxWaiting      = 1024
	maxWaitingBytes = 1 << 20
)

// Exec runs a statement that returns no rows and reports how many it changed.
func (c *Conn) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if strings.HasPrefix(query, "ROLLBACK TO ") {
		_ = c.Flush(ctx) // it is undone, and a savepoint may be among what waits
		return 0, c.Script(ctx, query)
	}
	results, err := c.send(ctx, []string{query}, [][]any{args})
	if err != nil {
		return 0, err
	}
	tag, err := results.Exec()
	if cerr := results.Close(); err == nil {
		err = cerr
	}
	c.count(tag)
	return tag.RowsAffected(), c.why(err)
}

// why returns the error of a statement, or the one with which the connection ended, where a statement came later: of these
// pgx only says that the connection is closed.
func (c *Conn) why(err error) error {
	switch {
	case err == nil || !c.pg.IsClosed():
		return err
	case c.lost == nil:
		c.lost = err
	case errors.Is(err, pgconn.ErrConnClosed):
		return c.lost
	}
	return err
}

// count counts rows that a statement changed.
func (c *Conn) count(tag pgconn.CommandTag) {
	if !tag.Select() {
		c.changed += tag.RowsAffected()
	}
}

// Changed grows with every statement that changed a row, or that runs later and may.
func (c *Conn) Changed() int64 { return c.changed }

// Later runs a statement that returns no rows together with the next one that does, or
// with Flush, whichever comes first: one round trip for all of them. Its error may be told there.
func (c *Conn) Later(ctx context.Context, query string, args ...any) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	query, args, err := c.prepare(query, args)
	if err != nil {
		return err
	}
	if c.waiting == nil {
		c.waiting = &pgx.Batch{}
	}
	for i, a := range args {
		switch a := a.(type) {
		case []byte: // the caller may use its bytes again
			args[i] = append([]byte{}, a...)
			c.size += len(a)
		case string:
			c.size += len(a)
		}
	}
	c.waiting.Queue(query, args...)
	if !isPoint(query) {
		c.changed++
	}
	if c.waiting.Len() < maxWaiting && c.size < maxWaitingBytes {
		return nil
	}
	return c.Flush(ctx)
}

// isPoint reports whether a statement is about a savepoint.
func isPoint(query string) bool {
	return strings.HasPrefix(query, "SAVEPOINT ") || strings.HasPrefix(query, "RELEASE ")
}

// Flush returns when every statement has run.
func (c *Conn) Flush(ctx context.Context) error {
	b := c.take()
	if b == nil {
		return nil
	}
	return c.why(c.pg.SendBatch(ctx, b).Close())
}

// take returns the statements that wait, nil where there are none.
func (c *Conn) take() *pgx.Batch {
	b := c.waiting
	c.waiting, c.size = nil, 0
	return b
}

// send runs what waits and then some statements, whose results are the next to be read.
func (c *Conn) send(ctx context.Context, queries []string, args [][]any) (pgx.BatchResults, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	next := make([]*pgx.QueuedQuery, len(queries))
	for i, q := range queries {
		query, values, err := c.prepare(q, args[i])
		if err != nil {
			return nil, err
		}
		next[i] = &pgx.QueuedQuery{SQL: query, Arguments: values}
	}
	b := c.take()
	if b == nil {
		b = &pgx.Batch{}
	}
	before := b.Len()
	b.QueuedQueries = append(b.QueuedQueries, next...)
	results := c.pg.SendBatch(ctx, b)
	for range before {
		if _, err := results.Exec(); err != nil {
			_ = results.Close() // tells the same
			return nil, c.why(err)
		}
	}
	return results, nil
}

// Script runs statements of PostgreSQL that have no arguments, in one round trip.
func (c *Conn) Script(ctx context.Context, script string) error {
	c.wrote = true
	return c.why(c.pg.PgConn().Exec(ctx, script).Close())
}

// Wrote reports whether a statement ran that may have changed something: any but those that begin with SELECT, or
// are about savepoints.
func (c *Conn) Wrote() bool { return c.wrote }

// harmless is how statements begin that change nothing.
var harmless = []string{"SELECT ", "SAVEPOINT ", "RELEASE "}

// prepare translates a statement and its arguments.
func (c *Conn) prepare(query string, args []any) (string, []any, error) {
	if !slices.ContainsFunc(harmless, func(word string) bool { return strings.HasPrefix(query, word) }) {
		c.wrote = true
	}
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
	conn    *Conn
	results pgx.BatchResults
	err     error
}

// Row runs a query of one row. The row must be scanned.
func (c *Conn) Row(ctx context.Context, query string, args ...any) interface{ Scan(dest ...any) error } {
	results, err := c.send(ctx, []string{query}, [][]any{args})
	return row{c, results, err}
}

// Scan reads the row. Its error is [sql.ErrNoRows] where there is none.
func (r row) Scan(dest ...any) error {
	if r.err != nil {
		return r.err
	}
	rows, err := r.results.Query()
	found := err == nil && rows.Next()
	var bad error
	if found {
		bad = scan(rows, dest)
	}
	if rows != nil {
		rows.Close()
		r.conn.count(rows.CommandTag())
	}
	err = r.conn.why(err)
	if cerr := r.conn.why(r.results.Close()); cerr != nil {
		return cerr
	}
	switch {
	case err != nil:
		return err
	case !found:
		return sql.ErrNoRows
	}
	return bad
}

// each is the row a query stands at.
type each struct{ rows pgx.Rows }

func (e each) Scan(dest ...any) error { return scan(e.rows, dest) }

// Each runs a query and calls fn for every row. Fn runs no query.
func (c *Conn) Each(ctx context.Context, query string, args []any, fn func(interface{ Scan(dest ...any) error }) error) error {
	return c.Several(ctx, []string{query}, [][]any{args}, func(_ int, r interface{ Scan(dest ...any) error }) error { return fn(r) })
}

// Several runs queries in one round trip and calls fn for every row, with the number of its query. Fn runs no
// query.
func (c *Conn) Several(ctx context.Context, queries []string, args [][]any, fn func(n int, r interface{ Scan(dest ...any) error }) error) error {
	results, err := c.send(ctx, queries, args)
	if err != nil {
		return err
	}
	var stop error
	for n := range queries {
		rows, err := results.Query()
		if err != nil {
			_ = results.Close() // tells the same
			return c.why(err)
		}
		for stop == nil && rows.Next() {
			stop = fn(n, each{rows})
		}
		rows.Close()
		c.count(rows.CommandTag())
	}
	if err := c.why(results.Close()); err != nil {
		return err
	}
	return stop
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
func (c *Conn) PG() *pgx.Conn {
	c.wrote = true
	return c.pg
}
