package sqlconn

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"

	sqlite3 "modernc.org/sqlite"
)

// Pool is a bounded set of connections for one purpose. It uses an open connection again before it opens another, which
// would read the whole schema first: that takes SQLite longer than most questions.
type Pool struct {
	DB *sql.DB

	idle chan *Conn    // open connections that are not in use
	room chan struct{} // one token for each connection that may still be opened
}

// Open prepares for at most n connections to a database by its name for the
// driver. None is opened yet.
func Open(dsn string, n int) (*Pool, error) {
	c, err := sqlite3.NewConnector(dsn)
	if err != nil {
		return nil, err
	}
	p := &Pool{DB: sql.OpenDB(c), idle: make(chan *Conn, n), room: make(chan struct{}, n)}
	p.DB.SetMaxOpenConns(n)
	p.DB.SetMaxIdleConns(n)
	for range n {
		p.room <- struct{}{}
	}
	return p, nil
}

// Get waits for a connection, which is given back with Put.
func (p *Pool) Get(ctx context.Context) (*Conn, error) {
	select {
	case c := <-p.idle:
		return c, nil
	default:
	}
	select {
	case c := <-p.idle:
		return c, nil
	case <-p.room:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	s, err := p.DB.Conn(ctx)
	if err != nil {
		p.room <- struct{}{}
		return nil, err
	}
	return New(s), nil
}

// Put gives a connection back.
func (p *Pool) Put(c *Conn) { p.idle <- c }

// all waits until no connection is in use, keeps others from using any, and returns those that are open.
func (p *Pool) all() (open []*Conn) {
	for range cap(p.room) {
		select {
		case c := <-p.idle:
			open = append(open, c)
		case <-p.room:
		}
	}
	return open
}

// Prepared returns the queries whose statements the connections keep, sorted.
// It waits for every connection.
func (p *Pool) Prepared() (queries []string) {
	open := p.all()
	for _, c := range open {
		queries = slices.AppendSeq(queries, maps.Keys(c.stmts))
		p.Put(c)
	}
	for range cap(p.room) - len(open) {
		p.room <- struct{}{}
	}
	slices.Sort(queries)
	return slices.Compact(queries)
}

// Close closes every connection, each once it was given back.
func (p *Pool) Close() error {
	var errs []error
	for _, c := range p.all() {
		errs = append(errs, c.Close())
	}
	return errors.Join(append(errs, p.DB.Close())...)
}
