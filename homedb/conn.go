package homedb

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

// dsn names the database for the driver. No connection ever makes the file, and
// every one keeps the same promises: a pool may open another at any time.
func dsn(path string, busy time.Duration, writes bool) string {
	q := url.Values{"mode": {"rw"}, "_dqs": {"0"}, "_defensive": {"1"}, "_pragma": {
		fmt.Sprintf("busy_timeout(%d)", busy.Milliseconds()),
		"synchronous(FULL)",
		"fullfsync(1)",
		"checkpoint_fullfsync(1)",
		"secure_delete(1)",
		"trusted_schema(0)",
		"cell_size_check(1)",
	}}
	if writes {
		q.Add("_pragma", "journal_mode(WAL)")
	} else {
		// Readers look first at a file that may not be ours, so they leave its
		// journal mode alone. They may make the shared-memory file.
		q.Add("_pragma", "query_only(1)")
	}
	p := url.URL{Path: filepath.ToSlash(path)}
	if filepath.VolumeName(path) != "" {
		p.Path = "/" + p.Path // file:///C:/…
	}
	u := url.URL{Scheme: "file", Opaque: p.EscapedPath(), RawQuery: q.Encode()}
	return u.String()
}

// conn is one connection with its prepared statements, whose number is that of
// the queries of this package.
type conn struct {
	sql   *sql.Conn
	stmts map[string]*sql.Stmt
}

func (c *conn) stmt(ctx context.Context, query string) (*sql.Stmt, error) {
	if s := c.stmts[query]; s != nil {
		return s, nil
	}
	s, err := c.sql.PrepareContext(ctx, query)
	if err == nil {
		c.stmts[query] = s
	}
	return s, err
}

func (c *conn) close() error {
	for _, s := range c.stmts {
		_ = s.Close() // closing the connection tells if something is wrong
	}
	return c.sql.Close()
}

// pool is a bounded set of connections. Free has one item per connection that
// may be used, nil where it is not open yet.
type pool struct {
	db   *sql.DB
	free chan *conn
}

// openPool prepares for at most n connections. None is opened yet.
func openPool(dsn string, n int) (*pool, error) {
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

// get waits for a connection as long as ctx lasts; put gives it back.
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

func (p *pool) put(c *conn) { p.free <- c }

// close closes every connection, each once it was given back.
func (p *pool) close() error {
	var errs []error
	for range cap(p.free) {
		if c := <-p.free; c != nil {
			errs = append(errs, c.close())
		}
	}
	return errors.Join(append(errs, p.db.Close())...)
}
