package sqlrows

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/amber-memory/amber"
)

// UpsertEmbedding stores a vector of a memory. Bundles of nexo bring vectors and
// take them along; nothing else reads them.
const UpsertEmbedding = `INSERT INTO embeddings (memory_id, model, dimension, vector) VALUES (?, ?, ?, ?)
ON CONFLICT (memory_id, model) DO UPDATE SET dimension = excluded.dimension, vector = excluded.vector`

// ScanEmbedding reads a vector. A vector whose length does not match its dimension is damaged.
func ScanEmbedding(s scanner) (amber.Embedding, error) {
	var e amber.Embedding
	var dimension int
	var packed []byte
	if err := s.Scan(&e.MemoryID, &e.Model, &dimension, &packed); err != nil {
		return e, err
	}
	if len(packed) != 4*dimension {
		return amber.Embedding{}, Damaged("read embedding", string(e.MemoryID),
			fmt.Errorf("the vector of model %s has %d bytes, want 4 for each of %d dimensions", e.Model, len(packed), dimension))
	}
	e.Vector = unpackVector(packed)
	if err := e.Check(); err != nil {
		return amber.Embedding{}, Damaged("read embedding", string(e.MemoryID), err)
	}
	return e, nil
}

// PackVector returns the little-endian bytes of a vector.
func PackVector(v []float32) []byte {
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
