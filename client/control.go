package client

import (
	"context"
	"fmt"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/op"
)

// control is the control plane of an agent.
type control struct{ *Agent }

// taskOf is a task with extra to the byte. Errors: damaged when the bytes are another document.
func taskOf(t op.Task, err error) (amber.Task, error) {
	if err == nil {
		t.Extra, err = exactly(t.ID, "extra", t.Extra, t.Exact)
	}
	if err != nil {
		return amber.Task{}, err
	}
	return t.Task, nil
}

// SaveTask implements [amber.Tasks].
func (c control) SaveTask(ctx context.Context, t amber.Task, ifVersion int64) (amber.Task, error) {
	if _, err := t.Normalize(); err != nil {
		return amber.Task{}, err
	}
	in := op.TaskSaveIn{TaskID: op.TaskID{ID: t.ID}, Body: op.Task{Task: t, Exact: t.Extra}}
	in.Body.Extra = nil
	if ifVersion != 0 {
		in.IfMatch = fmt.Sprintf(`"%d"`, ifVersion)
	}
	return taskOf(op.TaskSave.Call(ctx, c, in))
}

// Task implements [amber.Tasks].
func (c control) Task(ctx context.Context, id string) (amber.Task, error) {
	if err := absent("read task", id); err != nil {
		return amber.Task{}, err
	}
	return taskOf(op.TaskGet.Call(ctx, c, op.TaskID{ID: id}))
}

// ListTasks implements [amber.Tasks].
func (c control) ListTasks(ctx context.Context, q amber.TaskQuery) (amber.Page[amber.Task], error) {
	page, err := op.TaskList.Call(ctx, c, op.TasksIn{Paging: op.Paging{Limit: q.Limit, Cursor: q.Cursor}, State: q.State, Session: q.SessionID})
	out := amber.Page[amber.Task]{Items: []amber.Task{}, Next: page.Next, SetAside: page.SetAside}
	for _, item := range page.Items {
		t, damaged := taskOf(item, err)
		if damaged != nil {
			return amber.Page[amber.Task]{Items: []amber.Task{}}, damaged
		}
		out.Items = append(out.Items, t)
	}
	return out, err
}

// AppendEvent implements [amber.TaskEvents].
func (c control) AppendEvent(ctx context.Context, e amber.TaskEvent) (amber.TaskEvent, error) {
	return op.TaskEvent.Call(ctx, c, op.TaskEventIn{TaskID: op.TaskID{ID: e.TaskID}, Body: e})
}

// ListEvents implements [amber.TaskEvents].
func (c control) ListEvents(ctx context.Context, taskID string, p amber.Paging) (amber.Page[amber.TaskEvent], error) {
	if absent("list events", taskID) != nil {
		return amber.Page[amber.TaskEvent]{Items: []amber.TaskEvent{}}, nil
	}
	return op.TaskEvents.Call(ctx, c, op.TaskEventsIn{TaskID: op.TaskID{ID: taskID}, Paging: paging(p)})
}

// CompactEvents implements [amber.TaskEvents].
func (c control) CompactEvents(ctx context.Context, taskID string, keep int) (amber.ReplaySnapshot, error) {
	if err := absent("compact events", taskID); err != nil {
		return amber.ReplaySnapshot{}, err
	}
	in := op.TaskCompactIn{TaskID: op.TaskID{ID: taskID}}
	in.Body.Keep = keep
	return op.TaskCompact.Call(ctx, c, in)
}

// Replay implements [amber.TaskEvents].
func (c control) Replay(ctx context.Context, taskID string) (amber.ReplayReport, error) {
	if err := absent("replay task", taskID); err != nil {
		return amber.ReplayReport{}, err
	}
	return op.TaskReplay.Call(ctx, c, op.TaskID{ID: taskID})
}

// RequestApproval implements [amber.Approvals].
func (c control) RequestApproval(ctx context.Context, r amber.ApprovalRequest) (amber.Approval, error) {
	q, err := checkedApproval(op.ApprovalRequest.Call(ctx, c, op.ApprovalRequestIn{Body: r}))
	if err == nil && r.ID != "" && q.ID != r.ID {
		return amber.Approval{}, another(r.ID)
	}
	return q, err
}

// DecideApproval implements [amber.Approvals].
func (c control) DecideApproval(ctx context.Context, d amber.ApprovalDecision) (amber.Approval, error) {
	return checkedApproval(op.ApprovalDecide.Call(ctx, c, op.ApprovalDecideIn{ApprovalID: op.ApprovalID{ID: d.ID}, Body: d}))
}

