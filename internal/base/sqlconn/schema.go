package sqlconn

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	sqlite3 "modernc.org/sqlite"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
)

// Schema is what a file of one kind looks like: its magic number and its migrations, the first of which makes it. Migrations that were
// released never change.
type Schema struct {
	ApplicationID int64
	Migrations    []string
}

// Version is the newest one.
func (s Schema) Version() int64 { return int64(len(s.Migrations)) }

// Object is a row of a database's schema.
type Object struct{ Kind, Name, Table, SQL string }

// Shape is a whole schema: every table, index, view and trigger with its text.
type Shape []Object

// SelectShape reads a schema as it lies in the file.
const SelectShape = `SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_schema ORDER BY type, name, tbl_name, sql`

// Querier is a database or one connection of it.
type Querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// ReadShape reads the schema of a database.
func ReadShape(ctx context.Context, db Querier) (s Shape, err error) {
	rows, err := db.QueryContext(ctx, SelectShape)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		o, err := ScanObject(rows)
		if err != nil {
			return nil, err
		}
		s = append(s, o)
	}
	return s, rows.Err()
}

// ScanObject reads a row of SelectShape.
func ScanObject(r Row) (o Object, err error) {
	err = r.Scan(&o.Kind, &o.Name, &o.Table, &o.SQL)
	return o, err
}

// Differs says how another schema differs from s, "" when it does not.
func (s Shape) Differs(other Shape) string {
	for _, o := range other {
		i := slices.IndexFunc(s, func(k Object) bool { return k.Kind == o.Kind && k.Name == o.Name })
		switch {
		case i < 0:
			return fmt.Sprintf("schema has a %s %q that is not Amber's", clip.Name(o.Kind), clip.Name(o.Name))
		case s[i] != o:
			return fmt.Sprintf("schema has a %s %q that differs from Amber's", clip.Name(o.Kind), clip.Name(o.Name))
		}
	}
	for _, k := range s {
		if !slices.Contains(other, k) {
			return fmt.Sprintf("schema has no %s %q", k.Kind, k.Name)
		}
	}
	if len(s) != len(other) {
		return "schema names an object twice"
	}
	return ""
}

// SelectStamp reads which database a file is, and its version.
const SelectStamp = "SELECT a.application_id, v.user_version FROM pragma_application_id a, pragma_user_version v"

// ErrOlder is the verdict about a file that must be migrated first.
var ErrOlder = amber.Errorf(amber.KindConflict, "open database", "", "the schema of the file is older than the one of this Amber")

// Judge compares the version of a file with the newest one. Errors: ErrOlder, too_new.
func (s Schema) Judge(version int64, path string) error {
	switch newest := s.Version(); {
	case version < newest:
		return ErrOlder
	case version > newest:
		return amber.Errorf(amber.KindTooNew, "open database", path, "the file has schema %d, this Amber knows schemas up to %d", version, newest).
			WithHint("restart this program with the newer amber that wrote the database")
	}
	return nil
}

// SelectVersion reads the version of a file for [Schema.JudgeRow].
const SelectVersion = "PRAGMA user_version"

// JudgeRow is Judge for the row of [SelectVersion]: another process may have migrated a file since it was opened.
func (s Schema) JudgeRow(r Row, path string) error {
	var version int64
	if err := r.Scan(&version); err != nil {
		return err
	}
	return s.Judge(version, path)
}

// Migrate brings a file to the newest version, one transaction per step, so that a crash leaves it at a version. The version is read under the
// write lock: another process may have been faster.
func (s Schema) Migrate(ctx context.Context, db *sql.DB) error {
	c, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	conn := New(c)
	for more := true; more && err == nil; {
		err = conn.Transact(ctx, "BEGIN IMMEDIATE", func() (err error) {
			more, err = s.step(ctx, c)
			return err
		})
	}
	return errors.Join(err, conn.Close())
}

// step runs the next migration, which ends with the version in the file, and reports whether there was one.
func (s Schema) step(ctx context.Context, c *sql.Conn) (more bool, err error) {
	var version int64
	if err := c.QueryRowContext(ctx, SelectVersion).Scan(&version); err != nil {
		return false, err
	}
	switch {
	case version < 0:
		return false, amber.Errorf(amber.KindDamaged, "migrate", "", "the file has schema %d, which never was", version)
	case version >= s.Version():
		return false, nil
	}
	_, err = c.ExecContext(ctx, s.Migrations[version])
	if err == nil {
		_, err = c.ExecContext(ctx, fmt.Sprintf("PRAGMA application_id=%d; PRAGMA user_version=%d", s.ApplicationID, version+1))
	}
	if err != nil {
		return false, fmt.Errorf("migration %d: %w", version+1, err)
	}
	return true, nil
}

// InMemory makes a database of the newest version that is nowhere but in memory, and runs fn on it. Each, if it is not nil, is called after each
// migration.
func (s Schema) InMemory(ctx context.Context, each, fn func(*sql.Conn) error) error {
	c, err := sqlite3.NewConnector("file::memory:?_dqs=0&_pragma=trusted_schema(0)&_pragma=secure_delete(1)")
	if err != nil {
		return err
	}
	db := sql.OpenDB(c)
	conn, err := db.Conn(ctx)
	if err != nil {
		return errors.Join(err, db.Close())
	}
	for more := true; more && err == nil; {
		if more, err = s.step(ctx, conn); more && each != nil {
			err = each(conn)
		}
	}
	if err == nil {
		err = fn(conn)
	}
	return errors.Join(err, conn.Close(), db.Close())
}

// Shapes looks at the schema of every version, the first at index 0.
func (s Schema) Shapes(ctx context.Context) (all []Shape, err error) {
	err = s.InMemory(ctx, func(c *sql.Conn) error {
		found, err := ReadShape(ctx, c)
		all = append(all, found)
		return err
	}, func(*sql.Conn) error { return nil })
	return all, err
}

// Image returns the bytes of a new file of the newest version: with a write-ahead log, and with the rows that fill adds.
func (s Schema) Image(ctx context.Context, fill func(*sql.Conn) error) (b []byte, err error) {
	err = s.InMemory(ctx, nil, func(c *sql.Conn) error {
		if err := fill(c); err != nil {
			return err
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
	return b, err
}
