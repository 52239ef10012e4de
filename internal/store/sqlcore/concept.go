package sqlcore

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/sqlrows"
)

const (
	insertConcept  = `INSERT INTO concepts (memory_id, concept) VALUES (?, ?)`
	selectConcepts = `SELECT concept FROM concepts WHERE memory_id = ? ORDER BY concept`
	countConcepts  = `SELECT c.concept, count(*) AS n FROM concepts c JOIN memories m ON m.id = c.memory_id
WHERE m.deleted_at IS NULL GROUP BY c.concept ORDER BY n DESC, c.concept LIMIT ?`
)

var _ amber.Concepts = (*Contracts)(nil)

// SetConcepts implements [amber.Concepts].
func (s *Contracts) SetConcepts(ctx context.Context, id amber.MemoryID, concepts []string) error {
	concepts, err := amber.NormalizeConcepts(concepts)
	if err != nil {
		return err
	}
	return s.memory.Update(ctx, "set concepts", string(id), func(t *Tx) error {
		digest, err := t.LiveDigest("set concepts", id)
		if err != nil {
			return err
		}
		if err := t.Do(sqlrows.DeleteConcepts, id); err != nil {
			return err
		}
		for _, c := range concepts {
			if err := t.Do(insertConcept, id, c); err != nil {
				return err
			}
		}
		return t.LogBeside(id, digest)
	})
}

// Concepts implements [amber.Concepts].
func (s *Contracts) Concepts(ctx context.Context, id amber.MemoryID) ([]string, error) {
	return view(ctx, s.memory, "read concepts", string(id), func(t *Tx) ([]string, error) {
		if _, err := t.LiveDigest("read concepts", id); err != nil {
			return nil, err
		}
		return sqlrows.All(t.Tx, sqlrows.ScanText, selectConcepts, id)
	})
}

// CountConcepts implements [amber.Concepts].
func (s *Contracts) CountConcepts(ctx context.Context) ([]amber.ConceptCount, error) {
	return view(ctx, s.memory, "count concepts", "", func(t *Tx) ([]amber.ConceptCount, error) {
		return sqlrows.All(t.Tx, func(s scanner) (c amber.ConceptCount, err error) {
			err = s.Scan(&c.Concept, &c.Memories)
			return c, err
		}, countConcepts, amber.MaxPageSize)
	})
}
