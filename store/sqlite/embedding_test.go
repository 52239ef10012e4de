package sqlite

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/sqlrows"
)

// PutEmbedding stores a vector as an import of a bundle of nexo does.
func (s *Store) PutEmbedding(ctx context.Context, e amber.Embedding) error {
	if err := e.Check(); err != nil {
		return err
	}
	return s.memory.Update(ctx, "put embedding", string(e.MemoryID), func(t *tx) error {
		digest, err := t.LiveDigest("put embedding", e.MemoryID)
		if err != nil {
			return err
		}
		if _, err := t.Exec(sqlrows.UpsertEmbedding, e.MemoryID, e.Model, len(e.Vector), sqlrows.PackVector(e.Vector)); err != nil {
			return err
		}
		return t.LogBeside(e.MemoryID, digest)
	})
}

// readVectors reads the vectors of a memory as an export to nexo does.
func (s *Store) readVectors(ctx context.Context, id amber.MemoryID) error {
	return s.memory.View(ctx, "read embeddings", string(id), func(t *tx) error {
		_, err := sqlrows.All(t.Tx, sqlrows.ScanEmbedding, `SELECT memory_id, model, dimension, vector FROM embeddings WHERE memory_id = ?`, id)
		return err
	})
}
