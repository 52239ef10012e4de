package ledger

import (
	"context"
	_ "embed"
	"errors"
	"sync"

	sqlite3 "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"github.com/amber-memory/amber/internal/base/sqlconn"
)

//go:embed migrations/home-1.sql
var home1 string

var homeSchema = sqlconn.Schema{ApplicationID: 0x416d6268 /* Ambh */, Migrations: []string{home1}}

// known are the shapes of homeSchema, made when they are first needed.
var known = sync.OnceValues(func() ([]sqlconn.Shape, error) { return homeSchema.Shapes(context.Background()) })

// checkSchema looks whether the file is ours, of our version, and has exactly the
// tables that version has, all in one view. It asks SQLite: a process that opens
// and closes a database by itself loses the locks SQLite holds on it.
func (f *file) checkSchema(ctx context.Context, shapes []sqlconn.Shape) error {
	const op = "open database"
	err := f.run(ctx, f.readers, "BEGIN", func(t *tx, c *sqlconn.Conn) error {
		var app, version int64
		err := t.row(sqlconn.SelectStamp).Scan(&app, &version)
		switch {
		case err != nil:
			return err
		case app != f.schema.ApplicationID, version < 1:
			return damaged(op, f.path, "file is not the database of a home")
		case version > f.schema.Version():
			return f.schema.Judge(version, f.path)
		}
		found, err := sqlconn.ReadShape(ctx, c.SQL)
		if err != nil {
			return err
		}
		if why := shapes[version-1].Differs(found); why != "" {
			return damaged(op, f.path, why)
		}
		return f.schema.Judge(version, f.path)
	})
	var e *sqlite3.Error
	if errors.As(err, &e) && e.Code() == lib.SQLITE_ERROR { // the questions are right, so the file is not
		return damaged(op, f.path, err.Error())
	}
	return sqlconn.Wrap(op, f.path, err)
}
