package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"time"

	sqlite3 "modernc.org/sqlite"
)

// minVersion is the oldest SQLite the schema may be used with: FTS5
// secure-delete, contentless tables and the WAL fixes Amber relies on.
const minVersion = 3_051_000

// access says what a connection is for.
type access string

const (
	create access = "rwc" // only while an agent is being made
	write  access = "rw"
	read   access = "ro"
)

// pragmas are set on every connection, not once on a pool: a connection that
// the pool opens later must keep the same promises.
func pragmas(a access, busy time.Duration) []string {
	p := []string{
		fmt.Sprintf("busy_timeout(%d)", busy.Milliseconds()),
		"synchronous(FULL)",
		"fullfsync(1)",
		"checkpoint_fullfsync(1)",
		"foreign_keys(1)",
		"secure_delete(1)",
		"trusted_schema(0)",
		"cell_size_check(1)",
		"recursive_triggers(1)",
		"wal_autocheckpoint(0)", // see checkpoint.go
	}
	if a == read {
		// Readers are the first to look at a file that may not be ours: they
		// leave its journal mode, which it keeps, as it is.
		return append(p, "query_only(1)")
	}
	return append(p, "journal_mode(WAL)")
}

// dsn names a database file for the driver. The mode never creates a file but
// while an agent is made: a missing database is damage, not a fresh start.
func dsn(path string, a access, busy time.Duration) string {
	mode := a
	if a == read {
		mode = write // a reader must be able to make the shared-memory file; query_only keeps it from writing
	}
	q := url.Values{"mode": {string(mode)}, "_dqs": {"0"}}
	for _, p := range pragmas(a, busy) {
		q.Add("_pragma", p)
	}
	return fileURI(path, q)
}

// fileURI names a file for SQLite.
func fileURI(path string, q url.Values) string {
	p := url.URL{Path: filepath.ToSlash(path)}
	if filepath.VolumeName(path) != "" {
		p.Path = "/" + p.Path // file:///C:/…
	}
	u := url.URL{Scheme: "file", Opaque: p.EscapedPath(), RawQuery: q.Encode()}
	return u.String()
}

// conn is one connection with its prepared statements. Transactions are begun
// and ended by statements on it: those database/sql makes would prepare every
// statement again.
type conn struct {
	sql   *sql.Conn
	stmts map[string]*sql.Stmt
	// settled is set once the connection is known to have opened the files of
	// a generation that was live.
	settled bool
}

// maxStmts bounds the statements a connection keeps. Queries are constants or
// made of a few fixed fragments, so it is never reached in practice.
const maxStmts = 256

// stmt returns the prepared statement of a query; each is prepared once.
func (c *conn) stmt(ctx context.Context, query string) (*sql.Stmt, error) {
	if s := c.stmts[query]; s != nil {
		return s, nil
	}
	s, err := c.sql.PrepareContext(ctx, query)
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
func (c *conn) forget() {
	for _, s := range c.stmts {
		_ = s.Close() // closing the connection tells if something is wrong
	}
	clear(c.stmts)
}

func (c *conn) close() error {
	c.forget()
	return c.sql.Close()
}

// pool is a bounded set of connections for one purpose.
type pool struct {
	db *sql.DB
	// free holds one token per connection that may be used: the connection,
	// or nil where it is not open yet.
	free chan *conn
}

// openPool prepares for at most n connections to the file. None is opened
// yet.
func openPool(path string, a access, busy time.Duration, n int) (*pool, error) {
	return newPool(dsn(path, a, busy), n)
}

// newPool does the same for a database by its name for the driver.
func newPool(dsn string, n int) (*pool, error) {
	c, err := sqlite3.NewConnector(dsn)
	if err != nil {
		return nil, err
	}
	p := &pool{db: sql.OpenDB(c), free: make(chan *conn, n)}
	p.db.SetMaxOpenConns(n)
	p.db.SetMaxIdleConns(n)
	for range n {
		p.free <- nil
	}
	return p, nil
}

// get waits for a connection.
func (p *pool) get(ctx context.Context) (*conn, error) {
	var c *conn
	select {
	case c = <-p.free:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if c != nil {
		return c, nil
	}
	s, err := p.db.Conn(ctx)
	if err != nil {
		p.free <- nil
		return nil, err
	}
	return &conn{sql: s, stmts: map[string]*sql.Stmt{}}, nil
}

// put gives a connection back.
func (p *pool) put(c *conn) { p.free <- c }

// close closes every connection. All of them have been given back.
func (p *pool) close() error {
	var errs []error
	for range cap(p.free) {
		if c := <-p.free; c != nil {
			errs = append(errs, c.close())
		}
	}
	return errors.Join(append(errs, p.db.Close())...)
}
