package bounds

import (
	"context"

	"github.com/amber-memory/amber"
)

// sees reports whether the caller may see a memory.
func (l *Limit) sees(ctx context.Context, m amber.Memory) (bool, error) {
	b := l.bound.Identities()
	if m.Scope != amber.ScopeSession {
		own := b.For(m.Scope)
		return own == "" || own == m.Identity(), nil
	}
	every := true
	for _, s := range []amber.Scope{amber.ScopeUser, amber.ScopeProject, amber.ScopeWorkspace} {
		own, its := b.For(s), m.For(s)
		if own == "" || own == its {
			continue
		}
		if its != "" {
			return false, nil
		}
		every = false
	}
	if every {
		return true, nil
	}
	where, _, err := l.session(ctx, m.SessionID)
	return where == reached, err
}

// memory returns the id under which a memory is asked for: its own, or a stand-in where the caller does not see it. A deleted memory is
// seen as it was before.
func (l *Limit) memory(ctx context.Context, id amber.MemoryID) (amber.MemoryID, error) {
	sees, err := l.seesMemory(ctx, id)
	if err != nil || sees {
		return id, err
	}
	return standIn(id), nil
}

func (l *Limit) seesMemory(ctx context.Context, id amber.MemoryID) (bool, error) {
	m, err := l.store.Memories.Get(ctx, id)
	if amber.KindOf(err) == amber.KindNotFound {
		var last amber.Memory
		err := amber.Each(ctx, l.store.Memories.History, id, func(m amber.Memory) error {
			last = m
			return nil
		})
		if missing(err) || err == nil && last.ID == "" {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		return l.sees(ctx, last)
	}
	if err != nil {
		return false, err
	}
	return l.sees(ctx, m)
}

func (l *Limit) get(ctx context.Context, c *amber.Call) error {
	return answered(l.Get(ctx, *c.In[0].(*amber.MemoryID), l.store.Memories.Get))(c)
}

func (l *Limit) list(ctx context.Context, c *amber.Call) error {
	return answered(l.List(ctx, *c.In[0].(*amber.ListQuery), l.store.Memories.List))(c)
}

// Get reads a memory with get, which may read it in a snapshot.
func (l *Limit) Get(ctx context.Context, id amber.MemoryID, get func(context.Context, amber.MemoryID) (amber.Memory, error)) (amber.Memory, error) {
	m, err := get(ctx, id)
	if err != nil {
		return amber.Memory{}, err
	}
	sees, err := l.sees(ctx, m)
	if err != nil || sees {
		return m, err
	}
	_, err = get(ctx, standIn(id))
	return amber.Memory{}, asked(id, err)
}

// List lists memories with list, which may list those of a snapshot. Errors: refused when the query names the identity of others.
func (l *Limit) List(ctx context.Context, q amber.ListQuery, list func(context.Context, amber.ListQuery) (amber.Page[amber.Memory], error)) (amber.Page[amber.Memory], error) {
	ids, err := l.named(q.Identities)
	if err != nil {
		return amber.Page[amber.Memory]{}, err
	}
	q.Identities = ids
	return pages(q.Cursor, func(c amber.Cursor) (amber.Page[amber.Memory], error) {
		q.Cursor = c
		return list(ctx, q)
	}, func(m amber.Memory) (bool, error) { return l.sees(ctx, m) })
}

func (l *Limit) history(ctx context.Context, c *amber.Call) error {
	id := c.In[0].(*amber.MemoryID)
	was := *id
	var err error
	if *id, err = l.memory(ctx, was); err != nil {
		return err
	}
	return asked(was, paging(cursorBehind, (*Limit).sees)(l, ctx, c))
}

func (l *Limit) recall(ctx context.Context, c *amber.Call) error {
	q := c.In[0].(*amber.Query)
	var err error
	if *q, err = l.Query(*q); err != nil {
		return err
	}
	if err := c.Next(ctx); err != nil {
		return err
	}
	return answered(l.Found(ctx, *c.Out.(*amber.RecallResult), l.store.Memories.Get))(c)
}

// askEverything refuses a question to everything, with leave and without.
func (l *Limit) askEverything(_ context.Context, c *amber.Call) error {
	c.Out.(*amber.RecallResult).Hits = []amber.Hit{}
	return amber.Errorf(amber.KindRefused, c.Method.Op, "", "a caller who is bound to %s does not ask everything", l.bound)
}

func (l *Limit) writes(ctx context.Context, rs []amber.WriteRequest) ([]amber.WriteRequest, error) {
	out := make([]amber.WriteRequest, len(rs))
	for i, r := range rs {
		var err error
		if out[i], err = l.write(ctx, r); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// write returns a write with the identities of the caller. Without a scope it is for the narrowest identity that the request names, else
// for the narrowest that is bound. An id that a caller brings could be one of others, which a topic lets everybody compute, so it is refused.
func (l *Limit) write(ctx context.Context, r amber.WriteRequest) (amber.WriteRequest, error) {
	if r.ID != "" {
		return r, amber.Errorf(amber.KindRefused, "write memory", "", "a caller who is bound to %s cannot choose the id of a memory; leave id out", l.bound)
	}
	named := r.Identities
	ids, err := l.named(named)
	if err != nil {
		return r, err
	}
	if r.Scope == "" {
		if named == (amber.Identities{}) {
			named = l.bound.Identities()
		}
		r.Scope = named.Narrowest()
	}
	r.Identities, r.IdempotencyKey = ids, l.bound.Key(r.IdempotencyKey)
	where, _, err := l.session(ctx, r.SessionID)
	if err == nil && where == hidden {
		err = taken("write memory", r.SessionID)
	}
	return r, err
}

// Query returns a question as the caller may ask it. Errors: refused when it names the identity of others.
func (l *Limit) Query(q amber.Query) (amber.Query, error) {
	ids, err := l.named(q.Identities)
	q.Identities = ids
	return q, err
}

// Found returns an answer without the hits that are of others; get reads a memory where the answer comes from. It
// leaves out, without a word, a hit that cannot be read, because its owner cannot be read either.
func (l *Limit) Found(ctx context.Context, r amber.RecallResult, get func(context.Context, amber.MemoryID) (amber.Memory, error)) (amber.RecallResult, error) {
	hits, err := kept(r.Hits, func(h amber.Hit) (bool, error) { return l.seesHit(ctx, h, get) })
	r.Hits, r.SetAside = hits, nil
	return r, err
}

func (l *Limit) seesHit(ctx context.Context, h amber.Hit, get func(context.Context, amber.MemoryID) (amber.Memory, error)) (bool, error) {
	switch {
	case h.ID != "":
		m, err := get(ctx, h.ID)
		if amber.KindOf(err) == amber.KindNotFound {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		return l.sees(ctx, m)
	case h.Layer == amber.LayerNote:
		return true, nil
	}
	where, _, err := l.session(ctx, h.SessionID)
	return where == reached, err
}

// health leaves out what the backend says about the whole agent.
func (l *Limit) health(ctx context.Context, c *amber.Call) error {
	err := c.Next(ctx)
	c.Out.(*amber.Health).Detail = ""
	return err
}
