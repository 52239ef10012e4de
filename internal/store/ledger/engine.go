package ledger

import (
	"context"
	"fmt"
	"hash/fnv"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/sqlconn"
	"github.com/amber-memory/amber/wire"
)

// engine is what the rows lie in. The statements are the same for all of them: those of SQLite, which others
// translate.
type engine interface {
	// name says in errors which database it is.
	name() string
	// update runs fn in a transaction that writes, alone among those that have the same lock. It returns when
	// the transaction is durable. On any error nothing of it stays. Fn runs at most once.
	update(ctx context.Context, op, id string, on lock, fn func(*tx) error) error
	// view runs fn in one view of the rows. Fn runs at most once.
	view(ctx context.Context, op, id string, fn func(*tx) error) error
	// wrap gives an error of the database its kind.
	wrap(op, id string, err error) error

	// chained is told in the transaction that appends where the audit log ended before and ends now.
	chained(t *tx, was, is mark) error
	// wrote is told after it which entry is the last.
	wrote(ctx context.Context, seq int64)
	// prepare is what a verification begins with, inspect belongs to its view and conclude comes after it.
	prepare(v *verifier) error
	inspect(t *tx, v *verifier) error
	conclude(ctx context.Context, v *verifier)

	// shared reports whether others answer requests beside this one.
	shared() bool
	// show makes sure that others see that this one answers requests, and returns its id.
	show(ctx context.Context) (string, error)
	// holder is the id that show returns.
	holder() string
	// gone reports whether another one that answered requests has ended.
	gone(t *tx, id string) (bool, error)
	// forgotten removes what deleted bodies have left behind, as far as that can be done.
	forgotten(ctx context.Context, op string) error

	// check looks at everything there is.
	check(ctx context.Context) error
	// close lets go of everything. No call is inside.
	close() error
}

// lock is what a transaction that writes has for itself. SQLite has one for everything.
type lock string

const (
	lockTokens lock = "tokens"
	lockAudit  lock = "audit"
	lockOutbox lock = "outbox"
	lockForget lock = "forget" // bodies of answers
	lockCursor lock = "cursors"
)

// answerLocks is how many locks answers share.
const answerLocks = 64

// lockOf returns the lock of an answer.
func lockOf(k wire.AnswerKey) lock {
	h := fnv.New32a()
	fmt.Fprintf(h, "%s\x00%s\x00%s\x00%s", k.Tenant, k.Agent, k.Operation, k.Key)
	return lock(fmt.Sprintf("answers-%d", h.Sum32()%answerLocks))
}

// Conn is what a transaction runs its statements on. They are written for SQLite.
type Conn interface {
	// Exec runs a statement that returns no rows and reports how many it changed.
	Exec(ctx context.Context, query string, args ...any) (int64, error)
	// Row runs a query of one row.
	Row(ctx context.Context, query string, args ...any) interface{ Scan(dest ...any) error }
	// Each runs a query and calls fn for every row. Fn runs no query.
	Each(ctx context.Context, query string, args []any, fn func(interface{ Scan(dest ...any) error }) error) error
}

// tx is one transaction. Its time is fixed when it begins.
type tx struct {
	ctx  context.Context
	conn Conn
	now  amber.Time
	skip string // what follows a choice of rows to delete that others may have chosen, too
}

// update runs fn in a write transaction, for a caller that is not inside yet.
func (d *DB) update(ctx context.Context, op, id string, on lock, fn func(*tx) error) error {
	leave, err := d.enter()
	if err != nil {
		return err
	}
	defer leave()
	return d.engine.update(ctx, op, id, on, fn)
}

// view runs fn in a read transaction, for a caller that is not inside yet.
func (d *DB) view(ctx context.Context, op, id string, fn func(*tx) error) error {
	leave, err := d.enter()
	if err != nil {
		return err
	}
	defer leave()
	return d.engine.view(ctx, op, id, fn)
}

// exec runs a statement that returns no rows and reports how many it changed.
func (t *tx) exec(query string, args ...any) (int64, error) {
	return t.conn.Exec(t.ctx, query, args...)
}

// scanner is a row.
type scanner = sqlconn.Row

// row runs a query of one row.
func (t *tx) row(query string, args ...any) scanner { return t.conn.Row(t.ctx, query, args...) }

// each runs a query and calls fn for every row. Fn runs no query.
func (t *tx) each(query string, args []any, fn func(scanner) error) error {
	return t.conn.Each(t.ctx, query, args, fn)
}
