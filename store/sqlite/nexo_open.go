package sqlite

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	lib "modernc.org/sqlite/lib"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/sqlconn"
)

// maxNexoRows bounds how many rows a table may have.
const maxNexoRows = 5_000_000

// nexoFile is a database of nexo's, as a stranger's: nothing in it is run. Of
// its tables those are read that are plain ones of known columns.
type nexoFile struct {
	*stranger
	t      *tx
	name   string
	tables map[string]nexoTable
	whole  map[string]bool // tables whose pages were looked at
}

// nexoTable is a plain table and its columns.
type nexoTable struct{ columns []string }

func (t nexoTable) has(columns ...string) bool {
	return !slices.ContainsFunc(columns, func(c string) bool { return !slices.Contains(t.columns, c) })
}

// column returns a column, or NULL where there is none.
func (t nexoTable) column(prefix, name string) string {
	if t.has(name) {
		return prefix + name
	}
	return "NULL"
}

// openNexo opens a file of the folder dir; nil when there is none. Errors:
// damaged; refused for what is no regular file, or has a journal beside it.
func openNexo(ctx context.Context, dir, name string) (*nexoFile, error) {
	path := filepath.Join(dir, name)
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err := lookAtNexo(path); err != nil {
		return nil, aboutFile(path, err)
	}
	s, err := openStranger(ctx, strangerDSN(path, nil))
	if err != nil {
		return nil, sqlconn.Wrap("open database", path, err)
	}
	f := &nexoFile{stranger: s, t: s.begin(ctx), name: name, tables: map[string]nexoTable{}, whole: map[string]bool{}}
	err = f.look()
	if err == nil {
		err = f.limit(maxValue)
	}
	if err != nil {
		return nil, errors.Join(aboutNexo(path, err), f.close())
	}
	return f, nil
}

// aboutNexo blames an error of SQLite on the file, whose content our questions
// do not fit.
func aboutNexo(name string, err error) error {
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

// lookAtNexo looks at a file without SQLite, as far as that protects SQLite.
func lookAtNexo(path string) error {
	if err := lookBeside(path); err != nil {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	b := make([]byte, headerBytes)
	if _, err := f.ReadAt(b, 0); err != nil || !strings.HasPrefix(string(b), magic) {
		return amber.Errorf(amber.KindDamaged, "read header", "", "it is not a SQLite database")
	}
	h := header{pageSize: int64(binary.BigEndian.Uint16(b[16:]))}
	if h.pageSize == 1 {
		h.pageSize = 1 << 16
	}
	if h.pageSize < 512 || h.pageSize&(h.pageSize-1) != 0 || info.Size()%h.pageSize != 0 {
		return amber.Errorf(amber.KindDamaged, "read header", "", "its pages are cut off")
	}
	h.pages = info.Size() / h.pageSize
	return h.checkSchemaTree(f)
}

// lookBeside refuses what is no file, and one with a journal that would change
// it.
func lookBeside(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return amber.Errorf(amber.KindRefused, "open database", "", "it is not a regular file")
	}
	for _, suffix := range []string{"-wal", "-shm", "-journal"} {
		if _, err := os.Lstat(path + suffix); !errors.Is(err, fs.ErrNotExist) {
			return amber.Errorf(amber.KindRefused, "open database", "", "there is a %s file beside it, which would change it", suffix)
		}
	}
	return nil
}

const selectColumns = `SELECT name, hidden FROM pragma_table_xinfo(?)`

// look finds the plain tables. A virtual one would run its module, a view
// whatever it says; neither is one. Nor is a table with columns that are
// computed, or one whose rows have no number.
func (f *nexoFile) look() error {
	if err := f.limit(maxSchemaText); err != nil {
		return err
	}
	objects, err := sqlconn.ReadShape(f.t.ctx, f.conn.SQL)
	if err != nil {
		return err
	}
	for _, o := range objects {
		if o.Kind != "table" || !strings.HasPrefix(strings.ToUpper(o.SQL), "CREATE TABLE") {
			continue
		}
		plain := true
		columns, err := all(f.t, func(s scanner) (name string, err error) {
			var hidden int
			err = s.Scan(&name, &hidden)
			plain = plain && hidden == 0 && (isShadow(o.Name) || !strings.EqualFold(name, "rowid")) // vec0 calls columns so
			return name, err
		}, selectColumns, o.Name)
		if err != nil {
			return err
		}
		if plain && f.isNumbered(o.Name) {
			f.tables[o.Name] = nexoTable{columns}
		}
	}
	return nil
}

// isNumbered reports whether the rows of a table have numbers. Amber's own
// need none. The name is one of a plain table.
func (f *nexoFile) isNumbered(name string) bool {
	if _, known := nexoTables[name]; !known || name == "amber_fields" {
		return true // nobody asks for them
	}
	s, err := f.conn.SQL.PrepareContext(f.t.ctx, fmt.Sprintf("SELECT rowid FROM %q", name))
	if err != nil {
		return false
	}
	return s.Close() == nil
}

// use returns a table that has the columns, once its pages were found to be
// those of a table. Errors: damaged, quota.
func (f *nexoFile) use(name string, columns ...string) (nexoTable, bool, error) {
	table, found := f.tables[name]
	if !found || !table.has(columns...) {
		return nexoTable{}, false, nil
	}
	if f.whole[name] {
		return table, true, nil
	}
	if err := f.check(name); err != nil {
		return table, false, err
	}
	f.whole[name] = true
	return table, true, nil
}

// check looks at the pages of a table and counts its rows.
func (f *nexoFile) check(name string) error {
	lines, err := all(f.t, scanText, fmt.Sprintf("PRAGMA integrity_check(%q)", name))
	if err != nil {
		return aboutNexo(f.name, err)
	}
	// A row that breaks a rule of its own table is set aside later; anything
	// else would keep rows from being found.
	for _, line := range lines {
		if line != "ok" && !strings.HasPrefix(line, "NULL value in ") && !strings.HasPrefix(line, "CHECK constraint failed in ") &&
			!strings.HasPrefix(line, "non-unique entry in ") {
			return amber.Errorf(amber.KindDamaged, "check table "+name, f.name, "%s", sqlconn.Clip(line))
		}
	}
	var n int64
	if err := f.t.row(fmt.Sprintf("SELECT count(*) FROM %q", name)).Scan(&n); err != nil {
		return err
	}
	if n > maxNexoRows {
		return amber.Errorf(amber.KindQuota, "read "+name, f.name, "it has %d rows, the limit is %d", n, maxNexoRows)
	}
	return nil
}

func (f *nexoFile) close() error {
	if f.stranger == nil { // there is no such file
		return nil
	}
	return f.stranger.close()
}

// text returns a value that is a text.
func text(v any) (string, bool) {
	s, ok := v.(string)
	return s, ok
}

// millis returns a value that is a time.
func millis(v any) (int64, bool) {
	ms, ok := v.(int64)
	return ms, ok && isNexoTime(ms)
}
