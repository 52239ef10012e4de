package client

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"

	"github.com/amber-memory/amber"
)

// control is the control plane of an agent.
type control struct{ *Agent }

// savedTask is a task as it travels: extra, and where it is not compact also
// its bytes.
type savedTask struct {
	amber.Task
	Exact []byte `json:"extra_exact,omitempty"`
}

// task is the task with extra to the byte. Errors: damaged when the bytes are
// another document, or when it is not the task that was asked for.
func (s savedTask) task(id string) (amber.Task, error) {
	if err := about(s.ID, id, nil); err != nil {
		return amber.Task{}, err
	}
	if s.Exact != nil {
		var compact bytes.Buffer
		if json.Compact(&compact, s.Exact) != nil || !bytes.Equal(compact.Bytes(), s.Extra) {
			return amber.Task{}, amber.Errorf(amber.KindDamaged, "read answer", id, "extra does not match its bytes")
		}
		s.Extra = s.Exact
	}
	return s.Task, nil
}

// SaveTask implements [amber.Tasks].
func (c control) SaveTask(ctx context.Context, t amber.Task, ifVersion int64) (amber.Task, error) {
	if _, err := t.Normalize(); err != nil {
		return amber.Task{}, err
	}
	body := savedTask{t, []byte(t.Extra)}
	body.Extra = nil
	saved, err := call[savedTask](ctx, c.c, request{method: http.MethodPut, path: c.path("tasks", t.ID), body: body, match: ifVersion})
	if err != nil {
		return amber.Task{}, err
	}
	return saved.task(t.ID)
}

// Task implements [amber.Tasks].
func (c control) Task(ctx context.Context, id string) (amber.Task, error) {
	if err := absent("read task", id); err != nil {
		return amber.Task{}, err
	}
	saved, err := get[savedTask](ctx, c.Agent, nil, "tasks", id)
	if err != nil {
		return amber.Task{}, err
	}
	return saved.task(id)
}

// ListTasks implements [amber.Tasks].
func (c control) ListTasks(ctx context.Context, q amber.TaskQuery) (amber.Page[amber.Task], error) {
	v := newValues().text("state", string(q.State)).text("session_id", string(q.SessionID)).number("limit", q.Limit).text("cursor", string(q.Cursor))
	saved, err := page[savedTask](ctx, c.Agent, v.Values, "tasks")
	out := amber.Page[amber.Task]{Items: []amber.Task{}, Next: saved.Next, SetAside: saved.SetAside}
	if err != nil {
		return out, err
	}
	for _, s := range saved.Items {
		t, err := s.task(s.ID)
		if err != nil {
			return amber.Page[amber.Task]{Items: []amber.Task{}}, err
		}
		out.Items = append(out.Items, t)
	}
	return out, nil
}

// AppendEvent implements [amber.TaskEvents].
func (c control) AppendEvent(ctx context.Context, e amber.TaskEvent) (amber.TaskEvent, error) {
	if _, err := e.Normalize(); err != nil {
		return amber.TaskEvent{}, err
	}
	return post[amber.TaskEvent](ctx, c.Agent, e, "tasks", e.TaskID, "events")
}

// ListEvents implements [amber.TaskEvents].
func (c control) ListEvents(ctx context.Context, taskID string, p amber.Paging) (amber.Page[amber.TaskEvent], error) {
	if absent("list events", taskID) != nil {
		return amber.Page[amber.TaskEvent]{Items: []amber.TaskEvent{}}, nil
	}
	return page[amber.TaskEvent](ctx, c.Agent, newValues().paging(p).Values, "tasks", taskID, "events")
}

// CompactEvents implements [amber.TaskEvents].
func (c control) CompactEvents(ctx context.Context, taskID string, keep int) (amber.ReplaySnapshot, error) {
	if err := absent("compact events", taskID); err != nil {
		return amber.ReplaySnapshot{}, err
	}
	body := fields{"keep": keep}
	return ask[amber.ReplaySnapshot](ctx, c.Agent, body, "tasks", taskID, "events", "compact")
}

