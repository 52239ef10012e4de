package sqlite

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
)

const (
	// exportMemories reads in the order of creation, concepts as one text.
	exportMemories = `SELECT (SELECT coalesce(group_concat(concept, char(10) ORDER BY concept), '') FROM concepts c WHERE c.memory_id = m.id), ` + memoryColumns + `
FROM memories m WHERE deleted_at IS NULL ORDER BY m.rowid`
	exportRelations = `SELECT ` + relationColumns + ` FROM relations r WHERE deleted_at IS NULL
AND NOT EXISTS (SELECT 1 FROM memories m WHERE m.id IN (r.from_id, r.to_id) AND m.deleted_at IS NOT NULL) ORDER BY r.created_at, r.id`
	exportTurns       = `SELECT seq, ` + turnColumns + ` FROM turns WHERE trust <> 'imported' ORDER BY seq`
	exportSessions    = `SELECT ` + sessionColumns + ` FROM sessions ORDER BY created_at, id`
	exportCompactions = `SELECT seq, ` + compactionColumns + ` FROM compactions ORDER BY seq`

	insertNexoMemory = `INSERT INTO memories (id, agent_id, content, tags, created_at, concept_tags, memory_type)
VALUES (?, ?, ?, ?, ?, ?, nullif(?, ''))`
	insertNexoText       = `INSERT INTO memories_fts (content, id, agent_id) VALUES (?, ?, ?)`
	insertNexoTurn       = `INSERT INTO interactions (id, session_id, agent_id, role, content, created_at) VALUES (?, ?, ?, ?, ?, ?)`
	insertNexoCompaction = `INSERT INTO compactions_v1 (session_id, compacted_at, head_turn_count, tail_start_index, summary, model_used, input_tokens, output_tokens)
VALUES (?, ?, ?, ?, ?, '', 0, 0)`
	lastNexoCompaction = `SELECT coalesce(max(compacted_at), 0) FROM compactions_v1 WHERE session_id = ?`
)

// conceptsFirst is a row of exportMemories.
type conceptsFirst struct {
	scanner
	concepts string
}

func (c *conceptsFirst) Scan(dest ...any) error {
	return c.scanner.Scan(append([]any{&c.concepts}, dest...)...)
}

// memories writes every live memory with its full text.
func (e *nexoExport) memories(t *tx) error {
	return e.from.each(exportMemories, nil, func(s scanner) error {
		row := &conceptsFirst{scanner: s}
		m, err := scanMemory(row)
		if err != nil {
			return e.leaveOut("memories that cannot be read", err)
		}
		e.report.Memories++
		return e.memory(t, m, splitLines(row.concepts))
	})
}

func (e *nexoExport) memory(t *tx, m amber.Memory, concepts []string) error {
	tags, err := marshal(m.Tags)
	if err != nil {
		return err
	}
	conceptTags, err := marshal(nexoConcepts(m.Foreign[nexoForeign], concepts))
	if err != nil {
		return err
	}
	kind := nexoType(m)
	if kind != "" {
		kind = `"` + kind + `"`
	}
	fields := nexoMemory{Memory: m}
	content := m.Content
	if m.Title != "" && !strings.HasPrefix(content, m.Title) {
		fields.Titled, content = true, m.Title+titleBreak+content
	}
	if _, err := t.exec(insertNexoMemory, m.ID, e.agent, content, tags, m.CreatedAt.UnixMilli(), conceptTags, kind); err != nil {
		return err
	}
	if _, err := t.exec(insertNexoText, content, m.ID, e.agent); err != nil {
		return err
	}
	fields.Content = ""
	e.countBeside(m)
	return e.keep(fieldsMemory, string(m.ID), e.report.Memories, fields)
}

// countBeside counts what nexo does not see of a memory.
func (e *nexoExport) countBeside(m amber.Memory) {
	for what, there := range map[string]bool{
		"titles, in front of the content": m.Title != "", "summaries": m.Summary != "", "topics": m.Topic != "",
		"scopes": m.Scope != amber.ScopeGlobal, "metadata": len(m.Metadata) > 0, "references to sources": len(m.SourceRefs) > 0,
	} {
		if there {
			e.beside.add(what, 1)
		}
	}
}

func (e *nexoExport) relations(*tx) error {
	return e.from.each(exportRelations, nil, func(s scanner) error {
		r, err := scanRelation(s)
		if err != nil {
			return e.leaveOut("relations that cannot be read", err)
		}
		e.report.Relations++
		e.beside.add("relations", 1)
		return e.keep(fieldsRelation, r.ID, e.report.Relations, r)
	})
}

// seqFirst is a row whose first column is its place.
type seqFirst struct {
	scanner
	seq int64
}

func (c *seqFirst) Scan(dest ...any) error {
	return c.scanner.Scan(append([]any{&c.seq}, dest...)...)
}

// trusting returns a query for a file that may not know the column trust:
// everything in it is its owner's.
func (e *nexoExport) trusting(query string) string {
	if e.version >= 3 {
		return query
	}
	return strings.Replace(strings.Replace(query, ", trust FROM", ", 'own' FROM", 1), "WHERE trust <> 'imported' ", "", 1)
}