// Approval implements [amber.Approvals].
func (c control) Approval(ctx context.Context, id string) (amber.Approval, error) {
	if err := absent("read approval", id); err != nil {
		return amber.Approval{}, err
	}
	return checkedApproval(op.ApprovalGet.Call(ctx, c, op.ApprovalID{ID: id}))
}

// checkedApproval compares the payload of an approval with its digest, as every backend does.
func checkedApproval(q amber.Approval, err error) (amber.Approval, error) {
	if err == nil && amber.ContentDigest(string(q.Payload)) != q.Digest {
		err = amber.Errorf(amber.KindDamaged, "read answer", q.ID, "the payload does not match its digest")
	}
	if err != nil {
		return amber.Approval{}, err
	}
	return q, nil
}

// ListApprovals implements [amber.Approvals].
func (c control) ListApprovals(ctx context.Context, taskID string, p amber.Paging) (amber.Page[amber.Approval], error) {
	if taskID != "" && absent("list approvals", taskID) != nil {
		return amber.Page[amber.Approval]{Items: []amber.Approval{}}, nil
	}
	return op.ApprovalList.Call(ctx, c, op.OfTaskIn{TaskID: taskID, Paging: paging(p)})
}

// SaveResult implements [amber.Results].
func (c control) SaveResult(ctx context.Context, r amber.Result) (amber.Result, error) {
	return op.ResultSave.Call(ctx, c, op.Payload[amber.Result]{Body: r})
}

// Result implements [amber.Results].
func (c control) Result(ctx context.Context, taskID, nodeID string) (amber.Result, error) {
	for _, id := range []string{taskID, nodeID} {
		if err := absent("read result", id); err != nil {
			return amber.Result{}, err
		}
	}
	return op.ResultGet.Call(ctx, c, op.ResultID{Task: taskID, Node: nodeID})
}

// ListResults implements [amber.Results].
func (c control) ListResults(ctx context.Context, taskID string, p amber.Paging) (amber.Page[amber.Result], error) {
	if absent("list results", taskID) != nil {
		return amber.Page[amber.Result]{Items: []amber.Result{}}, nil
	}
	return op.ResultList.Call(ctx, c, op.OfTaskIn{TaskID: taskID, Paging: paging(p)})
}

// absent is the error for what is no id, so nothing is stored under it: it
// would not go through a path.
func absent(op, id string) error {
	if err := amber.CheckID("id", id); err != nil {
		return &amber.Error{Op: op, Kind: amber.KindNotFound, Err: err}
	}
	return nil
}

// queue is the dispatch queue of an agent.
type queue struct{ *Agent }

// Publish implements [amber.Queue].
func (q queue) Publish(ctx context.Context, e amber.Envelope) error {
	return done(op.QueuePublish.Call(ctx, q, op.Payload[amber.Envelope]{Body: e}))
}

// Claim implements [amber.Queue]. A claim whose answer is lost is not made
// again: its lease expires.
func (q queue) Claim(ctx context.Context, consumerID string) (amber.Claim, error) {
	if err := amber.CheckID("consumer id", consumerID); err != nil {
		return amber.Claim{}, err
	}
	in := op.QueueClaimIn{}
	in.Body.ConsumerID = consumerID
	return op.QueueClaim.Call(ctx, q, in)
}

// Ack implements [amber.Queue].
func (q queue) Ack(ctx context.Context, l amber.Lease) error {
	return done(op.QueueAck.Call(ctx, q, op.Payload[amber.Lease]{Body: l}))
}

// Nack implements [amber.Queue].
func (q queue) Nack(ctx context.Context, n amber.Nack) error {
	return done(op.QueueNack.Call(ctx, q, op.Payload[amber.Nack]{Body: n}))
}

// Renew implements [amber.QueueKeeper].
func (q queue) Renew(ctx context.Context, l amber.Lease) (amber.Lease, error) {
	return op.QueueRenew.Call(ctx, q, op.Payload[amber.Lease]{Body: l})
}

// Backpressure implements [amber.QueueKeeper].
func (q queue) Backpressure(ctx context.Context) (amber.Backpressure, error) {
	return op.QueueShow.Call(ctx, q, op.None{})
}

// DeadEntries implements [amber.QueueKeeper].
func (q queue) DeadEntries(ctx context.Context, p amber.Paging) (amber.Page[amber.DeadEntry], error) {
	return op.QueueDead.Call(ctx, q, paging(p))
}