// Replay implements [amber.TaskEvents].
func (c control) Replay(ctx context.Context, taskID string) (amber.ReplayReport, error) {
	if err := absent("replay task", taskID); err != nil {
		return amber.ReplayReport{}, err
	}
	return get[amber.ReplayReport](ctx, c.Agent, nil, "tasks", taskID, "replay")
}

// RequestApproval implements [amber.Approvals].
func (c control) RequestApproval(ctx context.Context, r amber.ApprovalRequest) (amber.Approval, error) {
	if _, err := r.Normalize(); err != nil {
		return amber.Approval{}, err
	}
	q, err := call[amber.Approval](ctx, c.c, request{method: http.MethodPost, path: c.path("approvals"), body: r, repeatable: r.ID != ""})
	if err == nil && r.ID == "" {
		r.ID = q.ID
	}
	return checkedApproval(q, r.ID, err)
}

// DecideApproval implements [amber.Approvals].
func (c control) DecideApproval(ctx context.Context, d amber.ApprovalDecision) (amber.Approval, error) {
	if _, err := d.Normalize(); err != nil {
		return amber.Approval{}, err
	}
	q, err := post[amber.Approval](ctx, c.Agent, d, "approvals", d.ID, "decision")
	return checkedApproval(q, d.ID, err)
}

// Approval implements [amber.Approvals].
func (c control) Approval(ctx context.Context, id string) (amber.Approval, error) {
	if err := absent("read approval", id); err != nil {
		return amber.Approval{}, err
	}
	q, err := get[amber.Approval](ctx, c.Agent, nil, "approvals", id)
	return checkedApproval(q, id, err)
}

// checkedApproval checks that an answer holds what was asked for.
func checkedApproval(q amber.Approval, id string, err error) (amber.Approval, error) {
	if err = about(q.ID, id, err); err != nil {
		return amber.Approval{}, err
	}
	if amber.ContentDigest(string(q.Payload)) != q.Digest {
		return amber.Approval{}, amber.Errorf(amber.KindDamaged, "read answer", id, "the payload does not match its digest")
	}
	return q, nil
}

// ListApprovals implements [amber.Approvals].
func (c control) ListApprovals(ctx context.Context, taskID string, p amber.Paging) (amber.Page[amber.Approval], error) {
	if taskID != "" && absent("list approvals", taskID) != nil {
		return amber.Page[amber.Approval]{Items: []amber.Approval{}}, nil
	}
	return page[amber.Approval](ctx, c.Agent, newValues().text("task_id", taskID).paging(p).Values, "approvals")
}

// SaveResult implements [amber.Results].
func (c control) SaveResult(ctx context.Context, r amber.Result) (amber.Result, error) {
	if _, err := r.Normalize(); err != nil {
		return amber.Result{}, err
	}
	return ask[amber.Result](ctx, c.Agent, r, "results")
}

// Result implements [amber.Results].
func (c control) Result(ctx context.Context, taskID, nodeID string) (amber.Result, error) {
	for _, id := range []string{taskID, nodeID} {
		if err := absent("read result", id); err != nil {
			return amber.Result{}, err
		}
	}
	r, err := get[amber.Result](ctx, c.Agent, nil, "results", taskID, nodeID)
	err = about(r.TaskID, taskID, err)
	return r, about(r.NodeID, nodeID, err)
}

// ListResults implements [amber.Results].
func (c control) ListResults(ctx context.Context, taskID string, p amber.Paging) (amber.Page[amber.Result], error) {
	if absent("list results", taskID) != nil {
		return amber.Page[amber.Result]{Items: []amber.Result{}}, nil
	}
	return page[amber.Result](ctx, c.Agent, newValues().text("task_id", taskID).paging(p).Values, "results")
}

// absent is the error for what is no id, so nothing is stored under it: it
// would not go through a path.
func absent(op, id string) error {
	if err := amber.CheckID("id", id); err != nil {
		return &amber.Error{Op: op, Kind: amber.KindNotFound, Err: err}
	}
	return nil
}
