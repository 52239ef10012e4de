package amber

import (
	"cmp"
	"context"
	"encoding/json"
)

// ApprovalStatus is where an approval stands.
type ApprovalStatus string

// The states of an approval. Every one but pending is final.
const (
	ApprovalPending   ApprovalStatus = "pending"
	ApprovalApproved  ApprovalStatus = "approved"
	ApprovalRejected  ApprovalStatus = "rejected"
	ApprovalCancelled ApprovalStatus = "cancelled"
)

// Approval is a question to a person, with the exact thing that will run if
// the answer is yes.
type Approval struct {
	ID      string          `json:"id"`
	TaskID  string          `json:"task_id"`
	NodeID  string          `json:"node_id"`
	Summary string          `json:"summary"`
	Status  ApprovalStatus  `json:"status"`
	Payload json.RawMessage `json:"payload"` // frozen when it was requested, compact
	Digest  string          `json:"digest"`  // hex SHA-256 of Payload
	// RequestedBy is the id of the token that asked, which does not decide; "" for
	// the owner, and where that is not known.
	RequestedBy string `json:"requested_by,omitempty"`
	DecidedBy   string `json:"decided_by,omitempty"` // through a server the name of a token
	// ClaimedBy is who the decision says has decided, where a token did.
	ClaimedBy string `json:"claimed_by,omitempty"`
	Comment   string `json:"comment,omitempty"`
	CreatedAt Time   `json:"created_at"`
	DecidedAt Time   `json:"decided_at,omitzero"`
}

// ApprovalRequest asks for an approval.
type ApprovalRequest struct {
	ID      string          `json:"id,omitempty" redact:"id,approval id"` // default a new UUIDv7
	TaskID  string          `json:"task_id" redact:"id,task id"`
	NodeID  string          `json:"node_id" redact:"id,node id"`
	Summary string          `json:"summary" redact:"text"`
	Payload json.RawMessage `json:"payload" redact:"raw"`
	// RequestedBy is the id of the token that asks. A server puts it there,
	// whatever its caller says.
	RequestedBy string `json:"requested_by,omitempty" redact:"id,requester"`
}

// Normalize checks the request. The error is of kind invalid.
func (r ApprovalRequest) Normalize() (ApprovalRequest, error) {
	r.Payload = compact(r.Payload)
	return r, cmp.Or(
		CheckOptionalID("approval id", r.ID),
		CheckID("task id", r.TaskID),
		CheckID("node id", r.NodeID),
		CheckText("summary", r.Summary, MaxSummaryBytes, Required),
		checkJSON("payload", r.Payload),
		CheckOptionalID("token that asks", r.RequestedBy),
	)
}

// ApprovalDecision answers an approval.
type ApprovalDecision struct {
	ID      string         `json:"id" redact:"-"`
	Outcome ApprovalStatus `json:"outcome" redact:"-"` // approved, rejected or cancelled
	// Actor is who decides. A server puts the name of the caller's token there,
	// and what was there into ClaimedBy.
	Actor     string `json:"actor" redact:"id,actor"`
	ClaimedBy string `json:"claimed_by,omitempty" redact:"text"`
	Comment   string `json:"comment,omitempty" redact:"text"`
	// Digest is what the person saw; a decision about another payload is a
	// conflict. Empty does not check.
	Digest string `json:"digest,omitempty" redact:"-"`
}

// Normalize checks the decision. The error is of kind invalid.
func (d ApprovalDecision) Normalize() (ApprovalDecision, error) {
	return d, cmp.Or(
		CheckID("approval id", d.ID),
		CheckID("actor", d.Actor),
		CheckOptionalID("claimed actor", d.ClaimedBy),
		CheckOneOf("outcome", d.Outcome, ApprovalApproved, ApprovalRejected, ApprovalCancelled),
		CheckText("comment", d.Comment, MaxSummaryBytes, 0),
	)
}

// Approvals keeps approvals and their payloads. Safe for concurrent use.
type Approvals interface {
	// RequestApproval stores the question with its payload in one
	// transaction. The same id with the same bytes returns the stored
	// approval, also for another caller. Errors: invalid, conflict when the id has another payload.
	RequestApproval(ctx context.Context, r ApprovalRequest) (Approval, error)
	// DecideApproval answers exactly once. Errors: invalid, not_found,
	// conflict when it is decided already or the digest differs.
	DecideApproval(ctx context.Context, d ApprovalDecision) (Approval, error)
	// Approval returns one approval, its payload checked. Errors: not_found,
	// damaged.
	Approval(ctx context.Context, id string) (Approval, error)
	// ListApprovals returns a page of the approvals of a task, oldest first; an
	// empty task id means every pending one. Errors: invalid.
	ListApprovals(ctx context.Context, taskID string, p Paging) (Page[Approval], error)
}
