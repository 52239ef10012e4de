package pgtest

import (
	"context"
	"crypto/rand"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

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

// DropDatabase removes a database and ends the sessions in it.
func (s *Server) DropDatabase(ctx context.Context, name string) error {
	return s.exec(ctx, "DROP DATABASE IF EXISTS "+pgx.Identifier{name}.Sanitize()+" WITH (FORCE)")
}

// Database makes an empty database with a name of its own and returns the name. The database is
// dropped when the test ends, if the server still runs then.
func (s *Server) Database(tb testing.TB) string {
	tb.Helper()
	name := "amber_" + strings.ToLower(rand.Text())
	if err := s.CreateDatabase(tb.Context(), name); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if !s.Running() {
			return
		}
		if err := s.DropDatabase(context.Background(), name); err != nil && s.given != "" {
			tb.Errorf("drop the database %s: %v", name, err) // others go with their folder
		}
	})
	return name
}
