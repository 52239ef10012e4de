// Package sqlconn is how Amber talks to SQLite: connections that keep their
// prepared statements, bounded pools of them, transactions whose outcome is
// never in doubt, schemas as they lie in a file, and what errors mean.
package sqlconn

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"path/filepath"
)

// FileURI names a file for SQLite.
func FileURI(path string, q url.Values) string {
	p := url.URL{Path: filepath.ToSlash(path)}
	if filepath.VolumeName(path) != "" {
		p.Path = "/" + p.Path // file:///C:/…
	}
	u := url.URL{Scheme: "file", Opaque: p.EscapedPath(), RawQuery: q.Encode()}
	return u.String()
}

// Conn is one connection with its prepared statements. Transactions are begun
// and ended by statements on it: those database/sql makes would prepare every
// statement again. It is for one goroutine at a time.
type Conn struct {
	SQL   *sql.Conn
	stmts map[string]*sql.Stmt
	// Settled is for the user of the connection: it begins as false and stays
	// with the connection.
	Settled bool
}

// New returns a connection that closes c with it.
func New(c *sql.Conn) *Conn { return &Conn{SQL: c, stmts: map[string]*sql.Stmt{}} }

// maxStmts bounds the statements a connection keeps. Queries are constants or
// made of a few fixed fragments, so it is never reached in practice.
const maxStmts = 256

// Stmt returns the prepared statement of a query; each is prepared once. No
// statement begins after the end of its context.
func (c *Conn) Stmt(ctx context.Context, query string) (*sql.Stmt, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if s := c.stmts[query]; s != nil {
		return s, nil
	}
	s, err := c.SQL.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	if len(c.stmts) == maxStmts {
		c.forget()
	}
	c.stmts[query] = s
	return s, nil
}

// forget closes every statement.
func (c *Conn) forget() {
	for _, s := range c.stmts {
		_ = s.Close() // closing the connection tells if something is wrong
	}
	clear(c.stmts)
}

// Close closes the statements and the connection.
func (c *Conn) Close() error {
	c.forget()
	return c.SQL.Close()
}

// Exec runs a statement that returns no rows and reports how many it changed.
func (c *Conn) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	s, err := c.Stmt(ctx, query)
	if err != nil {
		return 0, err
	}
	r, err := s.ExecContext(ctx, args...)
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

// Later runs a statement that returns no rows, at once.
func (c *Conn) Later(ctx context.Context, query string, args ...any) error {
	_, err := c.Exec(ctx, query, args...)
	return err
}

// Flush has nothing to wait for.
func (c *Conn) Flush(context.Context) error { return nil }

// Row is what a query found.
type Row = interface{ Scan(dest ...any) error }

// failed is the row of a query that failed.
type failed struct{ err error }

func (f failed) Scan(...any) error { return f.err }

// Row runs a query of one row.
func (c *Conn) Row(ctx context.Context, query string, args ...any) Row {
	s, err := c.Stmt(ctx, query)
	if err != nil {
		return failed{err}
	}
	return s.QueryRowContext(ctx, args...)
}

// Each runs a query and calls fn for every row. Fn runs no query.
func (c *Conn) Each(ctx context.Context, query string, args []any, fn func(Row) error) error {
	s, err := c.Stmt(ctx, query)
	if err != nil {
		return err
	}
	rows, err := s.QueryContext(ctx, args...)
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

// Several runs queries one after the other and calls fn for every row, with the number of its query.
func (c *Conn) Several(ctx context.Context, queries []string, args [][]any, fn func(n int, r Row) error) error {
	for i, q := range queries {
		if err := c.Each(ctx, q, args[i], func(r Row) error { return fn(i, r) }); err != nil {
			return err
		}
	}
	return nil
}

// Transact begins a transaction with a statement, runs fn and commits. On any
// error nothing of it stays, nor when fn panics. A context that ends before the
// commit undoes everything; the commit itself is not interrupted, so that its
// outcome is never in doubt. Fn runs at most once.
func (c *Conn) Transact(ctx context.Context, begin string, fn func() error) error {
	return c.TransactAll(ctx, begin, func() error {
		if err := fn(); err != nil {
			return err
		}
		return ctx.Err()
	})
}

// TransactAll is Transact for work of several callers: the context counts until
// the transaction has begun, and what fn returns decides what becomes of it.
func (c *Conn) TransactAll(ctx context.Context, begin string, fn func() error) (err error) {
	committed := false
	defer func() {
		if !committed {
			// A context that ends meanwhile makes the driver call a BEGIN failed
			// that was not, so there is something to undo after that, too. After
			// some errors SQLite has rolled back by itself; then this fails, which
			// changes nothing.
			_, _ = c.Exec(context.WithoutCancel(ctx), "ROLLBACK")
		}
	}()
	if _, err := c.Exec(ctx, begin); err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	if err := fn(); err != nil {
		return err
	}
	_, err = c.Exec(context.WithoutCancel(ctx), "COMMIT")
	committed = err == nil
	return err
}
