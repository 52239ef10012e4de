package inmem

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/amber-memory/amber"
)

var _ amber.MemoryReader = (*Store)(nil)

// Get implements [amber.MemoryReader].
func (s *Store) Get(ctx context.Context, id amber.MemoryID) (amber.Memory, error) {
	return run(ctx, s, "get memory", func() (amber.Memory, error) {
		r, err := s.liveRecord("get memory", id)
		if err != nil {
			return amber.Memory{}, err
		}
		return copyMemory(r.present()), nil
	})
}

// History implements [amber.MemoryReader].
func (s *Store) History(ctx context.Context, id amber.MemoryID, p amber.Paging) (amber.Page[amber.Memory], error) {
	const op = "read history"
	return run(ctx, s, op, func() (amber.Page[amber.Memory], error) {
		r := s.records[id]
		if r == nil {
			return amber.Page[amber.Memory]{Items: []amber.Memory{}}, notFound(op, string(id))
		}
		page, err := enumerate(op, "revisions", r.revisions, p)
		page.Items = copyMemories(page.Items)
		return page, err
	})
}

// List implements [amber.MemoryReader].
func (s *Store) List(ctx context.Context, q amber.ListQuery) (amber.Page[amber.Memory], error) {
	q, err := q.Normalize()
	if err != nil {
		return amber.Page[amber.Memory]{}, err
	}
	return run(ctx, s, "list memories", func() (amber.Page[amber.Memory], error) {
		found := s.memories(func(m amber.Memory) bool {
			visible := q.Sees(m.Scope, m.Identities) || q.All && (q.Scope == "" || q.Scope == m.Scope)
			return visible && passes(q.Filter, m) && (q.Deleted || m.DeletedAt.IsZero()) &&
				(q.Trust == "" || !q.Trust.Outranks(m.Trust)) && (q.Waiting == "" || q.Waiting.Waits(m.Trust, m.Scope, m.Kind))
		})
		slices.SortFunc(found, func(a, b amber.Memory) int { return compareCreated(b, a) })
		page, err := paginate("memories", found, q.Cursor, q.Limit, func(m amber.Memory) place {
			return place{m.CreatedAt.UnixMilli(), string(m.ID)}
		})
		page.Items = copyMemories(page.Items)
		return page, err
	})
}

// maxTimeline bounds each side of a timeline.
const maxTimeline = amber.MaxPageSize

// Timeline implements [amber.MemoryReader].
func (s *Store) Timeline(ctx context.Context, id amber.MemoryID, before, after int) ([]amber.Memory, error) {
	if before < 0 || after < 0 || before > maxTimeline || after > maxTimeline {
		return nil, invalid("read timeline", string(id), fmt.Sprintf("before and after must be from 0 to %d", maxTimeline))
	}
	return run(ctx, s, "read timeline", func() ([]amber.Memory, error) {
		r, err := s.liveRecord("read timeline", id)
		if err != nil {
			return nil, err
		}
		pivot := r.present()
		line := s.memories(func(m amber.Memory) bool { return m.DeletedAt.IsZero() && together(pivot, m) })
		slices.SortFunc(line, compareCreated)
		at := slices.IndexFunc(line, func(m amber.Memory) bool { return m.ID == id })
		older, newer := slices.Clone(line[max(0, at-before):at]), line[at+1:min(len(line), at+1+after)]
		slices.Reverse(older)
		older = firstPage(older, before, noCursor).Items
		slices.Reverse(older)
		return copyMemories(slices.Concat(older, []amber.Memory{pivot}, firstPage(newer, after, noCursor).Items)), nil
	})
}

func noCursor(amber.Memory) amber.Cursor { return "" }

// together reports whether m is on the timeline of pivot.
func together(pivot, m amber.Memory) bool {
	if pivot.SessionID != "" {
		return m.SessionID == pivot.SessionID && (m.ID == pivot.ID || pivot.Sees(m.Scope, m.Identities))
	}
	return m.Scope == pivot.Scope && m.Identity() == pivot.Identity()
}

// memories returns the newest revision of every memory that keep says yes to,
// in no order.
func (s *Store) memories(keep func(amber.Memory) bool) []amber.Memory {
	var found []amber.Memory
	for _, r := range s.records {
		if m := r.present(); keep(m) {
			found = append(found, m)
		}
	}
	return found
}

// passes reports whether m passes a filter, its scope aside.
func passes(f amber.Filter, m amber.Memory) bool {
	for _, tag := range f.Tags {
		if !slices.Contains(m.Tags, tag) {
			return false
		}
	}
	return (len(f.Kinds) == 0 || slices.Contains(f.Kinds, m.Kind)) &&
		(f.Since.IsZero() || !m.UpdatedAt.Before(f.Since)) &&
		(f.Until.IsZero() || m.UpdatedAt.Before(f.Until))
}

// compareCreated orders memories by creation, then by id.
func compareCreated(a, b amber.Memory) int {
	return cmp.Or(cmp.Compare(a.CreatedAt.UnixMilli(), b.CreatedAt.UnixMilli()), cmp.Compare(a.ID, b.ID))
}
