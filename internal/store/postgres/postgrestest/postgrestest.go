// Package postgrestest makes databases with the tables of Amber for tests. The tables are made once for a server; each
// database is a copy. It is for tests.
package postgrestest

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/amber-memory/amber/internal/store/postgres/schema"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/internal/test/pgtest"
)

// ownNames are what no two databases have in common: which database it is, and what tokens of vaults are sealed with.
const ownNames = `UPDATE amber_meta.identity SET id = gen_random_uuid();
UPDATE amber_home.heads SET hash = decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex') WHERE name = 'vault'`

// Database makes a database of a server with the newest tables and no rows, as the first program that connects to an
// empty database does, and returns its name.
func Database(tb testing.TB, s *pgtest.Server) string {
	tb.Helper()
	name := s.Copy(tb, "amber", fill)
	conn := must.Get(pgx.Connect(tb.Context(), s.DSN(name)))(tb)
	_, err := conn.PgConn().Exec(tb.Context(), ownNames).ReadAll()
	must.Do(tb, err)
	must.Do(tb, conn.Close(tb.Context()))
	return name
}

func fill(dsn string) error {
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	_, err = schema.Run(ctx, conn, schema.Options{ExpandOnly: true})
	return errors.Join(err, conn.Close(ctx))
}
