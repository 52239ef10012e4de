package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"sync"

	sqlite3 "modernc.org/sqlite"

	"github.com/amber-memory/amber"
)

// selectShape reads a schema as it lies in the file.
const selectShape = `SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_schema ORDER BY type, name, tbl_name, sql`

// object is a row of a database's schema.
type object struct{ kind, name, table, sql string }

// shape is a whole schema: every table, index, view and trigger with its text.
type shape []object

// shapes are those of the migrations of one schema, the first at index 0.
type shapes func() ([]shape, error)

var knownShapes = map[string]shapes{
	memorySchema.file:  sync.OnceValues(memorySchema.shapes),
	controlSchema.file: sync.OnceValues(controlSchema.shapes),
}

// shapeAt returns the shape a version has. Errors: damaged for a version that
// never was; too_new.
func (s schema) shapeAt(version int64) (shape, error) {
	if version < 1 {
		return nil, amber.Errorf(amber.KindDamaged, "read schema", s.file, fmt.Sprintf("there is no schema %d", version))
	}
	if version > s.version() {
		return nil, s.judge(version, s.file)
	}
	known, err := knownShapes[s.file]()
	if err != nil {
		return nil, wrap("make schema", s.file, err)
	}
	return known[version-1], nil
}

// shapes runs the migrations in memory and looks at the schema after each.
func (s schema) shapes() (all []shape, err error) {
	ctx := context.Background()
	c, err := sqlite3.NewConnector("file::memory:?_dqs=0&_pragma=trusted_schema(0)")
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(c)
	db.SetMaxOpenConns(1) // the database is the connection
	defer db.Close()
	for v := range s.migrations {
		step := s
		step.migrations = s.migrations[:v+1]
		if err := step.migrate(ctx, db, int64(v)); err != nil {
			return nil, err
		}
		found, err := readShape(ctx, db)
		if err != nil {
			return nil, err
		}
		all = append(all, found)
	}
	return all, nil
}

// queryer is a database or one connection of it.
type queryer interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func readShape(ctx context.Context, db queryer) (s shape, err error) {
	rows, err := db.QueryContext(ctx, selectShape)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var o object
		if err := rows.Scan(&o.kind, &o.name, &o.table, &o.sql); err != nil {
			return nil, err
		}
		s = append(s, o)
	}
	return s, rows.Err()
}

// differs says how another schema differs from s, "" when it does not.
func (s shape) differs(other shape) string {
	for _, o := range other {
		i := slices.IndexFunc(s, func(k object) bool { return k.kind == o.kind && k.name == o.name })
		switch {
		case i < 0:
			return fmt.Sprintf("its schema has a %s %q that is not Amber's", clip(o.kind), clip(o.name))
		case s[i] != o:
			return fmt.Sprintf("the %s %q of its schema is not Amber's", clip(o.kind), clip(o.name))
		}
	}
	for _, k := range s {
		if !slices.Contains(other, k) {
			return fmt.Sprintf("its schema has no %s %q", k.kind, k.name)
		}
	}
	if len(s) != len(other) {
		return "its schema names something twice"
	}
	return ""
}

// clip shortens a name that comes from outside.
func clip(s string) string {
	const most = 60
	if len(s) > most {
		return s[:most] + "…"
	}
	return s
}
