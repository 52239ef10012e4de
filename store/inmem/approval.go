package inmem

import (
	"context"
	"slices"

	"github.com/amber-memory/amber"
)

var _ amber.Approvals = (*Store)(nil)

// RequestApproval implements [amber.Approvals].
func (s *Store) RequestApproval(ctx context.Context, r amber.ApprovalRequest) (amber.Approval, error) {
	r, err := r.Normalize()
	if err != nil {
		return amber.Approval{}, err
	}
	return run(ctx, s, "request approval", func() (amber.Approval, error) {
		digest := amber.ContentDigest(string(r.Payload))
		if i := s.approvalIndex(r.ID); i >= 0 {
			a := s.approvals[i]
			if a.Digest != digest || a.TaskID != r.TaskID || a.NodeID != r.NodeID || a.Summary != r.Summary {
				return amber.Approval{}, conflict("request approval", r.ID, "the id belongs to another request")
			}
			return copyApproval(a), nil
		}
		now := s.now()
		if r.ID, err = orNewID(s, now, r.ID); err != nil {
			return amber.Approval{}, err
		}
		a := amber.Approval{
			ID: r.ID, TaskID: r.TaskID, NodeID: r.NodeID, Summary: r.Summary, Status: amber.ApprovalPending,
			Payload: copyJSON(r.Payload), Digest: digest, RequestedBy: r.RequestedBy, CreatedAt: now,
		}
		s.approvals = append(s.approvals, a)
		s.logControl(now, amber.OpInsert, "approval/"+a.ID)
		return copyApproval(a), nil
	})
}

// DecideApproval implements [amber.Approvals].
func (s *Store) DecideApproval(ctx context.Context, d amber.ApprovalDecision) (amber.Approval, error) {
	d, err := d.Normalize()
	if err != nil {
		return amber.Approval{}, err
	}
	return run(ctx, s, "decide approval", func() (amber.Approval, error) {
		i := s.approvalIndex(d.ID)
		if i < 0 {
			return amber.Approval{}, notFound("decide approval", d.ID)
		}
		a := s.approvals[i]
		switch {
		case a.Status != amber.ApprovalPending:
			return amber.Approval{}, conflict("decide approval", d.ID, "the approval is "+string(a.Status)+" already, want pending")
		case d.Digest != "" && d.Digest != a.Digest:
			return amber.Approval{}, conflict("decide approval", d.ID, "the digest of the decision is not that of the payload")
		}
		now := s.now()
		a.Status, a.DecidedBy, a.ClaimedBy, a.Comment, a.DecidedAt = d.Outcome, d.Actor, d.ClaimedBy, d.Comment, now
		s.approvals[i] = a
		s.logControl(now, amber.OpUpdate, "approval/"+a.ID)
		return copyApproval(a), nil
	})
}

// Approval implements [amber.Approvals].
func (s *Store) Approval(ctx context.Context, id string) (amber.Approval, error) {
	return run(ctx, s, "read approval", func() (amber.Approval, error) {
		i := s.approvalIndex(id)
		if i < 0 {
			return amber.Approval{}, notFound("read approval", id)
		}
		return copyApproval(s.approvals[i]), nil
	})
}

// ListApprovals implements [amber.Approvals], in the order of the requests.
func (s *Store) ListApprovals(ctx context.Context, taskID string, p amber.Paging) (amber.Page[amber.Approval], error) {
	const op = "list approvals"
	return run(ctx, s, op, func() (amber.Page[amber.Approval], error) {
		found := where(slices.Values(s.approvals), func(a amber.Approval) bool {
			return a.TaskID == taskID || taskID == "" && a.Status == amber.ApprovalPending
		})
		return enumerate(op, "approvals", copyEach(found, copyApproval), p)
	})
}

func (s *Store) approvalIndex(id string) int {
	return slices.IndexFunc(s.approvals, func(a amber.Approval) bool { return a.ID == id })
}
