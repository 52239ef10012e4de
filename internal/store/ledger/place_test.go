package ledger_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/amber-memory/amber/internal/store/ledger"
	"github.com/amber-memory/amber/internal/store/postgres"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/internal/test/pgtest"
)

// both runs a test on a file and on a PostgreSQL database.
func both(t *testing.T, test func(t *testing.T, p place)) {
	t.Helper()
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		test(t, newPlace(t))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		test(t, newServerPlace(t))
	})
}

// databases are those that tests have made on the shared server. A database is emptied after a test, and the next one
// takes it: making one costs more than most tests.
var databases struct {
	sync.Mutex
	free []string
	made []string
	drop func(name string) error
}

// withDatabases runs the tests and removes the databases they made.
func withDatabases(m *testing.M) int {
	code := m.Run()
	for _, name := range databases.made {
		if err := databases.drop(name); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = max(code, 1)
		}
	}
	return code
}

// emptied takes everything out of a database.
const emptied = `BEGIN; SET LOCAL search_path = amber_home; SET LOCAL lock_timeout = '10s';
ALTER TABLE audit DISABLE TRIGGER USER; TRUNCATE tokens, audit, audit_unchained, audit_away, audit_carried, answers, outbox, commits; ALTER TABLE audit ENABLE TRIGGER USER;
UPDATE heads SET seq = 0, hash = CASE name WHEN 'audit' THEN decode(repeat('00', 32), 'hex') ELSE '' END;
TRUNCATE amber_meta.servers, amber_meta.work; COMMIT`

// newServerPlace is a database of the shared server that has its tables and no rows.
func newServerPlace(t testing.TB) place {
	t.Helper()
	s := pgtest.Shared(t)
	name := ""
	databases.Lock()
	databases.drop = func(name string) error { return s.DropDatabase(context.Background(), name) }
	if n := len(databases.free); n > 0 {
		name, databases.free = databases.free[n-1], databases.free[:n-1]
	}
	databases.Unlock()
	if name == "" {
		name = "amber_" + strings.ToLower(rand.Text())
		must.Do(t, s.CreateDatabase(t.Context(), name))
		databases.Lock()
		databases.made = append(databases.made, name)
		databases.Unlock()
	}
	t.Cleanup(func() {
		ctx := context.Background()
		c := must.Get(pgx.Connect(ctx, s.DSN(name)))(t)
		defer c.Close(ctx)
		if err := c.PgConn().Exec(ctx, emptied).Close(); err != nil {
			return // a test has changed its tables: no other test takes it again
		}
		databases.Lock()
		databases.free = append(databases.free, name)
		databases.Unlock()
	})
	return placeAt(t, s.DSN(name))
}

// placeAt is the place of a database.
func placeAt(t testing.TB, dsn string) place {
	t.Helper()
	p := newPlace(t)
	p.dsn, p.joined = dsn, &sync.Map{}
	p.server = p.connect(t)
	return p
}

// connect opens connections to the database of a place, as another process does.
func (p place) connect(t testing.TB) *postgres.Server {
	t.Helper()
	s := must.Get(postgres.Connect(t.Context(), postgres.ServerOptions{DSN: p.dsn, Clock: time.Now, Random: rand.Reader}))(t)
	t.Cleanup(func() { must.NoError(t, s.Close()) })
	return s
}

// openServer opens the ledger of a database. Each that is open is another server for others.
func (p place) openServer(t testing.TB, s *postgres.Server, o ledger.Options) *ledger.DB {
	t.Helper()
	me := must.Get(s.Join(t.Context(), postgres.PresenceOptions{Beat: time.Hour}))(t)
	d := must.Get(ledger.OpenPostgres(t.Context(), s.DB(), ledger.PostgresOptions{Clock: o.Clock, Random: o.Random, Server: me.ID()}))(t)
	p.joined.Store(d, me)
	t.Cleanup(func() { p.close(t, d) })
	return d
}

// close closes a ledger and lets others see it.
func (p place) close(t testing.TB, d *ledger.DB) {
	t.Helper()
	must.Do(t, d.Close())
	if p.server == nil {
		return
	}
	if me, ok := p.joined.LoadAndDelete(d); ok {
		must.Do(t, me.(*postgres.Presence).Leave(context.Background()))
	}
}

// mourn lets the time pass after which children that were killed are gone for others.
func (p place) mourn(t testing.TB) {
	t.Helper()
	if p.server != nil {
		p.query(t, `UPDATE amber_meta.servers SET seen_at = now() - interval '31 seconds' WHERE name = 'child'`)
	}
}

// query runs a statement of PostgreSQL as its superuser.
func (p place) query(t testing.TB, query string, args ...any) {
	t.Helper()
	must.Do(t, p.server.DB().Conn(t.Context(), func(c *pgx.Conn) error {
		tx, err := c.Begin(t.Context())
		if err != nil {
			return err
		}
		defer tx.Rollback(context.Background())
		if _, err = tx.Exec(t.Context(), `SET LOCAL search_path = amber_home`); err == nil {
			_, err = tx.Exec(t.Context(), query, args...)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", query, err)
		}
		return tx.Commit(t.Context())
	}))
}

// do changes the database as another program would.
func (p place) do(t testing.TB, lite, pg string, args ...any) {
	t.Helper()
	if p.server != nil {
		p.query(t, pg, args...)
		return
	}
	p.exec(t, p.raw(t), lite, args...)
}

// count returns how many rows a table has.
func (p place) count(t testing.TB, table string) (n int) {
	t.Helper()
	if p.server == nil {
		must.Do(t, p.raw(t).QueryRow(`SELECT count(*) FROM `+table).Scan(&n))
		return n
	}
	must.Do(t, p.server.DB().Conn(t.Context(), func(c *pgx.Conn) error {
		return c.QueryRow(t.Context(), `SELECT count(*) FROM amber_home.`+table).Scan(&n)
	}))
	return n
}

// lock keeps everybody else from writing something.
func (p place) lock(t testing.TB, name string) (unlock func()) {
	t.Helper()
	if p.server == nil {
		raw := p.raw(t)
		p.exec(t, raw, `BEGIN IMMEDIATE`)
		return func() { p.exec(t, raw, `COMMIT`) }
	}
	c := must.Get(pgx.Connect(t.Context(), p.dsn))(t)
	tx := must.Get(c.Begin(t.Context()))(t)
	must.Get(tx.Exec(t.Context(), `SELECT 1 FROM amber_home.heads WHERE name = $1 FOR UPDATE`, name))(t)
	return sync.OnceFunc(func() {
		must.NoError(t, tx.Commit(context.Background()))
		must.NoError(t, c.Close(context.Background()))
	})
}

// dump returns every row of the database, bytes as they are.
func (p place) dump(t testing.TB) (all []byte) {
	t.Helper()
	must.Do(t, p.server.DB().Conn(t.Context(), func(c *pgx.Conn) error {
		tx, err := c.Begin(t.Context())
		if err != nil {
			return err
		}
		defer tx.Rollback(context.Background())
		if _, err := tx.Exec(t.Context(), `SET LOCAL bytea_output = escape`); err != nil {
			return err
		}
		for _, table := range []string{"tokens", "audit", "audit_unchained", "audit_away", "audit_carried", "answers", "outbox", "heads", "commits"} {
			rows, err := tx.Query(t.Context(), `SELECT r::text FROM amber_home.`+table+` r`)
			if err != nil {
				return err
			}
			texts, err := pgx.CollectRows(rows, pgx.RowTo[string])
			if err != nil {
				return err
			}
			all = append(all, strings.Join(texts, "\n")...)
		}
		return nil
	}))
	return all
}
