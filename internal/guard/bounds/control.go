package bounds

import (
	"context"

	"github.com/amber-memory/amber"
)

// A task belongs to its session; one without a session is everybody's. Events, approvals and results belong to their task.

// task returns the id under which a task is asked for: its own, or a stand-in where the caller does not see it. A task
// that is not stored is asked for by its own id.
func (l *Limit) task(ctx context.Context, id string) (string, error) {
	t, err := l.store.Tasks.Task(ctx, id)
	if missing(err) {
		return id, nil
	}
	if err != nil {
		return id, err
	}
	sees, err := l.seesTask(ctx, t)
	if err != nil || sees {
		return id, err
	}
	return standIn(id), nil
}

func (l *Limit) seesTask(ctx context.Context, t amber.Task) (bool, error) {
	if t.SessionID == "" {
		return true, nil
	}
	where, _, err := l.session(ctx, t.SessionID)
	return where == reached, err
}

// addTo makes sure that the caller may store something for a task. Errors: conflict for one of others.
func (l *Limit) addTo(ctx context.Context, op, id string) error {
	as, err := l.task(ctx, id)
	if err == nil && as != id {
		err = taken(op, id)
	}
	return err
}

type tasks struct{ *Limit }

// SaveTask implements [amber.Tasks].
func (l tasks) SaveTask(ctx context.Context, t amber.Task, ifVersion int64) (amber.Task, error) {
	const op = "save task"
	id := t.ID
	as, err := l.task(ctx, id)
	if err != nil {
		return amber.Task{}, err
	}
	if as != id && ifVersion == 0 {
		return amber.Task{}, taken(op, id)
	}
	if as != id { // no task of the caller has a version
		t.ID, t.SessionID = as, ""
		_, err := l.store.Tasks.SaveTask(ctx, t, ifVersion)
		return amber.Task{}, asked(id, err)
	}
	if t.SessionID != "" {
		if err := l.enter(ctx, op, t.SessionID); err != nil {
			return amber.Task{}, err
		}
	}
	return l.store.Tasks.SaveTask(ctx, t, ifVersion)
}

// Task implements [amber.Tasks].
func (l tasks) Task(ctx context.Context, id string) (amber.Task, error) {
	return find(ctx, id, l.task, l.store.Tasks.Task)
}

// ListTasks implements [amber.Tasks].
func (l tasks) ListTasks(ctx context.Context, q amber.TaskQuery) (amber.Page[amber.Task], error) {
	return pages(q.Cursor, func(c amber.Cursor) (amber.Page[amber.Task], error) {
		q.Cursor = c
		return l.store.Tasks.ListTasks(ctx, q)
	}, func(t amber.Task) (bool, error) { return l.seesTask(ctx, t) })
}

type events struct{ *Limit }

// AppendEvent implements [amber.TaskEvents].
func (l events) AppendEvent(ctx context.Context, e amber.TaskEvent) (amber.TaskEvent, error) {
	if err := l.addTo(ctx, "append event", e.TaskID); err != nil {
		return amber.TaskEvent{}, err
	}
	return l.store.Events.AppendEvent(ctx, e)
}

// ListEvents implements [amber.TaskEvents].
func (l events) ListEvents(ctx context.Context, taskID string, p amber.Paging) (amber.Page[amber.TaskEvent], error) {
	return find(ctx, taskID, l.task, func(ctx context.Context, id string) (amber.Page[amber.TaskEvent], error) {
		return l.store.Events.ListEvents(ctx, id, p)
	})
}

// CompactEvents implements [amber.TaskEvents].
func (l events) CompactEvents(ctx context.Context, taskID string, keep int) (amber.ReplaySnapshot, error) {
	return find(ctx, taskID, l.task, func(ctx context.Context, id string) (amber.ReplaySnapshot, error) {
		return l.store.Events.CompactEvents(ctx, id, keep)
	})
}

// Replay implements [amber.TaskEvents].
func (l events) Replay(ctx context.Context, taskID string) (amber.ReplayReport, error) {
	return find(ctx, taskID, l.task, l.store.Events.Replay)
}

type approvals struct{ *Limit }

// approval returns the id under which an approval is asked for.
func (l *Limit) approval(ctx context.Context, id string) (string, error) {
	a, err := l.store.Approvals.Approval(ctx, id)
	if missing(err) || id == "" {
		return id, nil
	}
	if err != nil {
		return id, err
	}
	as, err := l.task(ctx, a.TaskID)
	if err != nil || as == a.TaskID {
		return id, err
	}
	return standIn(id), nil
}

// RequestApproval implements [amber.Approvals].
func (l approvals) RequestApproval(ctx context.Context, r amber.ApprovalRequest) (amber.Approval, error) {
	const op = "request approval"
	if err := l.addTo(ctx, op, r.TaskID); err != nil {
		return amber.Approval{}, err
	}
	as, err := l.approval(ctx, r.ID)
	if err == nil && as != r.ID {
		err = taken(op, r.ID)
	}
	if err != nil {
		return amber.Approval{}, err
	}
	return l.store.Approvals.RequestApproval(ctx, r)
}

// DecideApproval implements [amber.Approvals].
func (l approvals) DecideApproval(ctx context.Context, d amber.ApprovalDecision) (amber.Approval, error) {
	return find(ctx, d.ID, l.approval, func(ctx context.Context, id string) (amber.Approval, error) {
		d.ID = id
		return l.store.Approvals.DecideApproval(ctx, d)
	})
}

// Approval implements [amber.Approvals].
func (l approvals) Approval(ctx context.Context, id string) (amber.Approval, error) {
	return find(ctx, id, l.approval, l.store.Approvals.Approval)
}

// ListApprovals implements [amber.Approvals].
func (l approvals) ListApprovals(ctx context.Context, taskID string, p amber.Paging) (amber.Page[amber.Approval], error) {
	return pages(p.Cursor, func(c amber.Cursor) (amber.Page[amber.Approval], error) {
		return l.store.Approvals.ListApprovals(ctx, taskID, amber.Paging{Limit: p.Limit, Cursor: c})
	}, func(a amber.Approval) (bool, error) {
		as, err := l.task(ctx, a.TaskID)
		return as == a.TaskID, err
	})
}

type results struct{ *Limit }

// SaveResult implements [amber.Results].
func (l results) SaveResult(ctx context.Context, r amber.Result) (amber.Result, error) {
	if err := l.addTo(ctx, "save result", r.TaskID); err != nil {
		return amber.Result{}, err
	}
	return l.store.Results.SaveResult(ctx, r)
}

// Result implements [amber.Results].
func (l results) Result(ctx context.Context, taskID, nodeID string) (amber.Result, error) {
	return find(ctx, taskID, l.task, func(ctx context.Context, id string) (amber.Result, error) {
		return l.store.Results.Result(ctx, id, nodeID)
	})
}

// ListResults implements [amber.Results].
func (l results) ListResults(ctx context.Context, taskID string, p amber.Paging) (amber.Page[amber.Result], error) {
	return find(ctx, taskID, l.task, func(ctx context.Context, id string) (amber.Page[amber.Result], error) {
		return l.store.Results.ListResults(ctx, id, p)
	})
}
