package schema

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/amber-memory/amber/internal/test/must"
)

// Migrations are migrations that need not be those of this program.
type Migrations = set

// With are the released migrations and others behind them.
func With(t *testing.T, more map[string]string) Migrations { return with(t, more) }

// UpTo are the released migrations up to a number.
func UpTo(t *testing.T, number int) Migrations { return must.Get(known())(t)[:number] }

// Run is [Run] of these.
func (s set) Run(ctx context.Context, conn *pgx.Conn, o Options) (Report, error) {
	return s.run(ctx, conn, o)
}
