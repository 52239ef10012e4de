package postgres

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fifo"
	"github.com/amber-memory/amber/internal/base/pgdb"
	"github.com/amber-memory/amber/internal/base/pgerr"
	"github.com/amber-memory/amber/internal/store/postgres/schema"
)

// ServerOptions say how a database is reached. DSN, Clock and Random are required.
type ServerOptions struct {
	// DSN names the server, as libpq does. It may hold a password and is never shown.
	DSN string
	// Pooled says that a pooler lies between, also where that cannot be seen.
	Pooled bool
	// Plain allows a connection beyond this machine without a certificate that was checked.
	Plain bool
	// Connections at most; default 16.
	Connections int
	// Lock is how long a writer waits for one of another process; default 10 s.
	Lock time.Duration
	// Settle is how long a writer tries to find out what became of a commit that was not answered; default 15 s.
	Settle time.Duration
	// Migrate brings an older database to the newest schema as far as that only adds. An
	// empty one is always made.
	Migrate bool
	// Look connects to a database only to examine it: nothing is made or migrated, and [Server.Settings] says what is
	// wrong with its schema.
	Look bool
	// Seen is the file of a home in which its servers note how far the database is, see [Server.Watch]. A database that was set back since
	// is not opened. "": none is looked at.
	Seen string
	// Tenant is whose own database it is, "" for the common one: the command that accepts a restore names it.
	Tenant amber.TenantID
	// Restored opens a database also where it was set back, for [Server.Restored].
	Restored bool
	// Clock is this machine's. Times that are written are the server's, which all programs
	// share: the clock here only carries them on.
	Clock  amber.Clock
	Random io.Reader
}

// Server is a database that agents live in. It is safe for concurrent use.
type Server struct {
	db   *pgdb.DB
	life *pgdb.DB // for signs of life and leases, which do not wait for statements of agents
	o    ServerOptions

	// ahead is how many milliseconds the server's clock is ahead of this machine's.
	ahead atomic.Int64

	lines fifo.Lines[lineKey] // of the writers that lock one head
}

// lineKey names a head that writers lock.
type lineKey struct {
	tenant amber.TenantID
	agent  amber.AgentID
	log    string
}

// dialect is how the statements of the contracts become those of PostgreSQL.
var dialect = &pgdb.Dialect{Front: "gen", Keys: map[string][]string{
	"departed":        {"scope", "id"},
	"erased":          {"id"},
	"idempotency":     {"operation", "key"},
	"index_cursors":   {"place"},
	"index_lists":     {"segment", "term"},
	"index_signs":     {"model", "chunk"},
	"index_state":     {"key"},
	"index_tail":      {"row"},
	"index_vectors":   {"model", "row"},
	"sync_imports":    {"place", "first_seq"},
	"sync_links":      {"tool", "chunk", "ordinal"},
	"sync_quarantine": {"place", "chunk"},
	"sync_removed":    {"scope", "record", "place"},
	"sync_waiting":    {"from_id", "to_id", "type"},
}}

// Connect opens a database and looks whether this program can work on it. An empty one gets
// its tables. Errors: those of [schema.Check] and [schema.Run]; unreachable; refused.
func Connect(ctx context.Context, o ServerOptions) (*Server, error) {
	if o.Clock == nil || o.Random == nil {
		return nil, amber.Errorf(amber.KindInvalid, "open database", "", "clock and random source are required")
	}
	s, err := newServer(o, o.pgdb())
	if err != nil || o.Look {
		return s, err
	}
	if err := s.ready(ctx); err != nil {
		_ = s.Close() // it only closes connections
		return nil, err
	}
	return s, nil
}

// lifeConnections is how many connections a server has beside the others to show that it lives.
const lifeConnections = 2

func newServer(o ServerOptions, p pgdb.Options) (*Server, error) {
	db, err := pgdb.Open(p)
	if err != nil {
		return nil, err
	}
	p.Name, p.Connections = "amber life", lifeConnections
	life, err := pgdb.Open(p)
	if err != nil {
		db.Close()
		return nil, err
	}
	return &Server{db: db, life: life, o: o}, nil
}

// Await is [Connect] for a database that does not answer yet: the first connection examines the database, and the
// server does not use it before its schema fits and accept returned nil. Await makes no tables. Errors: invalid;
// refused.
func Await(o ServerOptions, accept func(Settings) error) (*Server, error) {
	if o.Clock == nil || o.Random == nil || accept == nil {
		return nil, amber.Errorf(amber.KindInvalid, "open database", "", "clock, random source and who accepts the database are required")
	}
	p := o.pgdb()
	var s *Server
	p.Check = func(ctx context.Context, c *pgx.Conn) error {
		x, err := readSettings(ctx, c)
		if err == nil {
			err = accept(x)
		}
		return pgerr.Wrap("open database", "", s.sameOrLater(ctx, c, err))
	}
	s, err := newServer(o, p)
	return s, err
}

// sameOrLater reports whether a database was set back since servers of this home have noted how far it was. Err is what is known of it so far.
func (s *Server) sameOrLater(ctx context.Context, c *pgx.Conn, err error) error {
	seen, broken := s.o.readSeen()
	switch {
	case broken != nil:
		return broken
	case errors.Is(err, schema.ErrEmpty) && seen != nil: // it is dropped, or not restored yet
		return seen.emptied(s.o.Seen, s.o.accepting())
	case err != nil || seen == nil || s.o.Restored:
		return err
	}
	return s.compareTo(ctx, c, seen)
}

// ready looks at the schema, and makes or expands it where that is wanted.
func (s *Server) ready(ctx context.Context) error {
	return pgerr.Wrap("open database", "", s.db.Conn(ctx, func(c *pgx.Conn) error {
		v, err := schema.Check(ctx, c)
		if errors.Is(err, schema.ErrEmpty) {
			if err := s.sameOrLater(ctx, c, err); !errors.Is(err, schema.ErrEmpty) {
				return err
			}
		}
		behind := errors.Is(err, schema.ErrOlder) || err == nil && v.Number < schema.Newest()
		if errors.Is(err, schema.ErrEmpty) || s.o.Migrate && behind {
			if _, err = schema.Run(ctx, c, schema.Options{ExpandOnly: true}); err == nil {
				_, err = schema.Check(ctx, c)
			}
		}
		if err != nil {
			return err
		}
		var now int64
		if err := c.QueryRow(ctx, selectNow).Scan(&now); err != nil {
			return err
		}
		s.heard(now)
		return s.sameOrLater(ctx, c, nil)
	}))
}

// clockNow is the time of the server in milliseconds.
const (
	clockNow  = `(extract(epoch FROM clock_timestamp()) * 1000)::int8`
	selectNow = `SELECT ` + clockNow
)

// DB is the database, for packages beside this one. Code that carries rows of agents says in each transaction which
// generation it is about. The database is closed with the server.
func (s *Server) DB() *pgdb.DB { return s.db }

// Close closes every connection, each once it was given back.
func (s *Server) Close() error {
	s.db.Close()
	s.life.Close()
	return nil
}

// Now is the time of the server, as far as it is known: what it said last, carried on by the clock of
// this machine.
func (s *Server) Now() time.Time {
	return s.o.Clock().Add(time.Duration(s.ahead.Load()) * time.Millisecond)
}

// heard notes what time the server has.
func (s *Server) heard(ms int64) { s.ahead.Store(ms - s.o.Clock().UnixMilli()) }
