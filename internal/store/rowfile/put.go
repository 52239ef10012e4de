package rowfile

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/amber-memory/amber/internal/base/sqlconn"
)

// Count is how many rows a table has.
func (u *Updater) Count(ctx context.Context, t Table) (n int64, err error) {
	err = u.conn.Row(ctx, fmt.Sprintf(`SELECT count(*) FROM %q`, t.Name)).Scan(&n)
	return n, outdated(t.Name, err)
}

// Each calls fn with every row of a table, as it is by now, in the order of its key. The slice is good until fn returns. Errors: those of fn; [ErrOutdated].
func (u *Updater) Each(ctx context.Context, t Table, fn func(row []any) error) error {
	scan := t.scan()
	var own error
	err := u.conn.Each(ctx, fmt.Sprintf(`SELECT %s FROM %q ORDER BY %s`, quoted(t.Names()), t.Name, quoted(t.Key)), nil, func(s sqlconn.Row) error {
		row, err := scan(s)
		if err != nil {
			return err
		}
		own = fn(row)
		return own
	})
	if own != nil {
		return own
	}
	return outdated(t.Name, err)
}

// Put makes a table hold the rows that next returns until it returns nil, in any order, beside those it has with other keys. It reads each
// of them again, and tells how many there were and how many of them were not there before. Errors: those of next, and [ErrOutdated], after
// which the table is as it was: a row that is to go may stand in the way of one that comes.
func (u *Updater) Put(ctx context.Context, t Table, next func() ([]any, error)) (rows, changed int64, err error) {
	var c changes
	one := u.one(t)
	for {
		row, err := next()
		if err != nil {
			return 0, 0, err
		}
		if row == nil {
			break
		}
		rows++
		there, err := one(ctx, row)
		if err == nil && there != nil && equal(row, there) {
			continue
		}
		if err == nil {
			err = c.note(row)
		}
		if err != nil {
			return 0, 0, outdated(t.Name, err)
		}
		if there != nil {
			c.gone = append(c.gone, pick(keyOf(t), there))
		}
		c.come = append(c.come, row)
	}
	if _, err := u.conn.SQL.ExecContext(ctx, "SAVEPOINT put"); err != nil {
		return 0, 0, outdated(t.Name, err)
	}
	end := "RELEASE put"
	if err = u.apply(ctx, t, c); err == nil {
		err = check(ctx, c.come, one)
	}
	if err != nil {
		end = "ROLLBACK TO put; RELEASE put"
	}
	_, rerr := u.conn.SQL.ExecContext(context.WithoutCancel(ctx), end)
	return rows, int64(len(c.come)), outdated(t.Name, errors.Join(err, rerr))
}

// check reads rows that were written.
func check(ctx context.Context, rows [][]any, one func(context.Context, []any) ([]any, error)) error {
	for _, row := range rows {
		there, err := one(ctx, row)
		if err != nil {
			return err
		}
		if there == nil || !equal(row, there) {
			return errors.New("a row that was written reads as another one")
		}
	}
	return nil
}

// one reads the row of a table that has the key of another; nil where there is none.
func (u *Updater) one(t Table) func(ctx context.Context, like []any) ([]any, error) {
	key, scan := keyOf(t), t.scan()
	q := fmt.Sprintf(`SELECT %s FROM %q WHERE %s`, quoted(t.Names()), t.Name, byKey(t))
	return func(ctx context.Context, like []any) ([]any, error) {
		there, err := scan(u.conn.Row(ctx, q, pick(key, like)...))
		if errors.Is(err, sql.ErrNoRows) {
			return nil, nil
		}
		return slices.Clone(there), err
	}
}

// byKey is the condition for one row.
func byKey(t Table) string {
	where := make([]string, len(t.Key))
	for i, name := range t.Key {
		where[i] = fmt.Sprintf("%q = ?", name)
	}
	return strings.Join(where, " AND ")
}

// Keys is the table with the columns of its key alone.
func (t Table) Keys() Table {
	k := Table{Name: t.Name, Key: t.Key}
	for _, i := range keyOf(t) {
		k.Columns = append(k.Columns, t.Columns[i])
	}
	return k
}

// Keep deletes the rows of a table whose keys next does not return, until it returns nil, in the order of the key, and tells how many that
// were. Errors: those of next; [ErrOutdated], also where a key is not in the table.
func (u *Updater) Keep(ctx context.Context, t Table, next func() ([]any, error)) (deleted int64, err error) {
	c, err := u.compare(ctx, t.Keys(), next)
	if err != nil {
		return 0, err
	}
	if len(c.come) > 0 {
		return 0, outdated(t.Name, fmt.Errorf("%d rows are missing", len(c.come)))
	}
	return int64(len(c.gone)), outdated(t.Name, u.apply(ctx, t, c))
}
