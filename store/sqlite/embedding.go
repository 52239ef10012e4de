package sqlite

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/amber-memory/amber"
)

const (
	upsertEmbedding = `INSERT INTO embeddings (memory_id, model, dimension, vector) VALUES (?, ?, ?, ?)
ON CONFLICT (memory_id, model) DO UPDATE SET dimension = excluded.dimension, vector = excluded.vector`
	selectEmbeddings = `SELECT memory_id, model, dimension, vector FROM embeddings WHERE memory_id = ? ORDER BY model`
)

var _ amber.Embeddings = (*Store)(nil)

// PutEmbedding implements [amber.Embeddings].
func (s *Store) PutEmbedding(ctx context.Context, e amber.Embedding) error {
	if err := e.Check(); err != nil {
		return err
	}
	return s.memory.update(ctx, "put embedding", string(e.MemoryID), func(t *tx) error {
		digest, err := t.liveDigest("put embedding", e.MemoryID)
		if err != nil {
			return err
		}
		if _, err := t.exec(upsertEmbedding, e.MemoryID, e.Model, len(e.Vector), packVector(e.Vector)); err != nil {
			return err
		}
		return t.logBeside(e.MemoryID, digest)
	})
}

// Embeddings implements [amber.Embeddings]. A vector that does not have its
// dimension is damaged.
func (s *Store) Embeddings(ctx context.Context, id amber.MemoryID) (out []amber.Embedding, err error) {
	err = s.memory.view(ctx, "read embeddings", string(id), func(t *tx) error {
		if _, err := t.liveDigest("read embeddings", id); err != nil {
			return err
		}
		out, err = readRows(t, "embeddings", scanEmbedding, selectEmbeddings, id)
		return err
	})
	return out, err
}

func scanEmbedding(s scanner) (amber.Embedding, error) {
	var e amber.Embedding
	var dimension int
	var packed []byte
	if err := s.Scan(&e.MemoryID, &e.Model, &dimension, &packed); err != nil {
		return e, err
	}
	if len(packed) != 4*dimension {
		return amber.Embedding{}, unreadable("embeddings", string(e.MemoryID),
			fmt.Sprintf("the vector has %d bytes and %d dimensions", len(packed), dimension))
	}
	e.Vector = unpackVector(packed)
	if err := e.Check(); err != nil {
		return amber.Embedding{}, unreadable("embeddings", string(e.MemoryID), "the vector is not valid")
	}
	return e, nil
}

// packVector returns the little-endian bytes of a vector.
func packVector(v []float32) []byte {
	b := make([]byte, 0, 4*len(v))
	for _, f := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(f))
	}
	return b
}

func unpackVector(b []byte) []float32 {
	v := make([]float32, len(b)/4)
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return v
}
