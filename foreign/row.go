package foreign

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/amber-memory/amber/internal/sqlconn"
)

// Row is one row of a table, by the names of its columns.
type Row struct {
	N       int64 // from 1
	TooLong int64 // how many of its values have more than [MaxItemBytes] and read as null
	values  map[string]any
}

// Rows calls fn with each row of a table, ordered by columns as far as it has them. Each row has every column that the
// table has. The error is that of fn, or a [*TableError].
func (d *Database) Rows(ctx context.Context, table string, order []string, fn func(Row) error) error {
	columns, ok := d.tables[table]
	if !ok {
		return nil
	}
	n := int64(0)
	var told error // of fn, which is not about the table
	err := d.conn.Each(ctx, selection(table, columns, order), nil, func(r sqlconn.Row) error {
		n++
		row, err := scanRow(r, n, columns)
		if err != nil {
			return err
		}
		told = fn(row)
		return told
	})
	if told != nil {
		return told
	}
	if err != nil {
		return &TableError{table, n, err}
	}
	return nil
}

// EachRow calls fn with each row of a table and its place, as Rows does. A row with a value that is too long, and where the
// table stops being readable, is told to skip. The error is that of fn or of ctx.
func (d *Database) EachRow(ctx context.Context, table string, skip SkipFunc, fn func(Place, Row) error) error {
	err := d.Rows(ctx, table, nil, func(r Row) error {
		at := Place{File: d.name, At: fmt.Sprintf("%s, row %d", table, r.N)}
		if r.TooLong > 0 {
			skip(at, "row has a value of more than %d bytes, the limit", MaxItemBytes)
			return nil
		}
		return fn(at, r)
	})
	return unlessTorn(ctx, err, skip, Place{File: d.name})
}

// RowsOrSkip calls fn with each row of a table, as Rows does. Where the table stops being readable is told to skip.
func (d *Database) RowsOrSkip(ctx context.Context, table string, order []string, skip SkipFunc, fn func(Row) error) error {
	return unlessTorn(ctx, d.Rows(ctx, table, order, fn), skip, Place{File: d.name, At: table})
}

// unlessTorn tells an error of the table itself to skip, and returns any other.
func unlessTorn(ctx context.Context, err error, skip SkipFunc, at Place) error {
	if torn, ok := errors.AsType[*TableError](err); ok && ctx.Err() == nil {
		skip(at, "%v", torn)
		return nil
	}
	return err
}

// scanRow reads a row of a query of cells.
func scanRow(r sqlconn.Row, n int64, columns []string) (Row, error) {
	row := Row{N: n, values: make(map[string]any, len(columns))}
	into, values := make([]any, len(columns), len(columns)+1), make([]any, len(columns))
	for i := range into {
		into[i] = &values[i]
	}
	if err := r.Scan(append(into, &row.TooLong)...); err != nil {
		return row, err
	}
	for i, c := range columns {
		row.values[c] = values[i]
	}
	return row, nil
}

// selection is the query for the rows of a table, ordered by those columns of order that it has.
func selection(table string, columns, order []string) string {
	var by []string
	for _, name := range order {
		if slices.Contains(columns, name) {
			by = append(by, quoted(name))
		}
	}
	query := "SELECT " + cells(columns) + " FROM " + quoted(table)
	if len(by) > 0 {
		query += " ORDER BY " + strings.Join(by, ", ")
	}
	return query
}

// cells are the columns of a query, and how many values are too long. One of those would end the query, and one that is
// sorted would leave it without a row. An expression has no declared type, so that the driver leaves a time as it is
// written: it would lose its zone.
func cells(columns []string) string {
	var b, long strings.Builder
	long.WriteString("0")
	for _, c := range columns {
		tooLong := fmt.Sprintf("ifnull(octet_length(%s), 0) > %d", quoted(c), MaxItemBytes)
		fmt.Fprintf(&b, "CASE WHEN %s THEN NULL ELSE %s END, ", tooLong, quoted(c))
		fmt.Fprintf(&long, " + (%s)", tooLong)
	}
	return b.String() + long.String()
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

func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

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
