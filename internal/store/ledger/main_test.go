package ledger_test

import (
	"bufio"
	"context"
	"crypto/rand"
	"database/sql"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	_ "modernc.org/sqlite"

	"github.com/amber-memory/amber/internal/store/ledger"
	"github.com/amber-memory/amber/internal/store/postgres"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/internal/test/pgtest"
	"github.com/amber-memory/amber/store/storetest"
	"github.com/amber-memory/amber/wire"
)

var full = flag.Bool("ledger.full", false, "fill the whole outbox, and change every row of the audit log")

// childVariable says what a copy of the test binary is to do instead of
// testing: real processes can be killed.
const childVariable = "AMBER_HOMEDB_TEST_CHILD"

// childDSN names the database of a child that works on PostgreSQL.
const childDSN = "AMBER_HOMEDB_TEST_DSN"

// runner runs tests.
type runner func() int

func (r runner) Run() int { return r() }

func TestMain(m *testing.M) {
	job := os.Getenv(childVariable)
	if job == "" {
		goleak.VerifyTestMain(runner(func() int { // after the server is gone
			return pgtest.Main(runner(func() int { return withDatabases(m) }))
		}))
		return
	}
	if err := child(strings.Fields(job)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// child does one job: "record DIR NAME" until it is killed, or "answer DIR",
// which begins an answer and never ends it.
func child(job []string) error {
	ctx := context.Background()
	d, err := openChild(ctx, job[1])
	if err != nil {
		return err
	}
	if job[0] == "answer" {
		if _, err := d.BeginAnswer(ctx, keyNamed("cut off"), "digest", true); err != nil {
			return err
		}
		fmt.Println("begun")
		return must.Err(io.Copy(io.Discard, os.Stdin))
	}
	for i := 0; ; i++ {
		subject := fmt.Sprintf("%s-%d", job[2], i)
		if err := d.Record(ctx, entry(subject)); err != nil {
			return err
		}
		fmt.Println(subject)
	}
}

func openChild(ctx context.Context, dir string) (*ledger.DB, error) {
	dsn := os.Getenv(childDSN)
	if dsn == "" {
		return ledger.Open(ctx, filepath.Join(dir, "home.db"), ledger.Options{
			Clock: time.Now, Random: rand.Reader, Head: filepath.Join(dir, "keys", "audit-head"),
		})
	}
	s, err := postgres.Connect(ctx, postgres.ServerOptions{DSN: dsn, Clock: time.Now, Random: rand.Reader})
	if err != nil {
		return nil, err
	}
	me, err := s.Join(ctx, postgres.PresenceOptions{Name: "child"})
	if err != nil {
		return nil, err
	}
	return ledger.OpenPostgres(ctx, s.DB(), ledger.PostgresOptions{Clock: s.Now, Random: rand.Reader, Server: me.ID()})
}

// start runs a copy of the test binary on the place. It ends with the test at the latest.
func (p place) start(t *testing.T, job string, more ...string) (lines *bufio.Scanner, kill func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVariable+"="+strings.Join(append([]string{job, p.dir}, more...), " "), childDSN+"="+p.dsn)
	cmd.Stderr = os.Stderr
	out := must.Get(cmd.StdoutPipe())(t)
	must.Get(cmd.StdinPipe())(t)
	must.Do(t, cmd.Start())
	kill = sync.OnceFunc(func() {
		_ = cmd.Process.Kill()
	})
	t.Cleanup(func() {
		kill()
		_, _ = io.Copy(io.Discard, out)
		_ = cmd.Wait() // killed
	})
	return bufio.NewScanner(out), kill
}

// place is a home with a database, or a PostgreSQL database with the same.
type place struct {
	dir   string
	clock *storetest.Clock

	dsn    string           // "" for a home
	server *postgres.Server // that everybody who opens the ledger shares
	joined *sync.Map        // by *ledger.DB: its presence
}

func newPlace(t testing.TB) place {
	return place{dir: t.TempDir(), clock: storetest.NewClock(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))}
}

func (p place) path() string { return filepath.Join(p.dir, "home.db") }
func (p place) head() string { return filepath.Join(p.dir, "keys", "audit-head") }

func (p place) options() ledger.Options {
	return ledger.Options{Clock: p.clock.Now, Random: rand.Reader, Head: p.head()}
}

func (p place) open(t testing.TB) *ledger.DB {
	t.Helper()
	return p.openWith(t, p.options())
}

// opened returns a new place and its database.
func opened(t testing.TB) (place, *ledger.DB) {
	t.Helper()
	p := newPlace(t)
	return p, p.open(t)
}

// raw opens the file as another program would.
func (p place) raw(t testing.TB) *sql.DB {
	t.Helper()
	db := must.Get(sql.Open("sqlite", "file:"+p.path()+"?_pragma=busy_timeout(1000)"))(t)
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { must.Do(t, db.Close()) })
	return db
}

func (p place) exec(t testing.TB, db *sql.DB, query string, args ...any) {
	t.Helper()
	if _, err := db.Exec(query, args...); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

// bytes returns everything the place holds.
func (p place) bytes(t testing.TB) []byte {
	t.Helper()
	if p.server != nil {
		return p.dump(t)
	}
	var all []byte
	must.Do(t, filepath.WalkDir(p.dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		all = append(all, b...)
		return err
	}))
	return all
}

func (p place) copy(t testing.TB) place {
	t.Helper()
	q := place{dir: t.TempDir(), clock: p.clock}
	must.Do(t, os.CopyFS(q.dir, os.DirFS(p.dir)))
	return q
}

func entry(subject string) wire.AuditEntry {
	return wire.AuditEntry{
		Tenant: "acme", Agent: "bob", Actor: "local", Action: "memory.write",
		Subject: subject, Outcome: "ok", RequestID: "r-" + subject,
	}
}

func record(t testing.TB, d *ledger.DB, subjects ...string) {
	t.Helper()
	for _, s := range subjects {
		must.Do(t, d.Record(context.Background(), entry(s)))
	}
}

func (p place) openWith(t testing.TB, o ledger.Options) *ledger.DB {
	t.Helper()
	if p.server != nil {
		return p.openServer(t, p.server, o)
	}
	d := must.Get(ledger.Open(context.Background(), p.path(), o))(t)
	t.Cleanup(func() { must.Do(t, d.Close()) })
	return d
}
