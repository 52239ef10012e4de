package sqlcore

import (
	"context"
	"encoding/json"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/sqlrows"
)

const (
	selectTask = `SELECT id, body, extra FROM tasks WHERE id = ?`
	upsertTask = `INSERT INTO tasks (id, state, session_id, version, created_at, body, extra) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET state = excluded.state, session_id = excluded.session_id, version = excluded.version,
 body = excluded.body, extra = excluded.extra`
)

// taskListing names the listing in its cursors.
const taskListing = "tasks"

var _ amber.Tasks = (*Contracts)(nil)

// SaveTask implements [amber.Tasks].
func (s *Contracts) SaveTask(ctx context.Context, task amber.Task, ifVersion int64) (saved amber.Task, err error) {
	task, err = task.Normalize()
	if err != nil {
		return saved, err
	}
	return update(ctx, s.control, "save task", task.ID, func(t *Tx) (amber.Task, error) { return t.saveTask(task, ifVersion) })
}

func (t *Tx) saveTask(task amber.Task, ifVersion int64) (amber.Task, error) {
	prev, found, err := sqlrows.Optional(sqlrows.ScanTask(t.Row(selectTask, task.ID)))
	if err != nil {
		return amber.Task{}, err
	}
	op := amber.OpInsert
	task.Version, task.CreatedAt, task.UpdatedAt = 1, t.Now, t.Now
	stored := (*amber.Task)(nil)
	if found {
		op, stored = amber.OpUpdate, &prev
		task.Version, task.CreatedAt = prev.Version+1, prev.CreatedAt
	}
	if err := amber.CheckSave(stored, task, ifVersion); err != nil {
		return amber.Task{}, err
	}
	if err := t.putTask(task); err != nil {
		return amber.Task{}, err
	}
	task.Extra = append(json.RawMessage(nil), task.Extra...)
	return task, t.logControl(op, "task/"+task.ID)
}

// putTask stores extra apart from the rest: marshalling would rewrite its
// bytes.
func (t *Tx) putTask(task amber.Task) error {
	extra := string(task.Extra)
	task.Extra = nil
	body, err := sqlrows.Marshal(task)
	if err != nil {
		return err
	}
	return t.Do(upsertTask, task.ID, task.State, task.SessionID, task.Version, task.CreatedAt.UnixMilli(), body, extra)
}

// Task implements [amber.Tasks].
func (s *Contracts) Task(ctx context.Context, id string) (amber.Task, error) {
	return view(ctx, s.control, "read task", id, func(t *Tx) (amber.Task, error) {
		return one(t, "read task", id, sqlrows.ScanTask, selectTask, id)
	})
}

// ListTasks implements [amber.Tasks].
func (s *Contracts) ListTasks(ctx context.Context, q amber.TaskQuery) (page amber.Page[amber.Task], err error) {
	page.Items = []amber.Task{}
	if q.State != "" && !q.State.Valid() {
		return page, amber.Errorf(amber.KindInvalid, "list tasks", "", "state %q does not exist", q.State)
	}
	size, err := amber.Paging{Limit: q.Limit}.Size("list tasks")
	if err != nil {
		return page, err
	}
	ms, id, err := decodeCursor(taskListing, q.Cursor)
	if err != nil {
		return page, err
	}
	query, args := listTasks(q, ms, id)
	return view(ctx, s.control, "list tasks", "", func(t *Tx) (amber.Page[amber.Task], error) {
		return readPage(t, "tasks", sqlrows.ScanTask, size, func(last amber.Task) amber.Cursor {
			return encodeCursor(taskListing, last.CreatedAt.UnixMilli(), last.ID)
		}, query, args...)
	})
}

// listTasks returns the query of a page; its limit comes behind its values.
func listTasks(q amber.TaskQuery, ms int64, id string) (string, []any) {
	var c conditions
	if q.State != "" {
		c.add("state = ?", q.State)
	}
	if q.SessionID != "" {
		c.add("session_id = ?", q.SessionID)
	}
	c.add("(created_at, id) < (?, ?)", ms, id)
	query := "SELECT id, body, extra FROM tasks WHERE " + c.String() + " ORDER BY created_at DESC, id DESC LIMIT ?"
	return query, c.args
}

// logControl logs a change of the control plane. Its records have no digests.
func (t *Tx) logControl(op amber.Op, key string) error {
	return t.Log(sqlrows.Entry(op, amber.ChangeControl, key, "", ""))
}
