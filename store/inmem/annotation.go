package inmem

import (
	"context"
	"maps"
	"slices"

	"github.com/amber-memory/amber"
)

var _ amber.Concepts = (*Store)(nil)

// SetConcepts implements [amber.Concepts].
func (s *Store) SetConcepts(ctx context.Context, id amber.MemoryID, concepts []string) error {
	concepts, err := amber.NormalizeConcepts(concepts)
	if err != nil {
		return err
	}
	return s.annotate(ctx, "set concepts", id, func(r *record) { r.concepts, r.passages = concepts, nil })
}

// CountConcepts implements [amber.Concepts].
func (s *Store) CountConcepts(ctx context.Context) ([]amber.ConceptCount, error) {
	return run(ctx, s, "count concepts", func() ([]amber.ConceptCount, error) {
		counts := map[string]int64{}
		for _, r := range s.records {
			if r.live() {
				for _, c := range r.concepts {
					counts[c]++
				}
			}
		}
		list := []amber.ConceptCount{}
		for _, c := range slices.Sorted(maps.Keys(counts)) {
			list = append(list, amber.ConceptCount{Concept: c, Memories: counts[c]})
		}
		slices.SortStableFunc(list, func(a, b amber.ConceptCount) int { return int(b.Memories - a.Memories) })
		return list[:min(len(list), amber.MaxPageSize)], nil
	})
}

// Concepts implements [amber.Concepts].
func (s *Store) Concepts(ctx context.Context, id amber.MemoryID) ([]string, error) {
	return run(ctx, s, "read concepts", func() ([]string, error) {
		r, err := s.liveRecord("read concepts", id)
		if err != nil {
			return nil, err
		}
		return copyList(r.concepts), nil
	})
}

// annotate changes what hangs on a live memory; change works on a copy of the
// record.
func (s *Store) annotate(ctx context.Context, op string, id amber.MemoryID, change func(*record)) error {
	return do(ctx, s, op, func() error {
		r, err := s.liveRecord(op, id)
		if err != nil {
			return err
		}
		next := *r
		change(&next)
		s.records[id] = &next
		s.touched(s.now(), id)
		return nil
	})
}
