package foreign

import (
	"context"
	"errors"
	"fmt"
)

// Row is one row of a table, by the names of its columns.
type Row struct {
	N       int64 // from 1
	TooLong int64 // how many of its values have more than [MaxItemBytes] and read as null
	values  map[string]any
}

// Rows calls fn with each row of a table, in the order in which they are stored. Each row has every column that the table
// has. The error is that of fn, or a [*TableError].
func (d *Database) Rows(ctx context.Context, table string, fn func(Row) error) error {
	t, ok := d.tables[table]
	if !ok {
		return nil
	}
	r := &reading{table: t, name: table, fn: fn}
	err := d.walk(ctx, table, t)
	if err == nil {
		err = d.all(ctx, r)
	}
	if r.told != nil {
		return r.told
	}
	if err = errors.Join(err, d.unchanged()); err != nil {
		return &TableError{table, r.n, err}
	}
	return nil
}

// EachRow calls fn with each row of a table and its place, as Rows does. A row with a value that is too long, and where the
// table stops being readable, is told to skip. The error is that of fn or of ctx.
func (d *Database) EachRow(ctx context.Context, table string, skip SkipFunc, fn func(Place, Row) error) error {
	err := d.Rows(ctx, table, func(r Row) error {
		at := Place{File: d.name, At: fmt.Sprintf("%s, row %d", table, r.N)}
		if r.TooLong > 0 {
			skip(at, "row has a value of more than %d bytes, the limit", MaxItemBytes)
			return nil
		}
		return fn(at, r)
	})
	return unlessTorn(ctx, err, skip, Place{File: d.name})
}

// RowsOrSkip calls fn with each row of a table, as Rows does. It reports to skip where the table stops being readable.
func (d *Database) RowsOrSkip(ctx context.Context, table string, skip SkipFunc, fn func(Row) error) error {
	return unlessTorn(ctx, d.Rows(ctx, table, fn), skip, Place{File: d.name, At: table})
}

// unlessTorn reports an error of the table itself to skip, and returns any other.
func unlessTorn(ctx context.Context, err error, skip SkipFunc, at Place) error {
	if torn, ok := errors.AsType[*TableError](err); ok && ctx.Err() == nil {
		skip(at, "%v", torn)
		return nil
	}
	return err
}

// TableError says where a table stops being readable.
type TableError struct {
	Table string
	Row   int64 // the last that was read
	Err   error
}

// Error implements error.
func (e *TableError) Error() string {
	return fmt.Sprintf("table %s cannot be read after row %d: %v", e.Table, e.Row, e.Err)
}

// Unwrap returns what SQLite says.
func (e *TableError) Unwrap() error { return e.Err }

// Text returns the first of these columns that has a text; "" where all are absent, null or empty.
func (r Row) Text(columns ...string) string {
	for _, column := range columns {
		if s := cellText(r.values[column]); s != "" {
			return s
		}
	}
	return ""
}

func cellText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case []byte:
		return string(v)
	case interface{ Format(string) string }:
		return v.Format("2006-01-02 15:04:05.999999999")
	default:
		return fmt.Sprint(v)
	}
}

// Number returns a column as a number; ok is false where it is none.
func (r Row) Number(column string) (n float64, ok bool) {
	switch v := r.values[column].(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	case string:
		_, err := fmt.Sscanf(v, "%g", &n)
		return n, err == nil
	}
	return 0, false
}

// Null reports whether a column is absent or null.
func (r Row) Null(column string) bool { return r.values[column] == nil }
