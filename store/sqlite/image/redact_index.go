package image

import (
	"fmt"

	"github.com/amber-memory/amber/store/sqlite/internal/sqlrows"
)

var (
	// MarkDeleted makes the indexes note what is deleted instead of taking it
	// out, which costs a hundred times as much.
	MarkDeleted = []string{
		`INSERT INTO memory_fts (memory_fts, rank) VALUES ('secure-delete', 0)`,
		`INSERT INTO memory_grams (memory_grams, rank) VALUES ('secure-delete', 0)`,
	}
	// writeIndexes writes both indexes anew, each as one segment without what
	// is noted as deleted.
	writeIndexes = []string{
		`INSERT INTO memory_fts (memory_fts) VALUES ('optimize')`,
		`INSERT INTO memory_grams (memory_grams) VALUES ('optimize')`,
	}
	TakeOutDeleted = []string{
		`INSERT INTO memory_fts (memory_fts, rank) VALUES ('secure-delete', 1)`,
		`INSERT INTO memory_grams (memory_grams, rank) VALUES ('secure-delete', 1)`,
	}
)

// withIndexes runs fn, whose changes of memories both full-text indexes
// follow by the triggers, and leaves nothing in the indexes that the memories
// no longer have.
func (d *redaction) withIndexes(fn func() error) error {
	if d.header.Schema.File != sqlrows.MemorySchema.File {
		return fn()
	}
	if err := d.ExecAll(MarkDeleted...); err != nil {
		return err
	}
	if err := fn(); err != nil {
		return err
	}
	if d.indexed {
		if err := d.ExecAll(sqlrows.IndexAllConcepts); err != nil {
			return fmt.Errorf("index concepts: %w", err)
		}
		if err := d.ExecAll(writeIndexes...); err != nil {
			return fmt.Errorf("write full text: %w", err)
		}
	}
	return d.ExecAll(TakeOutDeleted...)
}