// turns leaves out what others said: nexo puts turns before its agent unasked.
func (e *nexoExport) turns(t *tx) error {
	return e.from.each(e.trusting(exportTurns), nil, func(s scanner) error {
		row := &seqFirst{scanner: s}
		turn, err := scanTurn(row)
		if err != nil {
			return e.leaveOut("turns that cannot be read", err)
		}
		e.report.Turns++
		id := nexoUUID(fieldsTurn, string(turn.ID))
		session := nexoUUID(fieldsSession, string(turn.SessionID))
		if _, err := t.exec(insertNexoTurn, id, session, e.agent, turn.Role, turn.Content, turn.CreatedAt.UnixMilli()); err != nil {
			return err
		}
		return e.keep(fieldsTurn, id, row.seq, nexoTurn{turn.ID, turn.SessionID, turn.ProjectID, turn.Trust})
	})
}

func (e *nexoExport) sessions(*tx) error {
	return e.from.each(e.trusting(exportSessions), nil, func(s scanner) error {
		session, err := scanSession(s)
		if err != nil {
			return e.leaveOut("sessions that cannot be read", err)
		}
		e.report.Sessions++
		e.beside.add("sessions", 1)
		return e.keep(fieldsSession, nexoUUID(fieldsSession, string(session.ID)), e.report.Sessions, session)
	})
}

func (e *nexoExport) compactions(t *tx) error {
	return e.from.each(exportCompactions, nil, func(s scanner) error {
		row := &seqFirst{scanner: s}
		c, err := scanCompaction(row)
		if err != nil {
			return e.leaveOut("compactions that cannot be read", err)
		}
		e.report.Compactions++
		session := nexoUUID(fieldsSession, string(c.SessionID))
		// The time is part of the key there, and orders them.
		var last int64
		if err := t.row(lastNexoCompaction, session).Scan(&last); err != nil {
			return err
		}
		at := max(c.CreatedAt.UnixMilli(), last+1)
		if _, err := t.exec(insertNexoCompaction, session, at, c.Turns, c.Turns, c.Summary); err != nil {
			return err
		}
		return e.keep(fieldsCompaction, compactionKey(session, at), row.seq, nexoCompaction{c.ID, c.SessionID, c.CreatedAt})
	})
}

// compactionKey names a row of compactions_v1 in amber_fields.
func compactionKey(session string, at int64) string { return fmt.Sprintf("%s@%d", session, at) }

const exportConcepts = `SELECT m.id, m.created_at, m.foreign_fields, group_concat(c.concept, char(10) ORDER BY c.concept)
FROM memories m JOIN concepts c ON c.memory_id = m.id WHERE m.deleted_at IS NULL GROUP BY m.rowid ORDER BY m.rowid`

// concepts writes the tags once more, into a file that nothing of nexo makes or
// reads: the memories that have some, without their text.
func (e *nexoExport) concepts(t *tx) error {
	return e.from.each(exportConcepts, nil, func(s scanner) error {
		var id, fields, concepts string
		var createdAt int64
		if err := s.Scan(&id, &createdAt, &fields, &concepts); err != nil {
			return err
		}
		var foreign map[string]json.RawMessage
		if json.Unmarshal([]byte(fields), &foreign) != nil {
			return nil // the memory is left out, too
		}
		tags, err := marshal(nexoConcepts(foreign[nexoForeign], splitLines(concepts)))
		if err != nil {
			return err
		}
		e.report.Concepts++
		_, err = t.exec(insertNexoMemory, id, e.agent, "", "[]", createdAt, tags, "")
		return err
	})
}

const (
	countVectors = `SELECT model || char(10) || dimension, count(*) FROM embeddings e JOIN memories m ON m.id = e.memory_id
WHERE m.deleted_at IS NULL GROUP BY 1`
	exportVectors = `SELECT e.memory_id, e.model, e.dimension, e.vector FROM embeddings e JOIN memories m ON m.id = e.memory_id
WHERE m.deleted_at IS NULL ORDER BY m.rowid, e.model`
	insertNexoVector     = `INSERT INTO vec_memories (memory_id, embedding) VALUES (?, ?)`
	insertAmberEmbedding = `INSERT INTO amber_embeddings (memory_id, model, dimension, vector) VALUES (?, ?, ?, ?)`
)

// vectors writes all vectors for Amber, and for nexo, which has one model of one
// dimension, those of the model that most memories have.
func (e *nexoExport) vectors(t *tx) error {
	models, err := all(e.from, func(s scanner) (c NexoCount, err error) {
		err = s.Scan(&c.What, &c.Count)
		return c, err
	}, countVectors)
	if err != nil || len(models) == 0 {
		return err
	}
	chosen := slices.MinFunc(models, byCount).What
	var nexo *vec0Writer
	err = e.from.each(exportVectors, nil, func(s scanner) error {
		v, err := scanEmbedding(s)
		if err != nil {
			return e.leaveOut(lostVectors, err)
		}
		e.report.Embeddings++
		packed := packVector(v.Vector)
		if _, err := t.exec(insertAmberEmbedding, v.MemoryID, v.Model, len(v.Vector), packed); err != nil {
			return err
		}
		if fmt.Sprintf("%s\n%d", v.Model, len(v.Vector)) != chosen {
			e.beside.add("vectors of other models", 1)
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
		_, err = t.exec(insertNexoVector, v.MemoryID, packed)
		return err
	})
	if err != nil || nexo == nil {
		return err
	}
	return nexo.flush()
}

// leaveOut counts a row that cannot be read; every other error stays one.
func (e *nexoExport) leaveOut(what string, err error) error {
	if _, bad := asBadRow(err); !bad {
		return err
	}
	e.left.add(what, 1)
	return nil
}
