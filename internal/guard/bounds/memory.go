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

// seen returns the memories that the caller sees.
func (l *Limit) seen(ctx context.Context, list []amber.Memory, err error) ([]amber.Memory, error) {
	if err != nil {
		return nil, err
	}
	return kept(list, func(m amber.Memory) (bool, error) { return l.sees(ctx, m) })
}

type memories struct{ *Limit }

// Get implements [amber.MemoryReader].
func (l memories) Get(ctx context.Context, id amber.MemoryID) (amber.Memory, error) {
	return l.Limit.Get(ctx, id, l.store.Memories.Get)
}

// List implements [amber.MemoryReader].
func (l memories) List(ctx context.Context, q amber.ListQuery) (amber.Page[amber.Memory], error) {
	return l.Limit.List(ctx, q, l.store.Memories.List)
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

// History implements [amber.MemoryReader].
func (l memories) History(ctx context.Context, id amber.MemoryID, p amber.Paging) (amber.Page[amber.Memory], error) {
	as, err := l.memory(ctx, id)
	if err != nil {
		return amber.Page[amber.Memory]{}, err
	}
	return pages(p.Cursor, func(c amber.Cursor) (amber.Page[amber.Memory], error) {
		page, err := l.store.Memories.History(ctx, as, amber.Paging{Limit: p.Limit, Cursor: c})
		return page, asked(id, err)
	}, func(m amber.Memory) (bool, error) { return l.sees(ctx, m) })
}

// Timeline implements [amber.MemoryReader].
func (l memories) Timeline(ctx context.Context, id amber.MemoryID, before, after int) ([]amber.Memory, error) {
	list, err := find(ctx, id, l.memory, func(ctx context.Context, id amber.MemoryID) ([]amber.Memory, error) {
		return l.store.Memories.Timeline(ctx, id, before, after)
	})
	return l.seen(ctx, list, err)
}

type editor struct{ *Limit }

// Edit implements [amber.Editor].
func (l editor) Edit(ctx context.Context, r amber.EditRequest) (amber.Memory, error) {
	return find(ctx, r.ID, l.memory, func(ctx context.Context, id amber.MemoryID) (amber.Memory, error) {
		r.ID = id
		return l.store.Editor.Edit(ctx, r)
	})
}

type eraser struct{ *Limit }

// Erase implements [amber.Eraser].
func (l eraser) Erase(ctx context.Context, id amber.MemoryID) (amber.EraseReport, error) {
	return find(ctx, id, l.memory, l.store.Eraser.Erase)
}

type longTerm struct {
	amber.LongTerm
	l *Limit
}

// Recall implements [amber.LongTerm].
func (s longTerm) Recall(ctx context.Context, q amber.Query) (amber.RecallResult, error) {
	q, err := s.l.Query(q)
	if err != nil {
		return amber.RecallResult{}, err
	}
	r, err := s.LongTerm.Recall(ctx, q)
	if err != nil {
		return amber.RecallResult{}, err
	}
	return s.l.Found(ctx, r, s.l.store.Memories.Get)
}

// Write implements [amber.LongTerm].
func (s longTerm) Write(ctx context.Context, r amber.WriteRequest) (amber.WriteAck, error) {
	r, err := s.l.write(ctx, r)
	if err != nil {
		return amber.WriteAck{}, err
	}
	return s.LongTerm.Write(ctx, r)
}

// Delete implements [amber.LongTerm].
func (s longTerm) Delete(ctx context.Context, id amber.MemoryID) error {
	return change(ctx, id, s.l.memory, s.LongTerm.Delete)
}

type batch struct{ *Limit }

// WriteBatch implements [amber.BatchWriter].
func (l batch) WriteBatch(ctx context.Context, rs []amber.WriteRequest) ([]amber.WriteAck, error) {
	rs, err := l.writes(ctx, rs)
	if err != nil {
		return nil, err
	}
	return l.store.Batch.WriteBatch(ctx, rs)
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

// Health implements [amber.LongTerm], without what the backend says about the whole agent.
func (s longTerm) Health(ctx context.Context) (amber.Health, error) {
	h, err := s.LongTerm.Health(ctx)
	h.Detail = ""
	return h, err
}
