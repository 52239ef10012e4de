package bounds

import (
	"context"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

func (l *Limit) relate(ctx context.Context, c *amber.Call) error {
	r := c.In[0].(*amber.Relation)
	from, to := r.From, r.To
	var err error
	if r.From, err = l.memory(ctx, from); err == nil {
		r.To, err = l.memory(ctx, to)
	}
	if err != nil {
		return err
	}
	return asked(to, asked(from, c.Next(ctx)))
}

// relation returns the id under which a relation is asked for: its own, or a stand-in where the caller does not see both
// ends of it.
func (l *Limit) relation(ctx context.Context, id string) (string, error) {
	r, err := l.store.Relations.Relation(ctx, id)
	if err != nil {
		if missing(err) {
			err = nil
		}
		return id, err
	}
	sees, err := l.seesRelation(ctx, r)
	if err != nil || sees {
		return id, err
	}
	return standIn(id), nil
}

// neighbours answers from the memories that the caller sees: those of others are no steps of a way and count for nothing.
func (l *Limit) neighbours(ctx context.Context, c *amber.Call) error {
	q := c.In[0].(*amber.NeighbourQuery)
	var err error
	if q.Identities, err = l.named(q.Identities); err != nil {
		return err
	}
	id := q.ID
	if q.ID, err = l.memory(ctx, id); err != nil {
		return err
	}
	if q.ID != id {
		return asked(id, c.Next(ctx))
	}
	return answered(wire.CollectNeighbours(*q,
		func(id amber.MemoryID) (amber.Memory, error) { return l.Get(ctx, id, l.store.Memories.Get) },
		func(id amber.MemoryID, types []string, limit int) ([]amber.Relation, error) {
			list, err := l.relationsOf(ctx, id)
			if len(types) > 0 {
				list = slices.DeleteFunc(list, func(r amber.Relation) bool { return !slices.Contains(types, r.Type) })
			}
			return list[:min(limit, len(list))], err
		}))(c)
}

// relationsOf returns the relations of a memory that the caller sees.
func (l *Limit) relationsOf(ctx context.Context, id amber.MemoryID) ([]amber.Relation, error) {
	list, err := l.store.Relations.Related(ctx, id)
	if err != nil {
		return nil, err
	}
	return kept(list, func(r amber.Relation) (bool, error) { return l.seesRelation(ctx, r) })
}

// seesRelation reports whether the caller sees both ends of a relation.
func (l *Limit) seesRelation(ctx context.Context, r amber.Relation) (bool, error) {
	sees, err := l.seesMemory(ctx, r.From)
	if err != nil || !sees {
		return false, err
	}
	return l.seesMemory(ctx, r.To)
}

// countConcepts refuses: the counts are of the whole agent.
func (l *Limit) countConcepts(_ context.Context, c *amber.Call) error {
	return amber.Errorf(amber.KindRefused, c.Method.Op, "", "concepts are counted of the whole agent; the caller is bound to %s", l.bound)
}

// statsPage is how many memories are counted at a time.
const statsPage = 200

// stats counts the memories and sessions that the caller sees, and nothing else.
func (l *Limit) stats(ctx context.Context, c *amber.Call) error {
	out := amber.Stats{ByKind: map[amber.MemoryKind]int64{}, ByScope: map[amber.Scope]int64{}, ByTrust: map[amber.Trust]int64{}}
	q := amber.ListQuery{All: true, Deleted: true, Limit: statsPage}
	for more := true; more; more = q.Cursor != "" {
		p, err := l.List(ctx, q, l.store.Memories.List)
		if err != nil {
			return err
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
		p, err := l.sessionsOf(ctx, s, l.store.Sessions.ListSessions)
		if missing(err) {
			break
		}
		if err != nil {
			return err
		}
		out.Sessions += int64(len(p.Items))
		s.Cursor = p.Next
	}
	return answered(out, nil)(c)
}
