package sqlite

import (
	"context"

	"github.com/amber-memory/amber"
)

const (
	insertConcept  = `INSERT INTO concepts (memory_id, concept) VALUES (?, ?)`
	selectConcepts = `SELECT concept FROM concepts WHERE memory_id = ? ORDER BY concept`
	deleteConcepts = `DELETE FROM concepts WHERE memory_id = ?`
)

var _ amber.Concepts = (*Store)(nil)

// SetConcepts implements [amber.Concepts].
func (s *Store) SetConcepts(ctx context.Context, id amber.MemoryID, concepts []string) error {
	concepts, err := amber.NormalizeConcepts(concepts)
	if err != nil {
		return err
	}
	return s.memory.update(ctx, "set concepts", string(id), func(t *tx) error {
		digest, err := t.liveDigest("set concepts", id)
		if err != nil {
			return err
		}
		if _, err := t.exec(deleteConcepts, id); err != nil {
			return err
		}
		for _, c := range concepts {
			if _, err := t.exec(insertConcept, id, c); err != nil {
				return err
			}
		}
		return t.logBeside(id, digest)
	})
}

// Concepts implements [amber.Concepts].
func (s *Store) Concepts(ctx context.Context, id amber.MemoryID) (out []string, err error) {
	err = s.memory.view(ctx, "read concepts", string(id), func(t *tx) error {
		if _, err := t.liveDigest("read concepts", id); err != nil {
			return err
		}
		out, err = all(t, scanText, selectConcepts, id)
		return err
	})
	return out, err
}
