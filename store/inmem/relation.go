package inmem

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/amber-memory/amber"
)

var _ amber.Relations = (*Store)(nil)

// Relate implements [amber.Relations].
func (s *Store) Relate(ctx context.Context, r amber.Relation) (amber.Relation, error) {
	r, err := r.Normalize()
	if err != nil {
		return amber.Relation{}, err
	}
	return run(ctx, s, "relate memories", func() (amber.Relation, error) { return s.relate(s.now(), r) })
}

func (s *Store) relate(now amber.Time, r amber.Relation) (amber.Relation, error) {
	for _, id := range []amber.MemoryID{r.From, r.To} {
		if _, err := s.liveRecord("relate memories", id); err != nil {
			return amber.Relation{}, err
		}
	}
	stored, err := s.relationLike(now, r)
	if err != nil {
		return amber.Relation{}, err
	}
	stored.Strength = r.Strength
	stored.DeletedAt = amber.Time{}
	stored.Origin = s.origin(now, stored.Origin.Counter+1)
	s.relations[stored.ID] = stored
	s.touched(now, r.From)
	return stored, nil
}

// relationLike returns the relation of the same ends and type, also a deleted
// one, or a new one.
func (s *Store) relationLike(now amber.Time, r amber.Relation) (amber.Relation, error) {
	for _, c := range s.relations {
		if c.From == r.From && c.To == r.To && c.Type == r.Type {
			return c, nil
		}
	}
	id, err := s.newID(now)
	return amber.Relation{ID: id, From: r.From, To: r.To, Type: r.Type, CreatedAt: now}, err
}

// Unrelate implements [amber.Relations]. A relation that was unrelated before
// is not found.
func (s *Store) Unrelate(ctx context.Context, id string) error {
	return do(ctx, s, "unrelate memories", func() error {
		r, found := s.relations[id]
		if !found || !r.DeletedAt.IsZero() {
			return notFound("unrelate memories", id)
		}
		now := s.now()
		r.DeletedAt = now
		r.Origin = s.origin(now, r.Origin.Counter+1)
		s.relations[id] = r
		s.touched(now, r.From)
		return nil
	})
}

// Related implements [amber.Relations]: oldest first, then by id.
func (s *Store) Related(ctx context.Context, id amber.MemoryID) ([]amber.Relation, error) {
	return run(ctx, s, "read relations", func() ([]amber.Relation, error) {
		if _, err := s.liveRecord("read relations", id); err != nil {
			return nil, err
		}
		found := where(maps.Values(s.relations), func(r amber.Relation) bool {
			return (r.From == id || r.To == id) && r.DeletedAt.IsZero()
		})
		slices.SortFunc(found, func(a, b amber.Relation) int {
			return cmp.Or(cmp.Compare(a.CreatedAt.UnixMilli(), b.CreatedAt.UnixMilli()), cmp.Compare(a.ID, b.ID))
		})
		return found, nil
	})
}
