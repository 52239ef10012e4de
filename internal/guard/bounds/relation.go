package bounds

import (
	"context"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

type relations struct{ *Limit }

// Relate implements [amber.Relations].
func (l relations) Relate(ctx context.Context, r amber.Relation) (amber.Relation, error) {
	from, to := r.From, r.To
	var err error
	if r.From, err = l.memory(ctx, from); err == nil {
		r.To, err = l.memory(ctx, to)
	}
	if err != nil {
		return amber.Relation{}, err
	}
	r, err = l.store.Relations.Relate(ctx, r)
	return r, asked(to, asked(from, err))
}

// Relation implements [amber.Relations].
func (l relations) Relation(ctx context.Context, id string) (amber.Relation, error) {
	r, err := l.store.Relations.Relation(ctx, id)
	if err != nil {
		return amber.Relation{}, err
	}
	sees, err := l.seesRelation(ctx, r)
	if err != nil || sees {
		return r, err
	}
	_, err = l.store.Relations.Relation(ctx, standIn(id))
	return amber.Relation{}, asked(id, err)
}

// Unrelate implements [amber.Relations].
func (l relations) Unrelate(ctx context.Context, id string) error {
	r, err := l.store.Relations.Relation(ctx, id)
	if err != nil && !missing(err) {
		return err
	}
	as := standIn(id)
	if err == nil {
		sees, err := l.seesRelation(ctx, r)
		if err != nil {
			return err
		}
		if sees {
			as = id
		}
	}
	return asked(id, l.store.Relations.Unrelate(ctx, as))
}

// Related implements [amber.Relations].
func (l relations) Related(ctx context.Context, id amber.MemoryID) ([]amber.Relation, error) {
	list, err := find(ctx, id, l.memory, l.store.Relations.Related)
	if err != nil {
		return nil, err
	}
	return kept(list, func(r amber.Relation) (bool, error) { return l.seesRelation(ctx, r) })
}

// Neighbours implements [amber.Relations]. Memories of others are no steps of a way and count for nothing.
func (l relations) Neighbours(ctx context.Context, q amber.NeighbourQuery) (amber.Neighbourhood, error) {
	ids, err := l.named(q.Identities)
	if err != nil {
		return amber.Neighbourhood{}, err
	}
	q.Identities = ids
	as, err := l.memory(ctx, q.ID)
	if err != nil {
		return amber.Neighbourhood{}, err
	}
	if as != q.ID {
		id := q.ID
		q.ID = as
		n, err := l.store.Relations.Neighbours(ctx, q)
		return n, asked(id, err)
	}
	return wire.CollectNeighbours(q,
		func(id amber.MemoryID) (amber.Memory, error) { return memories(l).Get(ctx, id) },
		func(id amber.MemoryID, types []string, limit int) ([]amber.Relation, error) {
			list, err := l.Related(ctx, id)
			if len(types) > 0 {
				list = slices.DeleteFunc(list, func(r amber.Relation) bool { return !slices.Contains(types, r.Type) })
			}
			return list[:min(limit, len(list))], err
		})
}

// seesRelation reports whether the caller sees both ends of a relation.
func (l *Limit) seesRelation(ctx context.Context, r amber.Relation) (bool, error) {
	sees, err := l.seesMemory(ctx, r.From)
	if err != nil || !sees {
		return false, err
	}
	return l.seesMemory(ctx, r.To)
}

type concepts struct{ *Limit }

// SetConcepts implements [amber.Concepts].
func (l concepts) SetConcepts(ctx context.Context, id amber.MemoryID, tags []string) error {
	return change(ctx, id, l.memory, func(ctx context.Context, id amber.MemoryID) error {
		return l.store.Concepts.SetConcepts(ctx, id, tags)
	})
}

// Concepts implements [amber.Concepts].
func (l concepts) Concepts(ctx context.Context, id amber.MemoryID) ([]string, error) {
	return find(ctx, id, l.memory, l.store.Concepts.Concepts)
}

// CountConcepts implements [amber.Concepts]. The counts are of the whole agent.
func (l concepts) CountConcepts(context.Context) ([]amber.ConceptCount, error) {
	return nil, amber.Errorf(amber.KindRefused, "count concepts", "", "concepts are counted of the whole agent; the caller is bound to %s", l.bound)
}

type stats struct{ *Limit }

// statsPage is how many memories are counted at a time.
const statsPage = 200

// Stats implements [amber.StatsReader]: it counts the memories and sessions that the caller sees, and nothing else.
func (l stats) Stats(ctx context.Context) (amber.Stats, error) {
	out := amber.Stats{ByKind: map[amber.MemoryKind]int64{}, ByScope: map[amber.Scope]int64{}, ByTrust: map[amber.Trust]int64{}}
	q := amber.ListQuery{All: true, Deleted: true, Limit: statsPage}
	for more := true; more; more = q.Cursor != "" {
		p, err := memories(l).List(ctx, q)
		if err != nil {
			return amber.Stats{}, err
		}
		for _, m := range p.Items {
			if !m.DeletedAt.IsZero() {
				out.Deleted++
				continue
			}
			out.Memories++
			out.ByKind[m.Kind]++
			out.ByScope[m.Scope]++
			out.ByTrust[m.Trust]++
		}
		q.Cursor = p.Next
	}
	s := amber.SessionQuery{Limit: statsPage}
	for more := true; more; more = s.Cursor != "" {
		p, err := sessions(l).ListSessions(ctx, s)
		if missing(err) {
			break
		}
		if err != nil {
			return amber.Stats{}, err
		}
		out.Sessions += int64(len(p.Items))
		s.Cursor = p.Next
	}
	return out, nil
}
