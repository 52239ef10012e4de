package sqlrows

import (
	"encoding/binary"
	"fmt"

	"github.com/amber-memory/amber/internal/recall/search"
)

// The signs of the vectors of 256 rows are one value: for each row that has a vector its
// place among the 256, a byte, and its signs.

const (
	signChunk = 256

	selectSigns   = `SELECT chunk, signs FROM index_signs WHERE model = ?1 AND chunk IN (SELECT CAST(value AS INTEGER) FROM json_each(?2))`
	selectChunk   = `SELECT signs FROM index_signs WHERE model = ? AND chunk = ?`
	upsertChunk   = `INSERT OR REPLACE INTO index_signs (model, chunk, edition, signs) VALUES (?, ?, ?, ?)`
	deleteChunk   = `DELETE FROM index_signs WHERE model = ? AND chunk = ?`
	selectVectors = `SELECT row, vector FROM index_vectors WHERE model = ?1 AND row IN (SELECT CAST(value AS INTEGER) FROM json_each(?2))`
	chunkVectors  = `SELECT row, vector FROM index_vectors WHERE model = ? AND row >= ? AND row < ? ORDER BY row`
	upsertVector  = `INSERT OR REPLACE INTO index_vectors (model, row, vector) VALUES (?, ?, ?)`
	deleteVector  = `DELETE FROM index_vectors WHERE row = ? AND model = ?`
	selectModels  = `SELECT DISTINCT model FROM index_signs ORDER BY model`
	dropVectors   = `DELETE FROM index_vectors WHERE model = ?`
	dropSigns     = `DELETE FROM index_signs WHERE model = ?`

	selectPassages = `SELECT row, source, owner, part, session_id, place, speaker, asks, at FROM passages WHERE row IN (SELECT CAST(value AS INTEGER) FROM json_each(?))`
	selectBeside   = `SELECT DISTINCT row FROM json_each(?1) AS near CROSS JOIN passages INDEXED BY passages_place
  WHERE session_id <> '' AND session_id = near.value ->> 0 AND place BETWEEN CAST(near.value ->> 1 AS INTEGER) - ?2 AND CAST(near.value ->> 1 AS INTEGER) + ?2`
)

// Passages implements [search.Source].
func (x IndexRows) Passages(rows []int64) (map[int64]search.Passage, error) {
	moves, _, err := x.state(stateMoves)
	if err != nil {
		return nil, err
	}
	return x.Index.Passages(moves, rows, x.readPassages)
}

func (x IndexRows) readPassages(rows []int64) (map[int64]search.Passage, error) {
	list, err := marshalList(rows)
	if err != nil {
		return nil, err
	}
	out := make(map[int64]search.Passage, len(rows))
	err = x.Each(selectPassages, []any{list}, func(s scanner) error {
		var row int64
		var p search.Passage
		err := s.Scan(&row, &p.Source, &p.Owner, &p.Part, &p.Session, &p.Place, &p.Speaker, &p.Asks, &p.At)
		out[row] = p
		return err
	})
	return out, err
}

// Beside implements [search.Source].
func (x IndexRows) Beside(places []search.Place, steps int64) ([]int64, error) {
	pairs := make([][2]any, len(places))
	for i, p := range places {
		pairs[i] = [2]any{p.Session, p.At}
	}
	list, err := marshalList(pairs)
	if err != nil {
		return nil, err
	}
	return All(x.Tx, func(s scanner) (row int64, err error) {
		err = s.Scan(&row)
		return row, err
	}, selectBeside, list, steps)
}

// Signs implements [search.Source].
func (x IndexRows) Signs(model string) ([]search.Signs, error) { return x.Index.Signs(model, x) }

// SignState implements [search.SignRows].
func (x IndexRows) SignState() (int64, error) {
	n, _, err := x.state(stateSigns)
	return n, err
}

// SelectChunks and selectAllSigns have no condition: to compare a key SQLite reads all of its
// row, signs and all.
const (
	SelectChunks   = `SELECT model, chunk, edition FROM index_signs ORDER BY model, chunk`
	selectAllSigns = `SELECT chunk, CASE model WHEN ? THEN signs END FROM index_signs`
)

// Chunks implements [search.SignRows].
func (x IndexRows) Chunks(model string) (out []search.Chunk, err error) {
	err = x.Each(SelectChunks, nil, func(s scanner) error {
		var name string
		var c search.Chunk
		err := s.Scan(&name, &c.ID, &c.Edition)
		if name == model {
			out = append(out, c)
		}
		return err
	})
	return out, err
}

// manyChunks are so many that reading all of them is faster than looking for each.
const manyChunks = 16

