package nexo

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
)

const (
	insertMemory = `INSERT INTO memories (id, agent_id, content, tags, created_at, concept_tags, memory_type)
VALUES (?, ?, ?, ?, ?, ?, nullif(?, ''))`
	insertText       = `INSERT INTO memories_fts (content, id, agent_id) VALUES (?, ?, ?)`
	insertTurn       = `INSERT INTO interactions (id, session_id, agent_id, role, content, created_at) VALUES (?, ?, ?, ?, ?, ?)`
	insertCompaction = `INSERT INTO compactions_v1 (session_id, compacted_at, head_turn_count, tail_start_index, summary, model_used, input_tokens, output_tokens)
VALUES (?, ?, ?, ?, ?, '', 0, 0)`
	lastCompaction = `SELECT coalesce(max(compacted_at), 0) FROM compactions_v1 WHERE session_id = ?`
)

// memories writes every live memory with its full text.
func (e *exporter) memories(t conn) error {
	return e.from.Memories(func(m amber.Memory, concepts []string, ok bool) error {
		if !ok {
			return e.leaveOut("memories that cannot be read")
		}
		return e.memory(t, m, concepts)
	})
}

func (e *exporter) memory(t conn, m amber.Memory, concepts []string) error {
	kind := typeOf(m)
	if kind != "" {
		kind = `"` + kind + `"`
	}
	fields := memoryFields{Memory: m}
	content := m.Content
	if m.Title != "" && !strings.HasPrefix(content, m.Title) {
		fields.Titled, content = true, m.Title+titleBreak+content
	}
	if err := t.exec(insertMemory, m.ID, e.agent, content, listText(m.Tags), m.CreatedAt.UnixMilli(), listText(inOrder(m.Foreign[foreignKey], concepts)), kind); err != nil {
		return err
	}
	if err := t.exec(insertText, content, m.ID, e.agent); err != nil {
		return err
	}
	fields.Content = ""
	return e.keepNext(fieldsMemory, string(m.ID), fields)
}

// listText returns a list as JSON.
func listText(list []string) string {
	b, _ := json.Marshal(list) // texts
	return string(b)
}

func (e *exporter) relations(conn) error {
	return e.from.Relations(func(r amber.Relation, ok bool) error {
		if !ok {
			return e.leaveOut("relations that cannot be read")
		}
		return e.keepNext(fieldsRelation, r.ID, r)
	})
}

// turns leaves out what others said: nexo shows turns to its agent unasked.
func (e *exporter) turns(t conn) error {
	return e.from.Turns(func(seq int64, turn amber.Turn, ok bool) error {
		if !ok {
			return e.leaveOut("turns that cannot be read")
		}
		id := uuidOf(fieldsTurn, string(turn.ID))
		session := uuidOf(fieldsSession, string(turn.SessionID))
		if err := t.exec(insertTurn, id, session, e.agent, turn.Role, turn.Content, turn.CreatedAt.UnixMilli()); err != nil {
			return err
		}
		return e.keep(fieldsTurn, id, seq, turnFields{turn.ID, turn.SessionID, turn.ProjectID, turn.Trust})
	})
}

func (e *exporter) sessions(conn) error {
	return e.from.Sessions(func(s amber.Session, ok bool) error {
		if !ok {
			return e.leaveOut("sessions that cannot be read")
		}
		return e.keepNext(fieldsSession, uuidOf(fieldsSession, string(s.ID)), s)
	})
}

func (e *exporter) compactions(t conn) error {
	return e.from.Compactions(func(seq int64, c amber.Compaction, ok bool) error {
		if !ok {
			return e.leaveOut("compactions that cannot be read")
		}
		session := uuidOf(fieldsSession, string(c.SessionID))
		// The time is part of the key in nexo, and orders the rows.
		var last int64
		if err := t.row(lastCompaction, session).Scan(&last); err != nil {
			return err
		}
		at := max(c.CreatedAt.UnixMilli(), last+1)
		if err := t.exec(insertCompaction, session, at, c.Turns, c.Turns, c.Summary); err != nil {
			return err
		}
		return e.keep(fieldsCompaction, compactionKey(session, at), seq, compactionFields{c.ID, c.SessionID, c.CreatedAt})
	})
}

// compactionKey names a row of compactions_v1 in amber_fields.
func compactionKey(session string, at int64) string { return fmt.Sprintf("%s@%d", session, at) }

// concepts writes the tags once more, into a file that nothing of nexo makes or
// reads: the memories that have some, without their text.
func (e *exporter) concepts(t conn) error {
	return e.from.Memories(func(m amber.Memory, concepts []string, ok bool) error {
		if !ok || len(concepts) == 0 {
			return nil
		}
		tags := listText(inOrder(m.Foreign[foreignKey], concepts))
		return t.exec(insertMemory, m.ID, e.agent, "", "[]", m.CreatedAt.UnixMilli(), tags, "")
	})
}

const (
	insertVector         = `INSERT INTO vec_memories (memory_id, embedding) VALUES (?, ?)`
	insertAmberEmbedding = `INSERT INTO amber_embeddings (memory_id, model, dimension, vector) VALUES (?, ?, ?, ?)`
)

// vectors writes all vectors for Amber, and for nexo, which has one model of one
// dimension, those of the model that most memories have.
func (e *exporter) vectors(t conn) error {
	var models []Count
	err := e.from.Models(func(model string, dimension int, n int64) error {
		models = append(models, Count{modelKey(model, dimension), n})
		return nil
	})
	if err != nil || len(models) == 0 {
		return err
	}
	chosen := slices.MinFunc(models, byCount).What
	var nexo *vec0Writer
	err = e.from.Embeddings(func(v amber.Embedding, ok bool) error {
		if !ok {
			return e.leaveOut(lostVectors)
		}
		packed := packVector(v.Vector)
		if err := t.exec(insertAmberEmbedding, v.MemoryID, v.Model, len(v.Vector), packed); err != nil {
			return err
		}
		if modelKey(v.Model, len(v.Vector)) != chosen {
			return nil
		}
		if nexo == nil {
			if nexo, err = newVec0(e.fields, len(v.Vector)); err != nil {
				return err
			}
		}
		if err := nexo.add(string(v.MemoryID), packed); err != nil {
			return err
		}
		return t.exec(insertVector, v.MemoryID, packed)
	})
	if err != nil || nexo == nil {
		return err
	}
	return nexo.flush()
}

func modelKey(model string, dimension int) string { return fmt.Sprintf("%s\n%d", model, dimension) }

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

// leaveOut counts a row that cannot be read.
func (e *exporter) leaveOut(what string) error {
	e.left.add(what, 1)
	return nil
}
