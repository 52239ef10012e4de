package schema

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/internal/test/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// connect opens a connection that the test closes.
func connect(t testing.TB, database, role string) *pgx.Conn {
	t.Helper()
	config := must.Get(pgx.ParseConfig(pgtest.Shared(t).DSN(database)))(t)
	if role != "postgres" {
		config.User = role
	}
	c := must.Get(pgx.ConnectConfig(t.Context(), config))(t)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		must.NoError(t, c.Close(ctx))
	})
	return c
}

// database makes an empty database, and returns its name and a connection to it.
func database(t testing.TB, options string) (string, *pgx.Conn) {
	t.Helper()
	name := pgtest.Shared(t).Database(t)
	if options != "" {
		admin := connect(t, "postgres", "postgres")
		do(t, admin, "DROP DATABASE "+name)
		do(t, admin, "CREATE DATABASE "+name+" "+options)
	}
	return name, connect(t, name, "postgres")
}

func do(t testing.TB, c *pgx.Conn, sql string, args ...any) {
	t.Helper()
	if _, err := c.Exec(t.Context(), sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// list returns the one column of a query.
func list[T any](t testing.TB, q Querier, sql string, args ...any) []T {
	t.Helper()
	rows, err := q.Query(t.Context(), sql, args...)
	must.Do(t, err)
	return must.Get(pgx.CollectRows(rows, pgx.RowTo[T]))(t)
}
