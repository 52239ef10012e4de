package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/amber-memory/amber/internal/base/pgdb"
	"github.com/amber-memory/amber/internal/base/pgerr"
	"github.com/amber-memory/amber/internal/store/postgres/schema"
)

// Migrate brings a database to the newest schema; by is who says so, for its records. Errors: those of [schema.Run].
func Migrate(ctx context.Context, o ServerOptions, by string) (report schema.Report, err error) {
	err = o.onConn(ctx, func(c *pgx.Conn) (err error) {
		report, err = schema.Run(ctx, c, schema.Options{By: by})
		return err
	})
	return report, err
}

// PlanMigration returns the schema of a database, 0 for an empty one, and what it lacks. Nothing is
// changed. Errors: those of [schema.Plan].
func PlanMigration(ctx context.Context, o ServerOptions) (from schema.Version, steps []schema.Step, err error) {
	err = o.onConn(ctx, func(c *pgx.Conn) (err error) {
		from, steps, err = schema.Plan(ctx, c)
		return err
	})
	return from, steps, err
}

// onConn runs fn on a connection to a database of any schema.
func (o ServerOptions) onConn(ctx context.Context, fn func(*pgx.Conn) error) error {
	db, err := pgdb.Open(o.pgdb())
	if err != nil {
		return err
	}
	defer db.Close()
	return pgerr.Wrap("migrate database", "", db.Conn(ctx, fn))
}

func (o ServerOptions) pgdb() pgdb.Options {
	p := pgdb.Options{DSN: o.DSN, Pooled: o.Pooled, Plain: o.Plain, Connections: o.Connections, Lock: o.Lock, Settle: o.Settle, Dialect: dialect, Clock: o.Clock}
	if seen, err := o.readSeen(); err == nil && seen != nil && !o.Restored { // a file that is damaged is told when the database is compared with it
		p.System, p.Timeline, p.Accepted = seen.System, seen.Timeline, seen.isAccepted
	}
	return p
}
