package ledger

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"sync"

	sqlite3 "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"github.com/amber-memory/amber/internal/base/sqlconn"
)

// schema is what the file looks like: its magic number and its migrations, the
// first of which makes it. Migrations that were released never change.
type schema struct {
	applicationID int64
	migrations    []string
}

//go:embed migrations/home-1.sql
var home1 string

var homeSchema = &schema{applicationID: 0x416d6268 /* Ambh */, migrations: []string{home1}}

// known are the shapes of homeSchema, made when they are first needed.
var known = sync.OnceValues(func() ([]sqlconn.Shape, error) { return homeSchema.shapes(context.Background()) })

func (s *schema) version() int64 { return int64(len(s.migrations)) }

// inMemory runs fn on a database that is nowhere else.
func inMemory(ctx context.Context, fn func(*sql.Conn) error) error {
	c, err := sqlite3.NewConnector("file::memory:?_dqs=0&_pragma=trusted_schema(0)")
	if err != nil {
		return err
	}
	db := sql.OpenDB(c)
	conn, err := db.Conn(ctx)
	if err != nil {
		return errors.Join(err, db.Close())
	}
	return errors.Join(fn(conn), conn.Close(), db.Close())
}

// image returns the bytes of a new database: the newest schema and no rows.
func (s *schema) image(ctx context.Context) (b []byte, err error) {
	err = inMemory(ctx, func(c *sql.Conn) error {
		for v := range s.migrations {
			if err := s.step(ctx, c, v); err != nil {
				return err
			}
		}
		return c.Raw(func(driver any) (err error) {
			b, err = driver.(interface{ Serialize() ([]byte, error) }).Serialize()
			return err
		})
	})
	const journalVersions = 18 // and 19: 2 is a write-ahead log
	if err == nil && len(b) > journalVersions+1 {
		b[journalVersions], b[journalVersions+1] = 2, 2
	}
	return b, sqlconn.Wrap("make database", "", err)
}

// shapes runs the migrations in memory and looks at the schema after each.
func (s *schema) shapes(ctx context.Context) (all []sqlconn.Shape, err error) {
	err = inMemory(ctx, func(c *sql.Conn) error {
		for v := range s.migrations {
			if err := s.step(ctx, c, v); err != nil {
				return err
			}
			found, err := sqlconn.ReadShape(ctx, c)
			if err != nil {
				return err
			}
			all = append(all, found)
		}
		return nil
	})
	return all, err
}

// step runs one migration; it ends with the version in the file.
func (s *schema) step(ctx context.Context, c *sql.Conn, v int) error {
	if _, err := c.ExecContext(ctx, s.migrations[v]); err != nil {
		return fmt.Errorf("migration %d: %w", v+1, err)
	}
	_, err := c.ExecContext(ctx, sqlconn.Stamp(s.applicationID, int64(v)+1))
	return err
}

// migrate brings the file to the newest version, one transaction per step. The version is read
// under the write lock: another process may have been faster.
func (s *schema) migrate(ctx context.Context, f *file) error {
	for done := false; !done; {
		err := f.run(ctx, f.writer, "BEGIN IMMEDIATE", func(t *tx, c *sqlconn.Conn) error {
			var version int64
			if err := t.row("PRAGMA user_version").Scan(&version); err != nil {
				return err
			}
			if done = version >= s.version(); done {
				return nil
			}
			return s.step(ctx, c.SQL, int(version))
		})
		if err != nil {
			return sqlconn.Wrap("migrate", f.path, err)
		}
	}
	return nil
}

// check looks whether the file is ours, of our version, and has exactly the
// tables that version has, all in one view. It asks SQLite: a process that opens
// and closes a database by itself loses the locks SQLite holds on it.
func (s *schema) check(ctx context.Context, f *file, shapes []sqlconn.Shape) error {
	const op = "open database"
	err := f.run(ctx, f.readers, "BEGIN", func(t *tx, c *sqlconn.Conn) error {
		var app, version int64
		err := t.row(sqlconn.SelectStamp).Scan(&app, &version)
		switch {
		case err != nil:
			return err
		case app != s.applicationID, version < 1:
			return damaged(op, f.path, "file is not the database of a home")
		case version > s.version():
			return s.judge(version, f.path)
		}
		found, err := sqlconn.ReadShape(ctx, c.SQL)
		if err != nil {
			return err
		}
		if why := shapes[version-1].Differs(found); why != "" {
			return damaged(op, f.path, why)
		}
		return s.judge(version, f.path)
	})
	var e *sqlite3.Error
	if errors.As(err, &e) && e.Code() == lib.SQLITE_ERROR { // the questions are right, so the file is not
		return damaged(op, f.path, err.Error())
	}
	return sqlconn.Wrap(op, f.path, err)
}

// checkVersion is the same look inside a write transaction.
func (s *schema) checkVersion(t *tx, path string) error {
	var version int64
	if err := t.row("PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	return s.judge(version, path)
}

func (s *schema) judge(version int64, path string) error {
	return sqlconn.Judge(version, s.version(), path)
}
