package inmem

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
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
	if stored.Origin != (amber.Origin{}) && stored.DeletedAt.IsZero() {
		if err := stored.Trust.MayChange(r.Trust, "relate memories", stored.ID); err != nil {
			return amber.Relation{}, err
		}
	}
	stored.Strength, stored.Trust, stored.Author = r.Strength, r.Trust, r.Author
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

// Relation implements [amber.Relations].
func (s *Store) Relation(ctx context.Context, id string) (amber.Relation, error) {
	return run(ctx, s, "read relation", func() (amber.Relation, error) {
		r, found := s.relations[id]
		if !found || !r.DeletedAt.IsZero() {
			return amber.Relation{}, notFound("read relation", id)
		}
		return r, nil
	})
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
		return s.related(id), nil
	})
}

func (s *Store) related(id amber.MemoryID) []amber.Relation {
	found := where(maps.Values(s.relations), func(r amber.Relation) bool {
		return (r.From == id || r.To == id) && r.DeletedAt.IsZero()
	})
	slices.SortFunc(found, func(a, b amber.Relation) int {
		return cmp.Or(cmp.Compare(a.CreatedAt.UnixMilli(), b.CreatedAt.UnixMilli()), cmp.Compare(a.ID, b.ID))
	})
	return found
}

// Neighbours implements [amber.Relations].
func (s *Store) Neighbours(ctx context.Context, q amber.NeighbourQuery) (amber.Neighbourhood, error) {
	return run(ctx, s, "read neighbourhood", func() (amber.Neighbourhood, error) {
		var of map[amber.MemoryID][]amber.Relation // made once: a look at every relation for each memory would take long
		return wire.CollectNeighbours(q, func(id amber.MemoryID) (amber.Memory, error) {
			r, err := s.liveRecord("read neighbourhood", id)
			if err != nil {
				return amber.Memory{}, err
			}
			return r.present(), nil
		}, func(id amber.MemoryID, types []string, limit int) ([]amber.Relation, error) {
			if of == nil {
				of = s.relationsByEnd(types)
			}
			return of[id][:min(limit, len(of[id]))], nil
		})
	})
}

// relationsByEnd returns the live relations of some types, or of all, by either end.
func (s *Store) relationsByEnd(types []string) map[amber.MemoryID][]amber.Relation {
	of := map[amber.MemoryID][]amber.Relation{}
	for _, r := range s.relations {
		if r.DeletedAt.IsZero() && (len(types) == 0 || slices.Contains(types, r.Type)) {
			of[r.From] = append(of[r.From], r)
			of[r.To] = append(of[r.To], r)
		}
	}
	return of
}
