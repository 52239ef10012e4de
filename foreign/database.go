package foreign

import (
	"context"
	"errors"
	"net/url"
	"strings"

	"github.com/amber-memory/amber"
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
	if err := checkDatabase(f.Name, real); err != nil {
		return nil, err
	}
	more := besides(real)
	d, err := openDatabase(ctx, f.Name, real, "ro")
	if err == nil {
		return d, nil
	}
	// The folder may not be written, so that SQLite cannot make the files it shares with others; or a journal waits.
	if copyHelps(err, more) {
		if d, err2 := t.openCopy(ctx, f.Name, real); err2 == nil {
			return d, nil
		}
	}
	return nil, amber.Errorf(amber.KindDamaged, "open database", f.Name, "%w", err)
}

// openCopy opens a copy of a database.
func (t *Tree) openCopy(ctx context.Context, name, real string) (*Database, error) {
	copied, err := t.copyDatabase(real)
	if err != nil {
		return nil, err
	}
	return openDatabase(ctx, name, copied, "rw")
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
