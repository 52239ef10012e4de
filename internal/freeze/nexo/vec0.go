package nexo

import (
	"encoding/binary"
	"fmt"
)

// nexo keeps its vectors in long_term.sqlite, in a table of the module vec0
// (sqlite-vec 0.1.6). The module is no part of Amber: its tables are written as
// it would have written them, and the virtual table is entered into the schema.

// vec0Size is how many vectors one chunk has room for.
const vec0Size = 1024

const (
	vec0Schema = `
CREATE TABLE "vec_memories_info" (key text primary key, value any);
INSERT INTO "vec_memories_info" VALUES ('CREATE_VERSION', 'v0.1.6'), ('CREATE_VERSION_MAJOR', 0), ('CREATE_VERSION_MINOR', 1), ('CREATE_VERSION_PATCH', 6);
CREATE TABLE "vec_memories_chunks"(chunk_id INTEGER PRIMARY KEY AUTOINCREMENT,size INTEGER NOT NULL,validity BLOB NOT NULL,rowids BLOB NOT NULL);
CREATE TABLE "vec_memories_rowids"(rowid INTEGER PRIMARY KEY AUTOINCREMENT,id TEXT UNIQUE NOT NULL,chunk_id INTEGER,chunk_offset INTEGER);
CREATE TABLE "vec_memories_vector_chunks00"(rowid PRIMARY KEY,vectors BLOB NOT NULL);
PRAGMA writable_schema = 1;
INSERT INTO sqlite_schema (type, name, tbl_name, rootpage, sql)
  VALUES ('table', 'vec_memories', 'vec_memories', 0, 'CREATE VIRTUAL TABLE vec_memories USING vec0(memory_id TEXT PRIMARY KEY, embedding FLOAT[%d])');
PRAGMA writable_schema = 0;
`
	insertVec0Name    = `INSERT INTO vec_memories_rowids (rowid, id, chunk_id, chunk_offset) VALUES (?, ?, ?, ?)`
	insertVec0Chunk   = `INSERT INTO vec_memories_chunks (chunk_id, size, validity, rowids) VALUES (?, ?, ?, ?)`
	insertVec0Vectors = `INSERT INTO vec_memories_vector_chunks00 (rowid, vectors) VALUES (?, ?)`
)

// vec0Writer writes vectors of one dimension.
type vec0Writer struct {
	t     conn
	width int // bytes of a vector
	count int64

	chunk                     int64
	validity, rowids, vectors []byte
}

// newVec0 makes the tables.
func newVec0(t conn, dimension int) (*vec0Writer, error) {
	if _, err := t.SQL.ExecContext(t.ctx, fmt.Sprintf(vec0Schema, dimension)); err != nil {
		return nil, fmt.Errorf("make vec_memories: %w", err)
	}
	return &vec0Writer{t: t, width: 4 * dimension}, nil
}

// add writes the vector of a memory.
func (v *vec0Writer) add(id string, packed []byte) error {
	at := v.count % vec0Size
	if at == 0 {
		if err := v.flush(); err != nil {
			return err
		}
		v.chunk++
		v.validity, v.rowids, v.vectors = make([]byte, vec0Size/8), make([]byte, 8*vec0Size), make([]byte, vec0Size*v.width)
	}
	v.count++
	v.validity[at/8] |= 1 << (at % 8)
	binary.LittleEndian.PutUint64(v.rowids[8*at:], uint64(v.count))
	copy(v.vectors[int(at)*v.width:], packed)
	return v.t.exec(insertVec0Name, v.count, id, v.chunk, at)
}

// flush writes the chunk that is being filled, if there is one.
func (v *vec0Writer) flush() error {
	if v.validity == nil {
		return nil
	}
	if err := v.t.exec(insertVec0Chunk, v.chunk, vec0Size, v.validity, v.rowids); err != nil {
		return err
	}
	v.validity = nil
	return v.t.exec(insertVec0Vectors, v.chunk, v.vectors)
}
