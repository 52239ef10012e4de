package sqlcore

import (
	"context"
	"encoding/json"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/sqlrows"
)

const (
	selectApproval = `SELECT ` + sqlrows.ApprovalColumns + ` FROM approvals WHERE id = ?`
	insertApproval = `INSERT INTO approvals (id, task_id, node_id, summary, status, payload, digest, decided_by, comment, created_at, requested_by)
VALUES (?, ?, ?, ?, ?, ?, ?, '', '', ?, ?)`
	decideApproval = `UPDATE approvals SET status = ?2, decided_by = ?3, comment = ?4, decided_at = ?5, claimed_by = ?6 WHERE id = ?1`

	selectTaskApprovals    = `SELECT seq, ` + sqlrows.ApprovalColumns + ` FROM approvals WHERE task_id = ? AND seq > ? ORDER BY seq LIMIT ?`
	selectPendingApprovals = `SELECT seq, ` + sqlrows.ApprovalColumns + ` FROM approvals WHERE status = 'pending' AND seq > ? ORDER BY seq LIMIT ?`
)

var _ amber.Approvals = (*Contracts)(nil)

// RequestApproval implements [amber.Approvals].
func (s *Contracts) RequestApproval(ctx context.Context, r amber.ApprovalRequest) (a amber.Approval, err error) {
	r, err = r.Normalize()
	if err != nil {
		return a, err
	}
	return update(ctx, s.control, "request approval", r.ID, func(t *Tx) (amber.Approval, error) { return t.requestApproval(r) })
}

func (t *Tx) requestApproval(r amber.ApprovalRequest) (amber.Approval, error) {
	a := amber.Approval{
		TaskID: r.TaskID, NodeID: r.NodeID, Summary: r.Summary, Status: amber.ApprovalPending,
		Payload: append(json.RawMessage{}, r.Payload...), Digest: amber.ContentDigest(string(r.Payload)), RequestedBy: r.RequestedBy, CreatedAt: t.Now,
	}
	stored, err := sqlrows.ScanApproval(t.Row(selectApproval, r.ID))
	switch {
	case err == nil && (stored.Digest != a.Digest || stored.TaskID != a.TaskID || stored.NodeID != a.NodeID || stored.Summary != a.Summary):
		return amber.Approval{}, amber.Errorf(amber.KindConflict, "request approval", r.ID, "the id belongs to another request")
	case !sqlrows.Absent(err):
		return stored, err
	}
	if a.ID, err = orNewID(t, r.ID); err != nil {
		return a, err
	}
	err = t.Do(insertApproval, a.ID, a.TaskID, a.NodeID, a.Summary, a.Status, string(a.Payload), a.Digest, a.CreatedAt.UnixMilli(), a.RequestedBy)
	if err != nil {
		return a, err
	}
	return a, t.logControl(amber.OpInsert, "approval/"+a.ID)
}

// DecideApproval implements [amber.Approvals].
func (s *Contracts) DecideApproval(ctx context.Context, d amber.ApprovalDecision) (a amber.Approval, err error) {
	d, err = d.Normalize()
	if err != nil {
		return a, err
	}
	return update(ctx, s.control, "decide approval", d.ID, func(t *Tx) (amber.Approval, error) { return t.decideApproval(d) })
}

func (t *Tx) decideApproval(d amber.ApprovalDecision) (amber.Approval, error) {
	a, err := t.approval("decide approval", d.ID)
	switch {
	case err != nil:
		return a, err
	case a.Status != amber.ApprovalPending:
		return amber.Approval{}, amber.Errorf(amber.KindConflict, "decide approval", d.ID, "the approval is %s already, want pending", string(a.Status))
	case d.Digest != "" && d.Digest != a.Digest:
		return amber.Approval{}, amber.Errorf(amber.KindConflict, "decide approval", d.ID, "the digest of the decision is not that of the payload")
	}
	a.Status, a.DecidedBy, a.ClaimedBy, a.Comment, a.DecidedAt = d.Outcome, d.Actor, d.ClaimedBy, d.Comment, t.Now
	if err := t.Do(decideApproval, a.ID, a.Status, a.DecidedBy, a.Comment, a.DecidedAt.UnixMilli(), a.ClaimedBy); err != nil {
		return a, err
	}
	return a, t.logControl(amber.OpUpdate, "approval/"+a.ID)
}

// Approval implements [amber.Approvals].
func (s *Contracts) Approval(ctx context.Context, id string) (amber.Approval, error) {
	return view(ctx, s.control, "read approval", id, func(t *Tx) (amber.Approval, error) { return t.approval("read approval", id) })
}

var (
	taskApprovals    = listing[amber.Approval]{"list approvals", "approvals", "approvals", sqlrows.ScanApproval, selectTaskApprovals}
	pendingApprovals = listing[amber.Approval]{"list approvals", "pending approvals", "approvals", sqlrows.ScanApproval, selectPendingApprovals}
)

// ListApprovals implements [amber.Approvals]. An approval whose payload is not
// the one that was asked about is left out, because it cannot be decided.
func (s *Contracts) ListApprovals(ctx context.Context, taskID string, p amber.Paging) (amber.Page[amber.Approval], error) {
	if taskID == "" {
		return pendingApprovals.list(ctx, s.control, "", p)
	}
	return taskApprovals.list(ctx, s.control, taskID, p, taskID)
}

// approval returns an approval or not_found.
func (t *Tx) approval(op, id string) (amber.Approval, error) {
	return one(t, op, id, sqlrows.ScanApproval, selectApproval, id)
}
