package sqlite

import (
	"context"
	"os"
	"path/filepath"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/sqlcore"
	"github.com/amber-memory/amber/internal/store/sqlfile"
	"github.com/amber-memory/amber/store/home"
)

// Filler fills a memory.db that is made from records of another program.
type Filler struct {
	*sqlcore.Filler
	db *database
}

// Fill makes a memory.db at a path where no file is, for the generation c.
// After an error the caller throws the file away.
func Fill(ctx context.Context, path string, c home.Current, o Options) (*Filler, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	if _, err := os.Lstat(path); err == nil {
		return nil, amber.Errorf(amber.KindConflict, "make database", path, "the file exists already")
	}
	if err := sqlfile.MemorySchema.Build(ctx, path, c); err != nil {
		return nil, err
	}
	s := sqlfile.MemorySchema
	s.File = filepath.Base(path)
	d := &database{ground: site{filepath.Dir(path), c, func(home.Current) error { return nil }}, name: "memory", schema: s, o: o, core: o.core(), index: &sqlcore.Indexer{}}
	return &Filler{sqlcore.NewFiller(d), d}, nil
}

// Close lets go of the database.
func (f *Filler) Close() error { return f.db.close() }
