package sqlfile

import (
	"context"
	"database/sql"
	"sync"

	sqlite3 "modernc.org/sqlite"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/sqlconn"
)

// shapes are those of the migrations of one schema, the first at index 0.
type shapes func() ([]sqlconn.Shape, error)

var knownShapes = map[string]shapes{
	MemorySchema.File:  sync.OnceValues(MemorySchema.shapes),
	ControlSchema.File: sync.OnceValues(ControlSchema.shapes),
}

// ShapeAt returns the shape a version has. Errors: damaged for a version that
// never was; too_new.
func (s Schema) ShapeAt(version int64) (sqlconn.Shape, error) {
	if version < 1 {
		return nil, amber.Errorf(amber.KindDamaged, "read schema", s.File, "schema %d does not exist", version)
	}
	if version > s.Version() {
		return nil, s.Judge(version, s.File)
	}
	known, err := knownShapes[s.File]()
	if err != nil {
		return nil, sqlconn.Wrap("make schema", s.File, err)
	}
	return known[version-1], nil
}

// shapes runs the migrations in memory and looks at the schema after each.
func (s Schema) shapes() (all []sqlconn.Shape, err error) {
	ctx := context.Background()
	c, err := sqlite3.NewConnector("file::memory:?_dqs=0&_pragma=trusted_schema(0)")
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(c)
	db.SetMaxOpenConns(1) // the database is the connection
	defer db.Close()
	for v := range s.Migrations {
		step := s
		step.Migrations = s.Migrations[:v+1]
		if err := step.Migrate(ctx, db, int64(v)); err != nil {
			return nil, err
		}
		found, err := sqlconn.ReadShape(ctx, db)
		if err != nil {
			return nil, err
		}
		all = append(all, found)
	}
	return all, nil
}
