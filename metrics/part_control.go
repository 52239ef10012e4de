package metrics

import (
	"context"

	"github.com/amber-memory/amber"
)

type tasks part[amber.Tasks]

func (p tasks) SaveTask(ctx context.Context, t amber.Task, ifVersion int64) (out amber.Task, err error) {
	ctx, end, err := p.begin(ctx, "save_task")
	defer func() { end(err, size{in: len(t.Goal) + len(t.Extra), items: 1}) }()
	return p.next.SaveTask(ctx, t, ifVersion)
}

func (p tasks) Task(ctx context.Context, id string) (t amber.Task, err error) {
	ctx, end, err := p.begin(ctx, "task")
	defer func() { end(err, size{out: len(t.Goal) + len(t.Extra), items: 1}) }()
	return p.next.Task(ctx, id)
}

func (p tasks) ListTasks(ctx context.Context, q amber.TaskQuery) (l amber.Page[amber.Task], err error) {
	ctx, end, err := p.begin(ctx, "list_tasks")
	defer func() { end(err, size{items: len(l.Items)}) }()
	return p.next.ListTasks(ctx, q)
}

type taskEvents part[amber.TaskEvents]

func (p taskEvents) AppendEvent(ctx context.Context, e amber.TaskEvent) (out amber.TaskEvent, err error) {
	ctx, end, err := p.begin(ctx, "append_event")
	defer func() { end(err, size{in: len(e.Result), items: 1}) }()
	return p.next.AppendEvent(ctx, e)
}

func (p taskEvents) ListEvents(ctx context.Context, taskID string) (l []amber.TaskEvent, err error) {
	ctx, end, err := p.begin(ctx, "list_events")
	defer func() { end(err, size{items: len(l)}) }()
	return p.next.ListEvents(ctx, taskID)
}

func (p taskEvents) CompactEvents(ctx context.Context, taskID string, keep int) (s amber.ReplaySnapshot, err error) {
	ctx, end, err := p.begin(ctx, "compact_events")
	defer func() { end(err, size{items: 1}) }()
	return p.next.CompactEvents(ctx, taskID, keep)
}

func (p taskEvents) Replay(ctx context.Context, taskID string) (r amber.ReplayReport, err error) {
	ctx, end, err := p.begin(ctx, "replay")
	defer func() { end(err, size{items: len(r.Events)}) }()
	return p.next.Replay(ctx, taskID)
}

type approvals part[amber.Approvals]

func (p approvals) RequestApproval(ctx context.Context, r amber.ApprovalRequest) (a amber.Approval, err error) {
	ctx, end, err := p.begin(ctx, "request_approval")
	defer func() { end(err, size{in: len(r.Payload), items: 1}) }()
	return p.next.RequestApproval(ctx, r)
}

func (p approvals) DecideApproval(ctx context.Context, d amber.ApprovalDecision) (a amber.Approval, err error) {
	ctx, end, err := p.begin(ctx, "decide_approval")
	defer func() { end(err, size{items: 1}) }()
	return p.next.DecideApproval(ctx, d)
}

func (p approvals) Approval(ctx context.Context, id string) (a amber.Approval, err error) {
	ctx, end, err := p.begin(ctx, "approval")
	defer func() { end(err, size{out: len(a.Payload), items: 1}) }()
	return p.next.Approval(ctx, id)
}

func (p approvals) ListApprovals(ctx context.Context, taskID string) (l []amber.Approval, err error) {
	ctx, end, err := p.begin(ctx, "list_approvals")
	defer func() { end(err, size{items: len(l)}) }()
	return p.next.ListApprovals(ctx, taskID)
}

type results part[amber.Results]

func (p results) SaveResult(ctx context.Context, r amber.Result) (out amber.Result, err error) {
	ctx, end, err := p.begin(ctx, "save_result")
	defer func() { end(err, size{in: len(r.Payload), items: 1}) }()
	return p.next.SaveResult(ctx, r)
}

func (p results) Result(ctx context.Context, taskID, nodeID string) (r amber.Result, err error) {
	ctx, end, err := p.begin(ctx, "result")
	defer func() { end(err, size{out: len(r.Payload), items: 1}) }()
	return p.next.Result(ctx, taskID, nodeID)
}

func (p results) ListResults(ctx context.Context, taskID string) (l []amber.Result, err error) {
	ctx, end, err := p.begin(ctx, "list_results")
	defer func() { end(err, size{items: len(l)}) }()
	return p.next.ListResults(ctx, taskID)
}

type queue part[amber.Queue]

func (p queue) Publish(ctx context.Context, e amber.Envelope) (err error) {
	ctx, end, err := p.begin(ctx, "publish")
	defer func() { end(err, size{in: len(e.Payload), items: 1}) }()
	return p.next.Publish(ctx, e)
}

func (p queue) Claim(ctx context.Context, consumerID string) (c amber.Claim, err error) {
	ctx, end, err := p.begin(ctx, "claim")
	defer func() { end(err, size{out: len(c.Envelope.Payload), items: 1}) }()
	return p.next.Claim(ctx, consumerID)
}

func (p queue) Ack(ctx context.Context, l amber.Lease) (err error) {
	ctx, end, err := p.begin(ctx, "ack")
	defer func() { end(err, size{items: 1}) }()
	return p.next.Ack(ctx, l)
}

func (p queue) Nack(ctx context.Context, n amber.Nack) (err error) {
	ctx, end, err := p.begin(ctx, "nack")
	defer func() { end(err, size{items: 1}) }()
	return p.next.Nack(ctx, n)
}

type queueKeeper part[amber.QueueKeeper]

func (p queueKeeper) Renew(ctx context.Context, l amber.Lease) (out amber.Lease, err error) {
	ctx, end, err := p.begin(ctx, "renew")
	defer func() { end(err, size{items: 1}) }()
	return p.next.Renew(ctx, l)
}

func (p queueKeeper) Backpressure(ctx context.Context) (b amber.Backpressure, err error) {
	ctx, end, err := p.begin(ctx, "backpressure")
	defer func() { end(err, size{}) }()
	return p.next.Backpressure(ctx)
}

func (p queueKeeper) DeadEntries(ctx context.Context, limit int) (l []amber.DeadEntry, err error) {
	ctx, end, err := p.begin(ctx, "dead_entries")
	defer func() { end(err, size{items: len(l)}) }()
	return p.next.DeadEntries(ctx, limit)
}

type documents part[amber.Documents]

func (p documents) PutDocument(ctx context.Context, w amber.DocumentWrite) (d amber.Document, err error) {
	ctx, end, err := p.begin(ctx, "put_document")
	defer func() { end(err, size{in: len(w.Document), items: 1}) }()
	return p.next.PutDocument(ctx, w)
}

func (p documents) ReadDocument(ctx context.Context, name string) (d amber.Document, err error) {
	ctx, end, err := p.begin(ctx, "read_document")
	defer func() { end(err, size{out: len(d.Document), items: 1}) }()
	return p.next.ReadDocument(ctx, name)
}

func (p documents) ListDocuments(ctx context.Context) (l []amber.Document, err error) {
	ctx, end, err := p.begin(ctx, "list_documents")
	defer func() { end(err, size{items: len(l)}) }()
	return p.next.ListDocuments(ctx)
}

func (p documents) DeleteDocument(ctx context.Context, name, ifRevision string) (err error) {
	ctx, end, err := p.begin(ctx, "delete_document")
	defer func() { end(err, size{items: 1}) }()
	return p.next.DeleteDocument(ctx, name, ifRevision)
}
