package metrics

import (
	"context"

	"github.com/amber-memory/amber"
)

type tasks part[amber.Tasks]

func (p tasks) SaveTask(ctx context.Context, t amber.Task, ifVersion int64) (out amber.Task, err error) {
	defer p.watch(&ctx, &err, "save_task")(func() size { return size{in: len(t.Goal) + len(t.Extra), items: 1} })
	return p.next.SaveTask(ctx, t, ifVersion)
}

func (p tasks) Task(ctx context.Context, id string) (t amber.Task, err error) {
	defer p.watch(&ctx, &err, "task")(func() size { return size{out: len(t.Goal) + len(t.Extra), items: 1} })
	return p.next.Task(ctx, id)
}

func (p tasks) ListTasks(ctx context.Context, q amber.TaskQuery) (l amber.Page[amber.Task], err error) {
	defer p.watch(&ctx, &err, "list_tasks")(func() size { return size{items: len(l.Items)} })
	return p.next.ListTasks(ctx, q)
}

type taskEvents part[amber.TaskEvents]

func (p taskEvents) AppendEvent(ctx context.Context, e amber.TaskEvent) (out amber.TaskEvent, err error) {
	defer p.watch(&ctx, &err, "append_event")(func() size { return size{in: len(e.Result), items: 1} })
	return p.next.AppendEvent(ctx, e)
}

func (m taskEvents) ListEvents(ctx context.Context, taskID string, p amber.Paging) (l amber.Page[amber.TaskEvent], err error) {
	defer m.watch(&ctx, &err, "list_events")(func() size { return size{items: len(l.Items)} })
	return m.next.ListEvents(ctx, taskID, p)
}

func (p taskEvents) CompactEvents(ctx context.Context, taskID string, keep int) (s amber.ReplaySnapshot, err error) {
	defer p.watch(&ctx, &err, "compact_events")(one)
	return p.next.CompactEvents(ctx, taskID, keep)
}

func (p taskEvents) Replay(ctx context.Context, taskID string) (r amber.ReplayReport, err error) {
	defer p.watch(&ctx, &err, "replay")(func() size { return size{items: len(r.Events)} })
	return p.next.Replay(ctx, taskID)
}

type approvals part[amber.Approvals]

func (p approvals) RequestApproval(ctx context.Context, r amber.ApprovalRequest) (a amber.Approval, err error) {
	defer p.watch(&ctx, &err, "request_approval")(func() size { return size{in: len(r.Payload), items: 1} })
	return p.next.RequestApproval(ctx, r)
}

func (p approvals) DecideApproval(ctx context.Context, d amber.ApprovalDecision) (a amber.Approval, err error) {
	defer p.watch(&ctx, &err, "decide_approval")(one)
	return p.next.DecideApproval(ctx, d)
}

func (p approvals) Approval(ctx context.Context, id string) (a amber.Approval, err error) {
	defer p.watch(&ctx, &err, "approval")(func() size { return size{out: len(a.Payload), items: 1} })
	return p.next.Approval(ctx, id)
}

func (m approvals) ListApprovals(ctx context.Context, taskID string, p amber.Paging) (l amber.Page[amber.Approval], err error) {
	defer m.watch(&ctx, &err, "list_approvals")(func() size { return size{items: len(l.Items)} })
	return m.next.ListApprovals(ctx, taskID, p)
}

type results part[amber.Results]

func (p results) SaveResult(ctx context.Context, r amber.Result) (out amber.Result, err error) {
	defer p.watch(&ctx, &err, "save_result")(func() size { return size{in: len(r.Payload), items: 1} })
	return p.next.SaveResult(ctx, r)
}

func (p results) Result(ctx context.Context, taskID, nodeID string) (r amber.Result, err error) {
	defer p.watch(&ctx, &err, "result")(func() size { return size{out: len(r.Payload), items: 1} })
	return p.next.Result(ctx, taskID, nodeID)
}

func (m results) ListResults(ctx context.Context, taskID string, p amber.Paging) (l amber.Page[amber.Result], err error) {
	defer m.watch(&ctx, &err, "list_results")(func() size { return size{items: len(l.Items)} })
	return m.next.ListResults(ctx, taskID, p)
}

type queue part[amber.Queue]

func (p queue) Publish(ctx context.Context, e amber.Envelope) (err error) {
	defer p.watch(&ctx, &err, "publish")(func() size { return size{in: len(e.Payload), items: 1} })
	return p.next.Publish(ctx, e)
}

func (p queue) Claim(ctx context.Context, consumerID string) (c amber.Claim, err error) {
	defer p.watch(&ctx, &err, "claim")(func() size { return size{out: len(c.Envelope.Payload), items: 1} })
	return p.next.Claim(ctx, consumerID)
}

func (p queue) Ack(ctx context.Context, l amber.Lease) (err error) {
	defer p.watch(&ctx, &err, "ack")(one)
	return p.next.Ack(ctx, l)
}

func (p queue) Nack(ctx context.Context, n amber.Nack) (err error) {
	defer p.watch(&ctx, &err, "nack")(one)
	return p.next.Nack(ctx, n)
}

type queueKeeper part[amber.QueueKeeper]

func (p queueKeeper) Renew(ctx context.Context, l amber.Lease) (out amber.Lease, err error) {
	defer p.watch(&ctx, &err, "renew")(one)
	return p.next.Renew(ctx, l)
}

func (p queueKeeper) Backpressure(ctx context.Context) (b amber.Backpressure, err error) {
	defer p.watch(&ctx, &err, "backpressure")(none)
	return p.next.Backpressure(ctx)
}

func (m queueKeeper) DeadEntries(ctx context.Context, p amber.Paging) (l amber.Page[amber.DeadEntry], err error) {
	defer m.watch(&ctx, &err, "dead_entries")(func() size { return size{items: len(l.Items)} })
	return m.next.DeadEntries(ctx, p)
}

type documents part[amber.Documents]

func (p documents) PutDocument(ctx context.Context, w amber.DocumentWrite) (d amber.Document, err error) {
	defer p.watch(&ctx, &err, "put_document")(func() size { return size{in: len(w.Document), items: 1} })
	return p.next.PutDocument(ctx, w)
}

func (p documents) ReadDocument(ctx context.Context, name string) (d amber.Document, err error) {
	defer p.watch(&ctx, &err, "read_document")(func() size { return size{out: len(d.Document), items: 1} })
	return p.next.ReadDocument(ctx, name)
}

func (p documents) ListDocuments(ctx context.Context) (l []amber.Document, err error) {
	defer p.watch(&ctx, &err, "list_documents")(func() size { return size{items: len(l)} })
	return p.next.ListDocuments(ctx)
}

func (p documents) DeleteDocument(ctx context.Context, name, ifRevision string) (err error) {
	defer p.watch(&ctx, &err, "delete_document")(one)
	return p.next.DeleteDocument(ctx, name, ifRevision)
}
