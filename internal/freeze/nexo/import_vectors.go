package nexo

import (
	"context"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/sqlconn"
)

// vecPrefix begins the names of the tables that the module vec0 keeps the
// vectors of vec_memories in.
const vecPrefix = "vec_memories"

const lostVectors = "vectors that cannot be read"

// isShadow reports whether a table belongs to a virtual one, or to SQLite.
func isShadow(name string) bool {
	return strings.HasPrefix(name, vecPrefix+"_") || strings.HasPrefix(name, "memories_fts_") || strings.HasPrefix(name, "sqlite_")
}

// vectors imports the vectors of memories that are there: those of all models
// from an export of Amber, and those of nexo that are not among them.
func (i *importer) vectors(ctx context.Context, f *file) error {
	for _, from := range []func(context.Context, *file) error{i.amberVectors, i.plainVectors, i.vec0Vectors} {
		if err := from(ctx, f); err != nil {
			return err
		}
	}
	return nil
}

func (i *importer) amberVectors(ctx context.Context, f *file) error {
	_, ok, err := f.use("amber_embeddings", "memory_id", "model", "vector")
	if !ok || err != nil {
		return i.without(f, "amber_embeddings", err)
	}
	query := `SELECT memory_id, vector, model FROM amber_embeddings ORDER BY rowid`
	return stream(ctx, i, f, lostVectors, query, nil, func(s sqlconn.Row) (e amber.Embedding, ok bool, err error) {
		var v [3]any
		if err := s.Scan(&v[0], &v[1], &v[2]); err != nil {
			return e, false, err
		}
		model, _ := text(v[2])
		e, ok = embeddingOf(v[0], v[1], model)
		return e, ok, nil
	}, i.storeVector)
}

// plainVectors reads a table of the columns that nexo's has.
func (i *importer) plainVectors(ctx context.Context, f *file) error {
	_, ok, err := f.use(vecPrefix, "memory_id", "embedding")
	if !ok || err != nil {
		return i.without(f, vecPrefix, err)
	}
	query := `SELECT memory_id, embedding FROM vec_memories ORDER BY rowid`
	return stream(ctx, i, f, lostVectors, query, nil, func(s sqlconn.Row) (e amber.Embedding, ok bool, err error) {
		var id, vector any
		if err := s.Scan(&id, &vector); err != nil {
			return e, false, err
		}
		e, ok = embeddingOf(id, vector, defaultModel)
		return e, ok, nil
	}, i.storeVector)
}

// embeddingOf checks a vector.
func embeddingOf(id, vector any, model string) (e amber.Embedding, ok bool) {
	name, nameOK := text(id)
	packed, packedOK := vector.([]byte)
	if !nameOK || !packedOK || len(packed)%4 != 0 || len(packed) > 4*amber.MaxDimension {
		return e, false
	}
	e = amber.Embedding{MemoryID: amber.MemoryID(uuidOf(fieldsMemory, name)), Model: model, Vector: unpackVector(packed)}
	return e, e.Check() == nil
}

func (i *importer) storeVector(e amber.Embedding) error {
	_, err := i.into.AddEmbedding(e)
	return i.orphan("vectors of no memory", err)
}

const (
	selectChunks = `SELECT chunk_id FROM vec_memories_chunks ORDER BY chunk_id`
	selectChunk  = `SELECT c.size, v.vectors FROM vec_memories_chunks c JOIN vec_memories_vector_chunks00 v ON v.rowid = c.chunk_id
WHERE c.chunk_id = ?`
	selectChunkNames = `SELECT id, chunk_offset FROM vec_memories_rowids WHERE chunk_id = ?`
)

// vec0Vectors reads the tables that the module vec0 keeps its vectors in: the
// module itself is no part of Amber, and would be run on a stranger's data.
func (i *importer) vec0Vectors(ctx context.Context, f *file) error {
	for name, columns := range map[string][]string{
		vecPrefix + "_chunks":          {"chunk_id", "size"},
		vecPrefix + "_rowids":          {"id", "chunk_id", "chunk_offset"},
		vecPrefix + "_vector_chunks00": {"vectors"},
	} {
		if _, ok, err := f.use(name, columns...); !ok || err != nil {
			return i.without(f, name, err)
		}
	}
	b := &batch[amber.Embedding]{i: i, ctx: ctx, store: i.storeVector}
	chunks, err := all(f.conn, func(s sqlconn.Row) (id any, err error) {
		err = s.Scan(&id)
		return id, err
	}, selectChunks)
	if err != nil {
		return err
	}
	for _, id := range chunks {
		if err := i.vec0Chunk(f, id, b); err != nil {
			return err
		}
	}
	return b.flush()
}

// vec0Chunk reads the vectors of a chunk: so many of one size, side by side.
func (i *importer) vec0Chunk(f *file, id any, b *batch[amber.Embedding]) error {
	var size, vectors any
	err := f.row(selectChunk, id).Scan(&size, &vectors)
	if absent(err) {
		i.left.add(lostVectors, 1)
		return nil
	}
	if err != nil {
		return err
	}
	n, _ := size.(int64)
	packed, _ := vectors.([]byte)
	if n <= 0 || n > int64(len(packed)) || len(packed)%int(n) != 0 {
		i.left.add(lostVectors, 1)
		return nil
	}
	width := int64(len(packed)) / n
	return f.each(selectChunkNames, []any{id}, func(s sqlconn.Row) error {
		var name, offset any
		if err := s.Scan(&name, &offset); err != nil {
			return err
		}
		at, isOffset := offset.(int64)
		if !isOffset || at < 0 || at >= n {
			i.left.add(lostVectors, 1)
			return nil
		}
		e, ok := embeddingOf(name, packed[at*width:(at+1)*width], defaultModel)
		if !ok {
			i.left.add(lostVectors, 1)
			return nil
		}
		return b.add(e)
	})
}