// ReadSigns implements [search.SignRows].
func (x IndexRows) ReadSigns(model string, chunks []int64) (map[int64]search.Signs, error) {
	list, err := marshalList(chunks)
	if err != nil {
		return nil, err
	}
	query, args := selectSigns, []any{model, list}
	if len(chunks) >= manyChunks {
		query, args = selectAllSigns, []any{model}
	}
	out := make(map[int64]search.Signs, len(chunks))
	err = x.Each(query, args, func(s scanner) error {
		var chunk int64
		var b []byte
		if err := s.Scan(&chunk, &b); err != nil || b == nil {
			return err
		}
		signs, err := openSigns(chunk, b)
		out[chunk] = signs
		return err
	})
	return out, err
}

// openSigns reads a chunk: the width of its signs, and them.
func openSigns(chunk int64, b []byte) (s search.Signs, err error) {
	if len(b) < 2 {
		return s, fmt.Errorf("chunk %d of signs has %d bytes", chunk, len(b))
	}
	width := int(binary.LittleEndian.Uint16(b))
	if b = b[2:]; len(b)%(width+1) != 0 || len(b)/(width+1) > signChunk {
		return s, fmt.Errorf("chunk %d of signs has %d bytes, want a multiple of %d", chunk, len(b), width+1)
	}
	for ; len(b) > 0; b = b[width+1:] {
		s.Rows = append(s.Rows, chunk*signChunk+int64(b[0]))
		s.Bits = append(s.Bits, b[1:width+1]...)
	}
	return s, nil
}

// Vectors implements [search.Source].
func (x IndexRows) Vectors(model string, rows []int64) (map[int64]search.Vector, error) {
	return x.Index.Vectors(model, rows, func(rows []int64) (map[int64]search.Vector, error) { return x.readVectors(model, rows) })
}

func (x IndexRows) readVectors(model string, rows []int64) (map[int64]search.Vector, error) {
	list, err := marshalList(rows)
	if err != nil {
		return nil, err
	}
	out := make(map[int64]search.Vector, len(rows))
	err = x.Each(selectVectors, []any{model, list}, func(s scanner) error {
		row, v, err := scanVector(s)
		out[row] = v
		return err
	})
	return out, err
}

func scanVector(s scanner) (row int64, v search.Vector, err error) {
	err = s.Scan(&row, (*[]byte)(&v))
	return row, v, err
}

// PutVectors stores vectors of passages, and their signs.
func (x IndexRows) PutVectors(model string, vectors map[int64]search.Vector) error {
	chunks := map[int64]bool{}
	for row, v := range vectors {
		if err := x.exec(upsertVector, model, row, []byte(v)); err != nil {
			return err
		}
		chunks[row/signChunk] = true
	}
	for chunk := range chunks {
		if err := x.writeChunk(model, chunk); err != nil {
			return err
		}
	}
	return nil
}

// writeChunk makes the signs of a chunk of what vectors there are.
func (x IndexRows) writeChunk(model string, chunk int64) error {
	var b []byte
	err := x.Each(chunkVectors, []any{model, chunk * signChunk, (chunk + 1) * signChunk}, func(s scanner) error {
		row, v, err := scanVector(s)
		if err != nil {
			return err
		}
		width := (v.Dim() + 7) / 8
		if b == nil {
			b = binary.LittleEndian.AppendUint16(nil, uint16(width))
		}
		if int(binary.LittleEndian.Uint16(b)) != width {
			return Damaged("read vector", "", fmt.Errorf("the vector of passage %d has %d dimensions, unlike its neighbours", row, v.Dim()))
		}
		b = append(b, byte(row%signChunk))
		b = v.AppendSigns(b)
		return nil
	})
	if err != nil {
		return err
	}
	edition, err := x.nextNumber(stateSigns)
	if err != nil {
		return err
	}
	if b == nil {
		return x.exec(deleteChunk, model, chunk)
	}
	return x.exec(upsertChunk, model, chunk, edition, b)
}

// dropVectorsOf removes the vectors of passages.
func (x IndexRows) dropVectorsOf(rows []int64) error {
	models, err := All(x.Tx, ScanText, selectModels)
	if err != nil {
		return err
	}
	for _, model := range models {
		chunks := map[int64]bool{}
		for _, row := range rows {
			n, err := x.Exec(deleteVector, row, model)
			if err != nil {
				return err
			}
			if n > 0 {
				chunks[row/signChunk] = true
			}
		}
		for chunk := range chunks {
			if err := x.writeChunk(model, chunk); err != nil {
				return err
			}
		}
	}
	return nil
}
