package mcpapi

import (
	"context"
	"fmt"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/op"
)

type resultArgs struct {
	TaskID     string `json:"task_id"`
	NodeID     string `json:"node_id"`
	Producer   string
	Status     amber.ResultStatus
	Payload    string
	Confidence float64
	Fence      integer
}

func saveResult(ctx context.Context, _ *bound, a *op.Call, in resultArgs) (answer, error) {
	r, err := a.Store.Results.SaveResult(ctx, amber.Result{
		TaskID: in.TaskID, NodeID: in.NodeID, Producer: in.Producer, Status: in.Status, Payload: in.Payload,
		Confidence: in.Confidence, Fence: int64(in.Fence),
	})
	if err != nil {
		return answer{}, err
	}
	return answer{text: fmt.Sprintf("The result of %s/%s is saved.", r.TaskID, r.NodeID), data: briefResult(r, pageBytes), subject: r.TaskID + "/" + r.NodeID}, nil
}

// resultPage is a result with a page of its payload.
type resultPage struct {
	TaskID    string             `json:"task_id"`
	NodeID    string             `json:"node_id"`
	Producer  string             `json:"producer"`
	Status    amber.ResultStatus `json:"status"`
	Payload   string             `json:"payload"`
	Truncated bool               `json:"truncated,omitempty"`
	Fence     int64              `json:"fence"`
	UpdatedAt amber.Time         `json:"updated_at"`
}

func briefResult(r amber.Result, n int) resultPage {
	p := pageAt(r.Payload, 0, n)
	return resultPage{r.TaskID, r.NodeID, r.Producer, r.Status, p.Content, p.Truncated, r.Fence, r.UpdatedAt}
}

func listResults(ctx context.Context, _ *bound, a *op.Call, in taskIDArgs) (answer, error) {
	out := struct {
		Results []resultPage `json:"results"`
		More    int          `json:"more"`
	}{Results: []resultPage{}}
	some := []amber.Result{} // of the rest nothing is kept but their number
	err := amber.Each(ctx, a.Store.Results.ListResults, in.TaskID, func(r amber.Result) error {
		if len(some) == maxItems {
			out.More++
			return nil
		}
		if len(r.Payload) > pageBytes+1 { // no answer has more of it, and one byte more tells that it goes on
			r.Payload = strings.Clone(r.Payload[:pageBytes+1])
		}
		r.Evidence = nil
		some = append(some, r)
		return nil
	})
	if err != nil {
		return answer{}, err
	}
	n := pageBytes // of a payload; many share the room of four
	if len(some) > 4 {
		n = max(itemBytes, 4*pageBytes/len(some))
	}
	lines := []string{}
	for _, r := range some {
		out.Results = append(out.Results, briefResult(r, n))
		lines = append(lines, fmt.Sprintf("%s: %s, %s", r.NodeID, r.Status, oneLine(r.Payload, snippetBytes)))
	}
	return answer{text: listed(lines, "There are no results."), data: out}, nil
}
