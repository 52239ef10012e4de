package nexo

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
)

// The vectors of an export lie in long_term.sqlite as the module vec0 writes them:
// 1 500 make two chunks. AMBER_KEEP_NEXO names a folder to keep the files in, for
// a reader who has the module.
func TestVectorsAreWhereNexoReadsThem(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, _ := freshStore(t)
	const n = 1500
	var ids []amber.MemoryID
	for from := 0; from < n; from += amber.MaxBatchSize {
		var batch []amber.WriteRequest
		for i := from; i < min(n, from+amber.MaxBatchSize); i++ {
			batch = append(batch, amber.WriteRequest{Content: fmt.Sprint("fish number ", i)})
		}
		for _, ack := range must.Get(s.WriteBatch(ctx, batch))(t) {
			ids = append(ids, ack.ID)
		}
	}
	db := asked(t, s.path, "BEGIN")
	for i, id := range ids {
		must.Get(db.ExecContext(ctx, `INSERT INTO embeddings (memory_id, model, dimension, vector) VALUES (?, 'm', 3, ?)`, string(id), packVector([]float32{float32(i), 1, 2})))(t)
	}
	must.Get(db.ExecContext(ctx, "COMMIT"))(t)
	must.Do(t, db.Close())
	dir := t.TempDir()
	if keep := os.Getenv("AMBER_KEEP_NEXO"); keep != "" {
		dir = keep
	}
	must.Get(export(t, copyOf(t, s), dir, "ana"))(t)
	long := filepath.Join(dir, LongTerm)
	if sql := query[string](t, long, `SELECT sql FROM sqlite_schema WHERE name = 'vec_memories'`); !strings.Contains(sql, "vec0(memory_id TEXT PRIMARY KEY, embedding FLOAT[3])") {
		t.Errorf("the table is %s", sql)
	}
	if got := query[string](t, long, `SELECT group_concat(chunk_id || ':' || size || ':' || length(validity) || ':' || length(rowids), ' ') FROM vec_memories_chunks`); got != "1:1024:128:8192 2:1024:128:8192" {
		t.Errorf("chunks %s", got)
	}
	for _, i := range []int{0, 1023, 1024, n - 1} {
		chunk, at := i/1024+1, i%1024
		if got := query[string](t, long, fmt.Sprintf(`SELECT chunk_id || '/' || chunk_offset FROM vec_memories_rowids WHERE id = '%s'`, ids[i])); got != fmt.Sprintf("%d/%d", chunk, at) {
			t.Errorf("vector %d is at %s", i, got)
		}
		packed := []byte(query[string](t, long, fmt.Sprintf(`SELECT substr(vectors, %d, 12) FROM vec_memories_vector_chunks00 WHERE rowid = %d`, 12*at+1, chunk)))
		if v := unpackVector(packed); len(v) != 3 || v[0] != float32(i) {
			t.Errorf("vector %d is %v", i, v)
		}
		rowid := []byte(query[string](t, long, fmt.Sprintf(`SELECT substr(rowids, %d, 8) FROM vec_memories_chunks WHERE chunk_id = %d`, 8*at+1, chunk)))
		must.Hold(t, len(rowid) == 8 && binary.LittleEndian.Uint64(rowid) == uint64(i+1), "row %d is %x", i, rowid)
	}
	path, _ := mustImport(t, dir, "ana")
	must.Equal(t, "vectors that came back", query[int](t, path, `SELECT count(*) FROM embeddings`), len(ids))
}

// Concept tags go back in the order they came in, which for nexo says something;
// one that was added here comes behind.
func TestConceptTagsKeepTheirOrder(t *testing.T) {
	t.Parallel()
	dir := byHand(t, fmt.Sprintf(`INSERT INTO memories VALUES ('%s', 'ana', 'a', '[]', %d, '["zebra","apple","mango"]', NULL)`, m1, t0))
	path, _ := mustImport(t, dir, "ana")
	must.Do(t, asked(t, path, fmt.Sprintf(`INSERT INTO concepts VALUES ('%s', 'banana')`, m1)).Close())
	again := exported(t, path)
	for _, name := range []string{LongTerm, Concepts} {
		if got := query[string](t, filepath.Join(again, name), `SELECT concept_tags FROM memories`); got != `["zebra","apple","mango","banana"]` {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// A row that cannot be read is left out of an export and counted.
func TestExportLeavesOutBadRows(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, _ := freshStore(t)
	for i := range 3 {
		must.Get(s.Write(ctx, amber.WriteRequest{Content: fmt.Sprint("fish number ", i)}))(t)
	}
	for _, id := range []amber.TurnID{"t1", "t2"} {
		must.Get(s.AppendTurn(ctx, amber.Turn{ID: id, SessionID: "s1", Role: "user", Content: "hello"}))(t)
	}
	asked(t, s.path, `UPDATE memories SET metadata = '{' WHERE rowid = 1; UPDATE turns SET created_at = -9223372036854775807 WHERE id = 't1'`)
	dir := t.TempDir()
	left := map[string]int64{}
	for _, c := range must.Get(export(t, copyOf(t, s), dir, "ana"))(t) {
		left[c.What] = c.Count
	}
	written := query[int64](t, filepath.Join(dir, LongTerm), `SELECT count(*) FROM memories`)
	must.Hold(t, written == 2 && left["memories that cannot be read"] == 1 && left["turns that cannot be read"] == 1, "%d written, left out %v", written, left)
}
