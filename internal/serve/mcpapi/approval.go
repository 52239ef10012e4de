package mcpapi

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/op"
)

type approvalArgs struct {
	ID      string
	TaskID  string `json:"task_id"`
	NodeID  string `json:"node_id"`
	Summary string
	Payload json.RawMessage
}

func requestApproval(ctx context.Context, _ *bound, a *op.Call, in approvalArgs) (answer, error) {
	ap, err := op.RequestApproval(ctx, a.Caller, a.Store.Approvals, amber.ApprovalRequest{
		ID: in.ID, TaskID: in.TaskID, NodeID: in.NodeID, Summary: in.Summary, Payload: in.Payload,
	})
	return answer{text: printApproval(ap), data: briefApproval(ap, pageBytes), subject: ap.ID}, err
}

// briefApproval cuts texts to n bytes and leaves a longer payload out; its
// digest stays.
func briefApproval(ap amber.Approval, n int) amber.Approval {
	if len(ap.Payload) > n {
		ap.Payload = json.RawMessage(`"[cut]"`)
	}
	ap.Summary, ap.Comment = clip(ap.Summary, n), clip(ap.Comment, n)
	return ap
}

func printApproval(ap amber.Approval) string {
	return fmt.Sprintf("%s is %s: %s", ap.ID, ap.Status, oneLine(ap.Summary, snippetBytes))
}

// Bounds of lists that have no cursor.
const (
	maxItems  = 50
	itemBytes = 1 << 10 // of a text of one item
)

func listApprovals(ctx context.Context, _ *bound, a *op.Call, in taskIDArgs) (answer, error) {
	out := struct {
		Approvals []amber.Approval `json:"approvals"`
		More      int              `json:"more"`
	}{Approvals: []amber.Approval{}}
	lines := []string{}
	err := amber.Each(ctx, a.Store.Approvals.ListApprovals, in.TaskID, func(ap amber.Approval) error {
		if len(lines) == maxItems {
			out.More++
			return nil
		}
		out.Approvals = append(out.Approvals, briefApproval(ap, itemBytes))
		lines = append(lines, printApproval(ap))
		return nil
	})
	if err != nil {
		return answer{}, err
	}
	return answer{text: listed(lines, "Nothing waits for approval."), data: out}, nil
}
