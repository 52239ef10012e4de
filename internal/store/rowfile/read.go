package rowfile

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/base/sqlconn"
	"github.com/amber-memory/amber/internal/store/image"
	"github.com/amber-memory/amber/internal/store/sqlfile"
)

// Reader reads the rows of a file at rest that is not trusted. It is for one goroutine at a time.
type Reader struct {
	file File
	u    *sqlconn.Untrusted
	held func() error // removes the copy; nil where there is none
}

const opRead = "read database"

// Open opens memory.db or control.db, whichever file names. No process may write to the file while it is
// open. Its schema must be, row by row, that of a migration; a file of an older one is
// copied into a folder of its own in scratch and migrated there. Errors: those of
// [image.Examine]; conflict where it is the other of the two; invalid where it is older and scratch is "".
func Open(ctx context.Context, path, file, scratch string) (*Reader, error) {
	files, err := Files()
	if err != nil {
		return nil, err
	}
	s, err := schemaOf(file)
	if err != nil {
		return nil, err
	}
	found, err := image.Examine(ctx, path, false)
	if err != nil {
		return nil, err
	}
	if found.Name != file {
		return nil, amber.Errorf(amber.KindConflict, opRead, path, "the file is a %s, want a %s", found.Name, file)
	}
	r := &Reader{}
	for _, f := range files {
		if f.Name == file {
			r.file = f
		}
	}
	if found.Schema < s.Version() {
		if path, err = r.migrated(ctx, s, path, scratch); err != nil {
			return nil, err
		}
	}
	r.u, err = sqlconn.OpenUntrusted(ctx, sqlconn.UntrustedURI(path, nil))
	if err == nil {
		err = r.u.Limit(sqlconn.MaxValue)
	}
	if err != nil {
		return nil, errors.Join(sqlconn.Wrap(opRead, path, err), r.Close())
	}
	return r, nil
}

// migrated brings a copy of the file to the newest schema.
func (r *Reader) migrated(ctx context.Context, s sqlfile.Schema, path, scratch string) (string, error) {
	if scratch == "" {
		return "", amber.Errorf(amber.KindInvalid, opRead, path, "the schema of the file is older, and there is no folder to migrate a copy in")
	}
	folder, held, err := fsx.CreateScratchFolder(scratch, "rows-")
	if err != nil {
		return "", sqlconn.Wrap("migrate", path, err)
	}
	r.held = func() error { return errors.Join(fsx.RemoveAll(fsx.OS(), folder), held.Close()) }
	to := filepath.Join(folder, s.File)
	if err := sqlfile.Copy(path, to); err != nil {
		return "", errors.Join(sqlconn.Wrap("migrate", path, err), r.Close())
	}
	p, err := sqlfile.OpenPool(to, sqlfile.Write, wait, 1)
	if err == nil {
		err = errors.Join(s.Migrate(ctx, p.DB), p.Close())
	}
	if err != nil {
		return "", errors.Join(sqlconn.Wrap("migrate", path, err), r.Close())
	}
	return to, nil
}

// File is the layout of the file.
func (r *Reader) File() File { return r.file }

// Close closes the file.
func (r *Reader) Close() (err error) {
	if r.u != nil {
		err, r.u = r.u.Close(), nil
	}
	if r.held != nil {
		err, r.held = errors.Join(err, r.held()), nil
	}
	return err
}

// Count is how many rows a table has.
func (r *Reader) Count(ctx context.Context, t Table) (n int64, err error) {
	err = r.u.Row(ctx, fmt.Sprintf(`SELECT count(*) FROM %q`, t.Name)).Scan(&n)
	return n, sqlconn.Wrap(opRead, t.Name, err)
}

// End returns the number and the stamp of the last entry of the change log, 0 where it is
// empty.
func (r *Reader) End(ctx context.Context) (seq, stamp int64, err error) {
	err = r.u.Row(ctx, `SELECT coalesce(max(seq), 0), coalesce((SELECT stamp FROM changes ORDER BY seq DESC LIMIT 1), 0) FROM changes`).Scan(&seq, &stamp)
	return seq, stamp, sqlconn.Wrap(opRead, "changes", err)
}

// Each calls fn with every row of a table in the order of its key. The values are those of the types of the
// columns, the slice is good until fn returns. A value of another type, a text that is not
// UTF-8 or holds a zero byte: the error is damaged and names table, row and column, never the value.
// So does that of a row that is too long, which is invalid.
func (r *Reader) Each(ctx context.Context, t Table, fn func(row []any) error) error {
	n, scan := 0, t.scan()
	q := fmt.Sprintf(`SELECT %s FROM %q ORDER BY %s`, quoted(t.Names()), t.Name, quoted(t.Key))
	stopped := false
	err := r.u.Each(ctx, q, nil, func(s sqlconn.Row) error {
		n++
		row, err := scan(s)
		if err != nil {
			return err
		}
		if why := t.wrong(row); why != "" {
			stopped = true
			return amber.Errorf(amber.KindDamaged, opRead, t.Name, "row %d in the order of the key: %s", n, why)
		}
		err = fn(row)
		stopped = err != nil
		return err
	})
	if err != nil && !stopped {
		return sqlconn.Wrap(opRead, t.Name, fmt.Errorf("row %d in the order of the key: %w", n+1, err))
	}
	return err
}

// wrong says what is wrong with a row, "" where nothing is.
func (t Table) wrong(row []any) string {
	for i, c := range t.Columns {
		if why := c.wrong(row[i]); why != "" {
			return "column " + c.Name + " " + why
		}
	}
	return ""
}

// wrong says what is wrong with a value.
func (c Column) wrong(v any) string {
	switch v := v.(type) {
	case nil:
		if c.Null {
			return ""
		}
		return "is empty"
	case int64:
		if c.Type == Integer {
			return ""
		}
	case float64:
		if c.Type == Real {
			return ""
		}
	case []byte:
		if c.Type == Blob {
			return ""
		}
	case string:
		switch {
		case c.Type != Text:
		case strings.IndexByte(v, 0) >= 0:
			return "is a text with a zero byte"
		case !utf8.ValidString(v):
			return "is a text that is not UTF-8"
		default:
			return ""
		}
	}
	return "is not of type " + string(c.Type)
}

// scan returns a function that reads rows of the table. A row is good until the next one is read.
func (t Table) scan() func(sqlconn.Row) ([]any, error) {
	values, dest, row := make([]value, len(t.Columns)), make([]any, len(t.Columns)), make([]any, len(t.Columns))
	for i := range values {
		dest[i] = &values[i]
	}
	return func(s sqlconn.Row) ([]any, error) {
		err := s.Scan(dest...)
		for i := range values {
			row[i] = values[i].v
		}
		return row, err
	}
}

// value takes what the driver has read as it is.
type value struct{ v any }

func (v *value) Scan(src any) error {
	v.v = src
	if b, ok := src.([]byte); ok && b == nil {
		v.v = []byte{} // no bytes, which are not NULL
	}
	return nil
}
