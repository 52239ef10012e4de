package pgtest

import (
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/amber-memory/amber/internal/test/must"
)

// TestClientsShareTheConnectionsOfAPooler has more clients than connections. SET LOCAL ends
// with its transaction, so no client sees that of another.
func TestClientsShareTheConnectionsOfAPooler(t *testing.T) {
	t.Parallel()
	s := Shared(t)
	name := s.Database(t)
	b := NewBouncer(t, s, BouncerOptions{PoolSize: 2})
	run(t, b.DSN(name), "CREATE TABLE t (v int)")
	var clients sync.WaitGroup
	for range 8 {
		conn := connect(t, b.DSN(name)+" default_query_exec_mode=cache_describe")
		clients.Go(func() {
			for i := range 10 {
				must.NoError(t, pgx.BeginFunc(t.Context(), conn, func(tx pgx.Tx) error {
					var seen string
					if err := tx.QueryRow(t.Context(), "SELECT coalesce(current_setting('amber.gen', $1), '')", true).Scan(&seen); err != nil {
						return err
					}
					must.Hold(t, seen == "", "a transaction sees the setting %q of another", seen)
					if _, err := tx.Exec(t.Context(), "SET LOCAL amber.gen = 'x'"); err != nil {
						return err
					}
					_, err := tx.Exec(t.Context(), "INSERT INTO t VALUES ($1)", i)
					return err
				}))
			}
		})
	}
	clients.Wait()
	conn := connect(t, s.DSN(name))
	var written, used int
	must.Do(t, conn.QueryRow(t.Context(), "SELECT count(*) FROM t").Scan(&written))
	must.Equal(t, "rows", written, 80)
	must.Do(t, conn.QueryRow(t.Context(),
		"SELECT count(*) FROM pg_stat_activity WHERE datname = $1 AND backend_type = 'client backend' AND pid <> pg_backend_pid()", name).Scan(&used))
	must.Hold(t, used <= 2, "PgBouncer has %d connections, want at most 2", used)
}
