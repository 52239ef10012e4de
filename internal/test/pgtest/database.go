package pgtest

import (
	"context"
	"crypto/rand"
	"errors"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/amber-memory/amber"
)

// external is the server of a DSN.
func external(dsn string) (*Server, error) {
	s := &Server{given: dsn}
	if err := s.exec(context.Background(), "SELECT 1"); err != nil {
		return nil, amber.Errorf(amber.KindUnreachable, "pgtest.start", "", "the server of %s does not answer: %w", envDSN, err)
	}
	return s, nil
}

// DSN names a database for the superuser, by the socket of the server. More settings can be
// written behind it, as " default_query_exec_mode=exec".
func (s *Server) DSN(database string) string {
	if s.given != "" {
		return redirect(s.given, database)
	}
	return dsn(s.dir.path, strconv.Itoa(s.port), database)
}

// TCP is DSN by the port of the server.
func (s *Server) TCP(database string) string {
	if s.given != "" {
		return redirect(s.given, database)
	}
	return dsn("127.0.0.1", strconv.Itoa(s.port), database)
}

// Addr is the port of the server, as host:port, for [NewProxy]. It is empty for a server that
// was there before the tests.
func (s *Server) Addr() string {
	if s.given != "" {
		return ""
	}
	return loopback(s.port)
}

// Hosts names a database of whichever server can be written: the DSN of a program that is to
// follow a primary.
func Hosts(database string, servers ...*Server) string {
	var hosts, ports []string
	for _, s := range servers {
		hosts, ports = append(hosts, "127.0.0.1"), append(ports, strconv.Itoa(s.port))
	}
	return dsn(strings.Join(hosts, ","), strings.Join(ports, ","), database) + " target_session_attrs=read-write"
}

func dsn(host, port, database string) string {
	return "host=" + host + " port=" + port + " user=postgres dbname=" + word(database) + " sslmode=disable"
}

// word is a value of a DSN.
func word(s string) string {
	return "'" + strings.ReplaceAll(strings.ReplaceAll(s, `\`, `\\`), "'", `\'`) + "'"
}

// redirect names another database of the server of a DSN, which is an URL or a list of words.
func redirect(dsn, database string) string {
	if u, err := url.Parse(dsn); err == nil && strings.HasPrefix(u.Scheme, "postgres") {
		u.Path = "/" + database
		return u.String()
	}
	return dsn + " dbname=" + word(database)
}

// CreateDatabase makes an empty database.
func (s *Server) CreateDatabase(ctx context.Context, name string) error {
	return s.exec(ctx, "CREATE DATABASE "+pgx.Identifier{name}.Sanitize())
}

// template is a database that others are copies of.
type template struct {
	once sync.Once
	name string
	err  error
}

// Copy makes a database that is a copy of one that fill made, and returns its name. Fill is called once for the server,
// with the address of an empty database, and leaves no connection open; kind is what fill makes. A server that was there
// before the tests keeps nothing: fill is called for every database there. The database is dropped when the test ends.
func (s *Server) Copy(tb testing.TB, kind string, fill func(dsn string) error) string {
	tb.Helper()
	name := newName()
	var err error
	if s.given != "" {
		err = s.CreateDatabase(tb.Context(), name)
		if err == nil {
			err = fill(s.DSN(name))
		}
	} else {
		err = s.copy(tb.Context(), name, kind, fill)
	}
	if err != nil {
		tb.Fatal(err)
	}
	s.dropLater(tb, name)
	return name
}

func (s *Server) copy(ctx context.Context, name, kind string, fill func(dsn string) error) error {
	found, _ := s.templates.LoadOrStore(kind, &template{name: newName()})
	t := found.(*template)
	t.once.Do(func() {
		if t.err = s.CreateDatabase(ctx, t.name); t.err == nil {
			t.err = fill(s.DSN(t.name))
		}
	})
	if t.err != nil {
		return t.err
	}
	// Copying files costs half of what copying through the log does, where nothing is synced.
	q := "CREATE DATABASE " + pgx.Identifier{name}.Sanitize() + " TEMPLATE " + pgx.Identifier{t.name}.Sanitize()
	err := s.exec(ctx, q+" STRATEGY FILE_COPY")
	var older *pgconn.PgError
	if errors.As(err, &older) && older.Code == "42601" { // a syntax error: PostgreSQL 14 knows no strategies
		err = s.exec(ctx, q)
	}
	return err
}

func newName() string { return "amber_" + strings.ToLower(rand.Text()) }

// DropDatabase removes a database and ends the sessions in it.
func (s *Server) DropDatabase(ctx context.Context, name string) error {
	return s.exec(ctx, "DROP DATABASE IF EXISTS "+pgx.Identifier{name}.Sanitize()+" WITH (FORCE)")
}

// Database makes an empty database with a name of its own and returns the name. The database is
// dropped when the test ends, if the server still runs then.
func (s *Server) Database(tb testing.TB) string {
	tb.Helper()
	name := newName()
	if err := s.CreateDatabase(tb.Context(), name); err != nil {
		tb.Fatal(err)
	}
	s.dropLater(tb, name)
	return name
}

// dropLater drops a database when the test ends.
func (s *Server) dropLater(tb testing.TB, name string) {
	tb.Cleanup(func() {
		if !s.Running() {
			return
		}
		if err := s.DropDatabase(context.Background(), name); err != nil && s.given != "" {
			tb.Errorf("drop the database %s: %v", name, err) // others go with their folder
		}
	})
}
