package sqlfile

import (
	"context"
	"sync"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/sqlconn"
)

var knownShapes = map[string]func() ([]sqlconn.Shape, error){
	MemorySchema.File:  sync.OnceValues(func() ([]sqlconn.Shape, error) { return MemorySchema.Shapes(context.Background()) }),
	ControlSchema.File: sync.OnceValues(func() ([]sqlconn.Shape, error) { return ControlSchema.Shapes(context.Background()) }),
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
