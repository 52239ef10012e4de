package sqlconn

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"

	sqlite3 "modernc.org/sqlite"
)

// Pool is a bounded set of connections for one purpose.
type Pool struct {
	DB *sql.DB
	// free holds one token per connection that may be used: the connection,
	// or nil where it is not open yet.
	free chan *Conn
}

// Open prepares for at most n connections to a database by its name for the
// driver. None is opened yet.
func Open(dsn string, n int) (*Pool, error) {
	c, err := sqlite3.NewConnector(dsn)
	if err != nil {
		return nil, err
	}
	p := &Pool{DB: sql.OpenDB(c), free: make(chan *Conn, n)}
	p.DB.SetMaxOpenConns(n)
	p.DB.SetMaxIdleConns(n)
	for range n {
		p.free <- nil
	}
	return p, nil
}

// Get waits for a connection, which is given back with Put.
func (p *Pool) Get(ctx context.Context) (*Conn, error) {
	var c *Conn
	select {
	case c = <-p.free:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if c != nil {
		return c, nil
	}
	s, err := p.DB.Conn(ctx)
	if err != nil {
		p.free <- nil
		return nil, err
	}
	return New(s), nil
}

// Put gives a connection back.
func (p *Pool) Put(c *Conn) { p.free <- c }

// Prepared returns the queries whose statements the connections keep, sorted.
// It waits for every connection.
func (p *Pool) Prepared() (queries []string) {
	for range cap(p.free) {
		c := <-p.free
		if c != nil {
			queries = slices.AppendSeq(queries, maps.Keys(c.stmts))
		}
		defer p.Put(c)
	}
	slices.Sort(queries)
	return slices.Compact(queries)
}

// Close closes every connection, each once it was given back.
func (p *Pool) Close() error {
	var errs []error
	for range cap(p.free) {
		if c := <-p.free; c != nil {
			errs = append(errs, c.Close())
		}
	}
	return errors.Join(append(errs, p.DB.Close())...)
}
