package foreign

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/fsx"
	"github.com/amber-memory/amber/internal/sqlconn"
)

// databaseMagic begins every SQLite file.
const databaseMagic = "SQLite format 3\x00"

// IsDatabase reports whether a file is a SQLite database.
func (f File) IsDatabase() bool { return string(f.Head(len(databaseMagic))) == databaseMagic }

// Database is a SQLite file of another program, which may be in use. One read transaction sees all of it, also what is
// only in the write-ahead log.
type Database struct {
	name   string
	conn   *sqlconn.Untrusted
	tables map[string][]string
}

// OpenDatabase opens a database. Nothing of the file runs: no trigger, no view, no function.
func OpenDatabase(ctx context.Context, t *Tree, f File) (*Database, error) {
	real, err := t.Local(f)
	if err != nil {
		return nil, err
	}
	d, err := openDatabase(ctx, f.Name, real, "ro")
	if err == nil {
		return d, nil
	}
	// The folder may not be written, so that SQLite cannot make the files it shares with others; or a journal waits.
	if real, err2 := t.copyDatabase(real); err2 == nil {
		if d, err2 := openDatabase(ctx, f.Name, real, "rw"); err2 == nil {
			return d, nil
		}
	}
	return nil, amber.Errorf(amber.KindDamaged, "open database", f.Name, "%w", err)
}

func openDatabase(ctx context.Context, name, real, mode string) (*Database, error) {
	conn, err := sqlconn.OpenUntrusted(ctx, sqlconn.UntrustedURI(real, url.Values{"immutable": {"0"}, "mode": {mode}}))
	if err != nil {
		return nil, err
	}
	d := &Database{name: name, conn: conn, tables: map[string][]string{}}
	err = conn.Limit(MaxItemBytes)
	if err == nil {
		_, err = conn.Exec(ctx, "BEGIN")
	}
	if err == nil {
		err = d.readTables(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return d, nil
}

// copyDatabase copies a database with the files beside it.
func (t *Tree) copyDatabase(real string) (string, error) {
	var copied string
	for _, suffix := range []string{"", "-wal", "-journal"} {
		in, err := os.Open(real + suffix)
		if err != nil && suffix != "" {
			continue
		}
		if err != nil {
			return "", err
		}
		out := io.WriteCloser(nil)
		if copied == "" {
			f, err := t.temp("database-*")
			if err != nil {
				return "", errors.Join(err, in.Close())
			}
			copied, out = f.Name(), f
		} else if out, err = fsx.OS().OpenFile(copied+suffix, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
			return "", errors.Join(err, in.Close())
		}
		_, err = io.Copy(out, in)
		if err := errors.Join(err, in.Close(), out.Close()); err != nil {
			return "", err
		}
	}
	return copied, nil
}

// Close ends the transaction and closes the file.
func (d *Database) Close() error { return d.conn.Close() }

// readTables reads which ordinary tables there are. Views and virtual tables are none: a view can show anything under
// the name of a table, and the module of a virtual one may be missing.
func (d *Database) readTables(ctx context.Context) error {
	var names []string
	err := d.conn.Each(ctx, `SELECT name, coalesce(sql, '') FROM sqlite_master WHERE type = 'table'`, nil, func(r sqlconn.Row) error {
		var name, sql string
		if err := r.Scan(&name, &sql); err != nil {
			return err
		}
		if !strings.HasPrefix(strings.ToUpper(strings.TrimSpace(sql)), "CREATE VIRTUAL") && len(names) < 1000 {
			names = append(names, name)
		}
		return nil
	})
	for _, name := range names {
		if err != nil {
			return err
		}
		columns := []string{}
		err = d.conn.Each(ctx, `SELECT name FROM pragma_table_info(?)`, []any{name}, func(r sqlconn.Row) error {
			var column string
			err := r.Scan(&column)
			columns = append(columns, column)
			return err
		})
		d.tables[name] = columns
	}
	return err
}

// Has reports whether all of these are tables.
func (d *Database) Has(tables ...string) bool {
	for _, t := range tables {
		if _, ok := d.tables[t]; !ok {
			return false
		}
	}
	return true
}

// Columns returns the columns of a table.
func (d *Database) Columns(table string) []string { return d.tables[table] }

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
	var by []string
	for _, name := range order {
		for _, c := range columns {
			if c == name {
				by = append(by, quoted(c))
			}
		}
	}
	query := "SELECT " + cells(columns) + " FROM " + quoted(table)
	if len(by) > 0 {
		query += " ORDER BY " + strings.Join(by, ", ")
	}
	n := int64(0)
	var told error // of fn, which is not about the table
	err := d.conn.Each(ctx, query, nil, func(r sqlconn.Row) error {
		n++
		row := Row{N: n, values: make(map[string]any, len(columns))}
		into := make([]any, len(columns), len(columns)+1)
		values := make([]any, len(columns))
		for i := range into {
			into[i] = &values[i]
		}
		into = append(into, &row.TooLong)
		if err := r.Scan(into...); err != nil {
			return err
		}
		for i, c := range columns {
			row.values[c] = values[i]
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
