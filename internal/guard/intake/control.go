package intake

import (
	"context"
	"slices"

	"github.com/amber-memory/amber"
)

type tasks struct {
	amber.Tasks
	inlet
}

// SaveTask implements [amber.Tasks].
func (s tasks) SaveTask(ctx context.Context, t amber.Task, ifVersion int64) (amber.Task, error) {
	c := s.cleaner()
	c.ids("task id", t.ID, "request id", t.RequestID, "session id", string(t.SessionID), "approval id", t.PendingApprovalID)
	for _, n := range t.CompletedNodes {
		c.ids("node id", n)
	}
	t.Goal, t.LastResult, t.Extra = c.text(t.Goal), c.document(t.LastResult), c.raw(t.Extra)
	if err := c.done(ctx); err != nil {
		return amber.Task{}, err
	}
	return s.Tasks.SaveTask(ctx, t, ifVersion)
}

type events struct {
	amber.TaskEvents
	inlet
}

// AppendEvent implements [amber.TaskEvents].
func (s events) AppendEvent(ctx context.Context, e amber.TaskEvent) (amber.TaskEvent, error) {
	c := s.cleaner()
	c.ids("task id", e.TaskID, "node id", e.NodeID, "node kind", e.NodeKind, "approval id", e.ApprovalID)
	e.Reason, e.Result = c.text(e.Reason), c.document(e.Result)
	return pass(ctx, c, e, s.TaskEvents.AppendEvent)
}

type approvals struct {
	amber.Approvals
	inlet
}

// RequestApproval implements [amber.Approvals]. The digest is that of the payload
// as it is kept.
func (s approvals) RequestApproval(ctx context.Context, r amber.ApprovalRequest) (amber.Approval, error) {
	c := s.cleaner()
	c.ids("approval id", r.ID, "task id", r.TaskID, "node id", r.NodeID, "requester", r.RequestedBy)
	r.Summary, r.Payload = c.text(r.Summary), c.raw(r.Payload)
	return pass(ctx, c, r, s.Approvals.RequestApproval)
}

// DecideApproval implements [amber.Approvals].
func (s approvals) DecideApproval(ctx context.Context, d amber.ApprovalDecision) (amber.Approval, error) {
	c := s.cleaner()
	c.ids("actor", d.Actor)
	d.ClaimedBy, d.Comment = c.text(d.ClaimedBy), c.text(d.Comment)
	return pass(ctx, c, d, s.Approvals.DecideApproval)
}

type results struct {
	amber.Results
	inlet
}

// SaveResult implements [amber.Results].
func (s results) SaveResult(ctx context.Context, r amber.Result) (amber.Result, error) {
	c := s.cleaner()
	c.ids("task id", r.TaskID, "node id", r.NodeID, "producer", r.Producer, "schema version", r.SchemaVersion)
	r.Payload, r.Evidence = c.document(r.Payload), slices.Clone(r.Evidence)
	for i, e := range r.Evidence {
		r.Evidence[i].Kind, r.Evidence[i].Value = c.text(e.Kind), c.text(e.Value)
	}
	return pass(ctx, c, r, s.Results.SaveResult)
}

type queue struct {
	amber.Queue
	inlet
}

// Publish implements [amber.Queue].
func (s queue) Publish(ctx context.Context, e amber.Envelope) error {
	c := s.cleaner()
	c.ids("entry id", e.EntryID, "task id", e.TaskID, "node id", e.NodeID)
	e.Payload = c.document(e.Payload)
	if err := c.done(ctx); err != nil {
		return err
	}
	return s.Queue.Publish(ctx, e)
}

// Claim implements [amber.Queue].
func (s queue) Claim(ctx context.Context, consumerID string) (amber.Claim, error) {
	c := s.cleaner()
	c.ids("consumer id", consumerID)
	if err := c.done(ctx); err != nil {
		return amber.Claim{}, err
	}
	return s.Queue.Claim(ctx, consumerID)
}

// Nack implements [amber.Queue].
func (s queue) Nack(ctx context.Context, n amber.Nack) error {
	c := s.cleaner()
	n.Reason = c.text(n.Reason)
	if err := c.done(ctx); err != nil {
		return err
	}
	return s.Queue.Nack(ctx, n)
}
