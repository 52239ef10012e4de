package pgtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestMain(m *testing.M) {
	if os.Getenv(envDie) != "" {
		die()
	}
	os.Exit(Main(m))
}

// connect opens a session that ends with the test.
func connect(t testing.TB, dsn string) *pgx.Conn {
	t.Helper()
	conn := must.Get(pgx.Connect(t.Context(), dsn))(t)
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// run runs statements, each of which has to succeed.
func run(t testing.TB, dsn string, statements ...string) {
	t.Helper()
	conn := connect(t, dsn)
	for _, q := range statements {
		_, err := conn.Exec(t.Context(), q)
		must.Do(t, err)
	}
}

// rows counts the rows of the table t.
func rows(t testing.TB, dsn string) (n int) {
	t.Helper()
	must.Do(t, connect(t, dsn).QueryRow(t.Context(), "SELECT count(*) FROM t").Scan(&n))
	return n
}

func TestDatabasesAreSeparateAndGoWithTheirTest(t *testing.T) {
	s := Shared(t)
	var name string
	t.Run("inner", func(t *testing.T) {
		name = s.Database(t)
		run(t, s.DSN(name), "CREATE TABLE t (v int)", "INSERT INTO t VALUES (1)")
		must.Equal(t, "rows by the socket", rows(t, s.DSN(name)), 1)
		must.Equal(t, "rows by the port", rows(t, s.TCP(name)), 1)
		other := s.Database(t)
		must.Error(t, "a table of another database", must.Err(connect(t, s.DSN(other)).Exec(t.Context(), "SELECT FROM t")))
	})
	must.Error(t, "a database whose test has ended", must.Err(pgx.Connect(t.Context(), s.DSN(name))))
	must.Hold(t, Shared(t) == s, "the second call gives another server")
}

func TestSettings(t *testing.T) {
	t.Parallel()
	s := New(t, Options{ICU: "en-US", Settings: map[string]string{"application_name": `it's \ here`}})
	conn := connect(t, s.DSN("postgres"))
	show := func(name string) (v string) {
		must.Do(t, conn.QueryRow(t.Context(), "SELECT current_setting($1)", name).Scan(&v))
		return v
	}
	must.Equal(t, "fsync", show("fsync"), "off")
	must.Equal(t, "application_name", show("application_name"), `it's \ here`)
	must.Do(t, s.Alter(t.Context(), "lock_timeout", "2 s"))
	conn = connect(t, s.DSN("postgres"))
	must.Equal(t, "lock_timeout", show("lock_timeout"), "2s")
	var less bool
	must.Do(t, conn.QueryRow(t.Context(), "SELECT 'a' < 'B'").Scan(&less))
	must.Equal(t, "sorted as in a dictionary", less, true)
}

func TestACommittedRowSurvivesKill(t *testing.T) {
	t.Parallel()
	s := New(t, Options{Durable: true})
	dsn := s.DSN("postgres")
	run(t, dsn, "CREATE TABLE t (v int)", "INSERT INTO t VALUES (1)")
	open := connect(t, dsn)
	tx := must.Get(open.Begin(t.Context()))(t)
	must.Do(t, must.Err(tx.Exec(t.Context(), "INSERT INTO t VALUES (2)")))
	for range 2 {
		must.Do(t, s.Kill())
		must.Equal(t, "processes after Kill", must.Get(s.dir.pids())(t), []int(nil))
		must.Equal(t, "running after Kill", s.Running(), false)
		must.Error(t, "a session of a killed server", must.Err(pgx.Connect(t.Context(), dsn)))
		must.Do(t, s.Restart(t.Context()))
		must.Equal(t, "rows", rows(t, dsn), 1)
	}
	must.Error(t, "a session from before", must.Err(tx.Exec(t.Context(), "SELECT 1")))
	must.Says(t, "log", s.Log(), "database system was not properly shut down")
	must.Do(t, s.Stop())
	must.Do(t, s.Stop())
	must.Do(t, s.Restart(t.Context()))
	must.Equal(t, "rows after Stop", rows(t, dsn), 1)
}

func TestASuspendedServerGoesOn(t *testing.T) {
	t.Parallel()
	s := New(t, Options{})
	conn := connect(t, s.TCP("postgres"))
	must.Do(t, s.Suspend())
	got := make(chan error, 1)
	go func() { got <- must.Err(conn.Exec(t.Context(), "SELECT 1")) }()
	for _, pid := range must.Get(s.dir.pids())(t) {
		must.Equal(t, "state of a process", state(pid), "T")
	}
	select {
	case err := <-got:
		t.Fatalf("a suspended server answered: %v", err)
	default:
	}
	must.Do(t, s.Resume())
	must.Do(t, <-got)
	must.Do(t, s.Suspend()) // and is closed so
}

func TestWithoutAServer(t *testing.T) {
	t.Setenv(envBin, "")
	t.Setenv("PATH", t.TempDir())
	_, err := findServer(filepath.Join(t.TempDir(), "*", "bin"))
	t.Setenv(envNeed, "")
	must.Equal(t, "server", asked(t, err), "skipped: "+err.Error())
	must.Says(t, "server", err.Error(), "no PostgreSQL: ", "install the package postgresql")
	must.Equal(t, "lines", strings.Count(err.Error(), "\n"), 0)
	_, berr := findBouncer(t.TempDir())
	must.Equal(t, "pooler", asked(t, berr), "skipped: "+berr.Error())
	must.Says(t, "pooler", berr.Error(), "no PgBouncer: ", "install the package pgbouncer")
	must.Equal(t, "another error", asked(t, context.Canceled), "failed: context canceled")
	must.Equal(t, "no error", asked(t, nil), "")
	t.Setenv(envNeed, "required")
	must.Equal(t, "required server", asked(t, err), "failed: "+err.Error())
	must.Equal(t, "required pooler", asked(t, berr), "failed: "+berr.Error())
}

// fate is a test that notes how it ends.
type fate struct {
	testing.TB
	end string
}

func (f *fate) Skip(args ...any)  { f.end = "skipped: " + args[0].(string) }
func (f *fate) Fatal(args ...any) { f.end = "failed: " + args[0].(error).Error() }

func asked(t *testing.T, err error) string {
	f := &fate{TB: t}
	need(f, err)
	return f.end
}

func TestNewestVersionIsTaken(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for _, v := range []string{"9.6", "15", "17"} {
		must.Do(t, os.MkdirAll(filepath.Join(root, v, "bin"), 0o700))
		for _, program := range []string{"initdb", "postgres"} {
			if v == "17" && program == "postgres" {
				continue // a client alone
			}
			must.Do(t, os.WriteFile(filepath.Join(root, v, "bin", program), nil, 0o700))
		}
	}
	must.Equal(t, "folder", must.Get(findServer(filepath.Join(root, "*", "bin")))(t), filepath.Join(root, "15", "bin"))
}

func TestAGivenServerIsNotHarmed(t *testing.T) {
	s := must.Get(external(Shared(t).DSN("postgres")))(t)
	for what, err := range map[string]error{
		"kill": s.Kill(), "stop": s.Stop(), "suspend": s.Suspend(), "resume": s.Resume(), "restart": s.Restart(t.Context()),
		"promote": s.Promote(t.Context()), "standby": must.Err(s.Standby(t.Context(), "b", false)), "alter": s.Alter(t.Context(), "fsync", "off"),
	} {
		must.Kind(t, what, err, amber.KindUnsupported, envDSN)
	}
	name := s.Database(t)
	run(t, s.DSN(name), "CREATE TABLE t (v int)")
	must.Do(t, s.Close())
	must.Equal(t, "rows after Close", rows(t, s.TCP(name)), 0)
	must.Equal(t, "URL", redirect("postgres://u:p@h:1/x?sslmode=disable", "y"), "postgres://u:p@h:1/y?sslmode=disable")
	must.Kind(t, "no server", must.Err(external("host=127.0.0.1 port=1 user=u connect_timeout=2")), amber.KindUnreachable, envDSN)
}

// A copy holds what the first database was filled with, which happens once, and nothing of another copy.
func TestCopies(t *testing.T) {
	t.Parallel()
	s := Shared(t)
	var filled atomic.Int64
	fill := func(dsn string) error {
		filled.Add(1)
		c, err := pgx.Connect(context.Background(), dsn)
		if err != nil {
			return err
		}
		_, err = c.Exec(context.Background(), "CREATE TABLE kept AS SELECT 1 AS n")
		return errors.Join(err, c.Close(context.Background()))
	}
	for n := range 3 {
		c := must.Get(pgx.Connect(t.Context(), s.DSN(s.Copy(t, "copies", fill))))(t)
		var rows int
		must.Do(t, c.QueryRow(t.Context(), "SELECT count(*) FROM kept").Scan(&rows))
		must.Equal(t, "rows", rows, 1)
		must.Do(t, must.Err(c.Exec(t.Context(), "INSERT INTO kept VALUES (2)")))
		must.Do(t, c.Close(t.Context()))
		if s.Addr() != "" {
			must.Equal(t, fmt.Sprintf("times filled for %d copies", n+1), filled.Load(), int64(1))
		}
	}
}
