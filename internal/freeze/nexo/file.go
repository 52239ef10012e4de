package nexo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	lib "modernc.org/sqlite/lib"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/internal/base/sqlconn"
)

// maxRows bounds how many rows a table may have.
const maxRows = 5_000_000

// file is a database of nexo's. It is read as a stranger's: nothing in it is
// run, and of its tables only plain ones with known columns are read.
type file struct {
	conn
	opened *sqlconn.Untrusted // nil where there is no such file
	name   string
	tables map[string]table
	whole  map[string]bool // tables whose pages were looked at
}

// table is a plain table and its columns.
type table struct{ columns []string }

func (t table) has(columns ...string) bool {
	return !slices.ContainsFunc(columns, func(c string) bool { return !slices.Contains(t.columns, c) })
}

// column returns a column, or NULL where there is none.
func (t table) column(prefix, name string) string {
	if t.has(name) {
		return prefix + name
	}
	return "NULL"
}

// openFile opens a file of the folder dir; nil when there is none. Errors:
// damaged; refused for what is no regular file, or has a journal beside it.
func openFile(ctx context.Context, dir, name string) (*file, error) {
	path := filepath.Join(dir, name)
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err := checkFile(path); err != nil {
		return nil, sqlconn.About("open database", path, err)
	}
	u, err := sqlconn.OpenUntrusted(ctx, sqlconn.UntrustedURI(path, nil))
	if err != nil {
		return nil, sqlconn.Wrap("open database", path, err)
	}
	f := &file{conn: conn{u.Conn, ctx}, opened: u, name: name, tables: map[string]table{}, whole: map[string]bool{}}
	err = f.look()
	if err == nil {
		err = u.Limit(sqlconn.MaxValue)
	}
	if err != nil {
		return nil, errors.Join(blame(path, err), f.close())
	}
	return f, nil
}

// blame blames an error of SQLite on the file, whose content our questions
// do not fit.
func blame(name string, err error) error {
	var e *amber.Error
	var s interface {
		error
		Code() int
	}
	if errors.As(err, &e) || !errors.As(err, &s) {
		return err
	}
	switch s.Code() & 0xff {
	case lib.SQLITE_INTERRUPT, lib.SQLITE_IOERR, lib.SQLITE_NOMEM, lib.SQLITE_FULL, lib.SQLITE_BUSY:
		return err
	}
	return &amber.Error{Op: "read database", Kind: amber.KindDamaged, ID: name, Err: err}
}

// checkFile looks at a file without SQLite, as far as that protects SQLite.
func checkFile(path string) error {
	info, err := sqlconn.CheckAlone("open database", path)
	if err != nil {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	b := make([]byte, sqlconn.HeaderBytes)
	if _, err := f.ReadAt(b, 0); err != nil || !strings.HasPrefix(string(b), sqlconn.Magic) {
		return amber.Errorf(amber.KindDamaged, "read header", "", "the file is not a SQLite database")
	}
	size := sqlconn.PageSize(b)
	if size == 0 || info.Size()%size != 0 {
		return amber.Errorf(amber.KindDamaged, "read header", "", "the file has %d bytes, which is not a whole number of pages", info.Size())
	}
	return sqlconn.CheckSchemaTree(f, size, info.Size()/size)
}

const selectColumns = `SELECT name, hidden FROM pragma_table_xinfo(?)`

// look finds the plain tables. A virtual one would run its module, a view
// whatever it says; neither is one. Nor is a table with columns that are
// computed, or one whose rows have no number.
func (f *file) look() error {
	if err := f.opened.Limit(sqlconn.MaxSchemaText); err != nil {
		return err
	}
	objects, err := sqlconn.ReadShape(f.ctx, f.SQL)
	if err != nil {
		return err
	}
	for _, o := range objects {
		if o.Kind != "table" || !strings.HasPrefix(strings.ToUpper(o.SQL), "CREATE TABLE") {
			continue
		}
		plain := true
		columns, err := all(f.conn, func(s sqlconn.Row) (name string, err error) {
			var hidden int
			err = s.Scan(&name, &hidden)
			plain = plain && hidden == 0 && (isShadow(o.Name) || !strings.EqualFold(name, "rowid")) // vec0 calls columns so
			return name, err
		}, selectColumns, o.Name)
		if err != nil {
			return err
		}
		if plain && f.isNumbered(o.Name) {
			f.tables[o.Name] = table{columns}
		}
	}
	return nil
}

// isNumbered reports whether the rows of a table have numbers. Amber's own
// need none. The name is one of a plain table.
func (f *file) isNumbered(name string) bool {
	if _, known := knownTables[name]; !known || name == "amber_fields" {
		return true // they are not read by number
	}
	s, err := f.SQL.PrepareContext(f.ctx, fmt.Sprintf("SELECT rowid FROM %q", name))
	if err != nil {
		return false
	}
	return s.Close() == nil
}

// use returns a table that has the columns, once its pages were found to be
// those of a table. Errors: damaged, quota.
func (f *file) use(name string, columns ...string) (table, bool, error) {
	t, found := f.tables[name]
	if !found || !t.has(columns...) {
		return table{}, false, nil
	}
	if f.whole[name] {
		return t, true, nil
	}
	if err := f.check(name); err != nil {
		return t, false, err
	}
	f.whole[name] = true
	return t, true, nil
}

// check looks at the pages of a table and counts its rows.
func (f *file) check(name string) error {
	lines, err := all(f.conn, scanText, fmt.Sprintf("PRAGMA integrity_check(%q)", name))
	if err != nil {
		return blame(f.name, err)
	}
	// A row that breaks a rule of its own table is set aside later; anything
	// else would keep rows from being found.
	for _, line := range lines {
		if line != "ok" && !strings.HasPrefix(line, "NULL value in ") && !strings.HasPrefix(line, "CHECK constraint failed in ") &&
			!strings.HasPrefix(line, "non-unique entry in ") {
			return amber.Errorf(amber.KindDamaged, "check table "+name, f.name, "%s", clip.Name(line))
		}
	}
	var n int64
	if err := f.row(fmt.Sprintf("SELECT count(*) FROM %q", name)).Scan(&n); err != nil {
		return err
	}
	if n > maxRows {
		return amber.Errorf(amber.KindQuota, "read "+name, f.name, "the table has %d rows, the limit is %d", n, maxRows)
	}
	return nil
}

func (f *file) close() error {
	if f.opened == nil {
		return nil
	}
	return f.opened.Close()
}

// text returns a value that is a text.
func text(v any) (string, bool) {
	s, ok := v.(string)
	return s, ok
}

// millis returns a value that is a time.
func millis(v any) (int64, bool) {
	ms, ok := v.(int64)
	return ms, ok && isTime(ms)
}

func scanText(s sqlconn.Row) (text string, err error) {
	err = s.Scan(&text)
	return text, err
}
