package foreign

import (
	"context"
	"errors"
	"os"
	"strings"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/sqlconn"
	"github.com/amber-memory/amber/internal/base/sqlpages"
)

// IsDatabase reports whether a file is a SQLite database.
func (f File) IsDatabase() bool { return string(f.Head(len(sqlconn.Magic))) == sqlconn.Magic }

// Database is a SQLite file of another program. SQLite is shown the pages that Amber has walked, and nothing else: no page
// that leads back to itself, and no journal beside the file.
type Database struct {
	name   string
	file   *os.File
	size   int64 // of the file, and when it was changed, as it was opened
	at     time.Time
	image  *sqlpages.Image
	served *sqlconn.Served
	conn   *sqlconn.Untrusted
	tables map[string]*table
}

// table is an ordinary table.
type table struct {
	columns []string
	root    int64 // its first page

	walked bool
	tally  sqlpages.Tally
	err    error // of the walk
}

// Bounds of a database.
const (
	maxTables = 1000
	maxRows   = 2 << 20 // of one table
)

// OpenDatabase opens a database. Nothing of the file runs: no trigger, no view, no function. It reads what the
// write-ahead log has committed, too, but never a rollback journal beside the file.
func OpenDatabase(ctx context.Context, t *Tree, f File) (*Database, error) {
	real, err := t.still(f)
	if err != nil {
		return nil, amber.Errorf(amber.KindDamaged, "open database", f.Name, "%w", err)
	}
	d := &Database{name: f.Name, tables: map[string]*table{}}
	if err := d.open(ctx, real); err != nil {
		return nil, errors.Join(amber.Errorf(amber.KindDamaged, "open database", f.Name, "%w", err), d.Close())
	}
	return d, nil
}

func (d *Database) open(ctx context.Context, real string) (err error) {
	if d.file, err = os.Open(real); err != nil {
		return err
	}
	info, err := d.file.Stat()
	if err != nil {
		return err
	}
	d.size, d.at = info.Size(), info.ModTime()
	if d.image, err = sqlpages.Open(ctx, d.file, d.size); err != nil {
		return err
	}
	if d.served, err = sqlconn.Serve(d.image, d.image.Size()); err != nil {
		return err
	}
	if d.conn, err = sqlconn.OpenUntrusted(ctx, d.served.URI()); err != nil {
		return err
	}
	if err := d.conn.Limit(MaxItemBytes); err != nil {
		return err
	}
	return d.readTables(ctx)
}

// Close closes the file.
func (d *Database) Close() error {
	var errs []error
	if d.conn != nil {
		errs = append(errs, d.conn.Close())
	}
	if d.served != nil {
		errs = append(errs, d.served.Close())
	}
	if d.file != nil {
		errs = append(errs, d.file.Close())
	}
	return errors.Join(errs...)
}

// unchanged is an error where the file was written to since it was opened.
func (d *Database) unchanged() error {
	info, err := d.file.Stat()
	if err == nil && (info.Size() != d.size || !info.ModTime().Equal(d.at)) {
		err = amber.Errorf(amber.KindBusy, "read database", d.name, "a program wrote to the file while it was read").WithHint("import again to go on")
	}
	return err
}

// ordinary begins the text of every table that SQLite has made and that is not virtual.
const ordinary = "CREATE TABLE "

// readTables reads which ordinary tables there are. Views and virtual tables are none: a view can show anything under
// the name of a table, and the module of a virtual one may be missing.
func (d *Database) readTables(ctx context.Context) error {
	err := d.conn.Each(ctx, `SELECT name, rootpage, coalesce(sql, '') FROM sqlite_master WHERE type = 'table'`, nil, func(r sqlconn.Row) error {
		var name, sql string
		t := &table{}
		if err := r.Scan(&name, &t.root, &sql); err != nil {
			return err
		}
		if strings.HasPrefix(sql, ordinary) && len(d.tables) < maxTables {
			d.tables[name] = t
		}
		return nil
	})
	for _, name := range d.Tables() {
		if err != nil {
			return err
		}
		err = d.readColumns(ctx, name, d.tables[name])
	}
	return err
}

// readColumns reads the columns of a table. It leaves out computed columns, because an expression may take any time
// and room.
func (d *Database) readColumns(ctx context.Context, name string, t *table) error {
	return d.conn.Each(ctx, `SELECT name, hidden FROM pragma_table_xinfo(?)`, []any{name}, func(r sqlconn.Row) error {
		var column string
		var hidden int
		if err := r.Scan(&column, &hidden); err != nil {
			return err
		}
		if hidden == 0 {
			t.columns = append(t.columns, column)
		}
		return nil
	})
}

// walk meets the pages of a table, once, before SQLite does. Errors: damaged; invalid for too many rows.
func (d *Database) walk(ctx context.Context, name string, t *table) error {
	if t.walked {
		return t.err
	}
	t.tally, t.err = d.image.Walk(ctx, t.root)
	if t.err == nil && t.tally.Rows > maxRows {
		t.err = amber.Errorf(amber.KindInvalid, "read table", name, "the table has %d rows, the limit is %d", t.tally.Rows, maxRows)
	}
	t.walked = ctx.Err() == nil
	return t.err
}
