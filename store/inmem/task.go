package inmem

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/amber-memory/amber"
)

var _ amber.Tasks = (*Store)(nil)

// SaveTask implements [amber.Tasks].
func (s *Store) SaveTask(ctx context.Context, t amber.Task, ifVersion int64) (amber.Task, error) {
	t, err := t.Normalize()
	if err != nil {
		return amber.Task{}, err
	}
	return run(ctx, s, "save task", func() (amber.Task, error) {
		var known *amber.Task
		stored, found := s.tasks[t.ID]
		if found {
			known = &stored
		}
		if err := amber.CheckSave(known, t, ifVersion); err != nil {
			return amber.Task{}, err
		}
		now := s.now()
		next := copyTask(t)
		next.Version = ifVersion + 1
		next.CreatedAt, next.UpdatedAt = now, now
		if found {
			next.CreatedAt = stored.CreatedAt
		}
		s.tasks[t.ID] = next
		s.logControl(now, saved(found), "task/"+t.ID)
		return copyTask(next), nil
	})
}

// Task implements [amber.Tasks].
func (s *Store) Task(ctx context.Context, id string) (amber.Task, error) {
	return run(ctx, s, "read task", func() (amber.Task, error) { return lookup("read task", id, s.tasks, id, copyTask) })
}

// ListTasks implements [amber.Tasks].
func (s *Store) ListTasks(ctx context.Context, q amber.TaskQuery) (amber.Page[amber.Task], error) {
	limit, err := amber.Paging{Limit: q.Limit}.Size("list tasks")
	if err != nil {
		return amber.Page[amber.Task]{}, err
	}
	if q.State != "" && !q.State.Valid() {
		return amber.Page[amber.Task]{}, invalid("list tasks", "", fmt.Sprintf("state %q does not exist", q.State))
	}
	at := func(t amber.Task) place { return place{t.CreatedAt.UnixMilli(), t.ID} }
	return run(ctx, s, "list tasks", func() (amber.Page[amber.Task], error) {
		found := where(maps.Values(s.tasks), func(t amber.Task) bool {
			return (q.State == "" || t.State == q.State) && (q.SessionID == "" || t.SessionID == q.SessionID)
		})
		slices.SortFunc(found, func(a, b amber.Task) int { return at(b).compare(at(a)) })
		page, err := paginate("tasks", found, q.Cursor, limit, at)
		page.Items = copyEach(page.Items, copyTask)
		return page, err
	})
}
