package nexo

import (
	"context"
	"database/sql"
	"errors"

	"github.com/amber-memory/amber/internal/base/sqlconn"
)

// conn is a connection to a database of nexo's, for the length of one import
// or export.
type conn struct {
	*sqlconn.Conn
	ctx context.Context
}

func (c conn) exec(query string, args ...any) error {
	_, err := c.Exec(c.ctx, query, args...)
	return err
}

func (c conn) row(query string, args ...any) sqlconn.Row { return c.Row(c.ctx, query, args...) }

func (c conn) each(query string, args []any, fn func(sqlconn.Row) error) error {
	return c.Each(c.ctx, query, args, fn)
}

// all collects what scan makes of every row.
func all[T any](c conn, scan func(sqlconn.Row) (T, error), query string, args ...any) (out []T, err error) {
	err = c.each(query, args, func(s sqlconn.Row) error {
		v, err := scan(s)
		out = append(out, v)
		return err
	})
	return out, err
}

// absent reports whether a query found no row.
func absent(err error) bool { return errors.Is(err, sql.ErrNoRows) }
