package amber

import (
	"cmp"
	"context"
	"math"
)

// ResultStatus says whether a node's work succeeded.
type ResultStatus string

// The two outcomes of a node.
const (
	ResultOK    ResultStatus = "ok"
	ResultError ResultStatus = "error"
)

// Evidence backs a result.
type Evidence struct {
	Kind  string `json:"kind" redact:"text"`
	Value string `json:"value" redact:"text"`
}

// Result is what a node of a task produced.
type Result struct {
	TaskID        string       `json:"task_id" redact:"id,task id"`
	NodeID        string       `json:"node_id" redact:"id,node id"`
	Producer      string       `json:"producer" redact:"id,producer"`
	SchemaVersion string       `json:"schema_version" redact:"id,schema version"` // default "result.v1"
	Status        ResultStatus `json:"status" redact:"-"`
	Payload       string       `json:"payload" redact:"raw"`
	Evidence      []Evidence   `json:"evidence"`
	Confidence    float64      `json:"confidence"` // 0 to 1
	// Fence is the fencing token of the lease the work was done under; 0 for
	// work that came from no queue.
	Fence     int64 `json:"fence"`
	UpdatedAt Time  `json:"updated_at"`
}

// Normalize fills defaults and checks the result. The error is of kind
// invalid.
func (r Result) Normalize() (Result, error) {
	r.SchemaVersion = orDefault(r.SchemaVersion, "result.v1")
	r.Evidence = append([]Evidence{}, r.Evidence...)
	if math.IsNaN(r.Confidence) || r.Confidence < 0 || r.Confidence > 1 {
		return r, Errorf(KindInvalid, "check result", r.TaskID, "confidence %v is not between 0 and 1", r.Confidence)
	}
	if r.Fence < 0 {
		return r, Errorf(KindInvalid, "check result", r.TaskID, "fence is negative")
	}
	for _, e := range r.Evidence {
		if err := cmp.Or(CheckID("evidence kind", e.Kind), CheckText("evidence value", e.Value, MaxContentBytes, Lenient)); err != nil {
			return r, err
		}
	}
	return r, cmp.Or(
		CheckID("task id", r.TaskID),
		CheckID("node id", r.NodeID),
		CheckID("producer", r.Producer),
		CheckID("schema version", r.SchemaVersion),
		CheckOneOf("status", r.Status, ResultOK, ResultError),
		CheckText("payload", r.Payload, MaxStateBytes, Lenient),
	)
}

// Results keeps the newest result of each node. Safe for concurrent use.
type Results interface {
	// SaveResult stores r under the newest fence that was issued for its node,
	// which may save again. Any other fence is a conflict: an older one lost
	// its lease, a newer one was never issued. Fence 0 is for nodes for which
	// none was ever issued. Errors: invalid, conflict.
	SaveResult(ctx context.Context, r Result) (Result, error)
	// Result returns the result of a node. Errors: not_found.
	Result(ctx context.Context, taskID, nodeID string) (Result, error)
	// ListResults returns a page of the results of a task, by node. Errors: invalid.
	ListResults(ctx context.Context, taskID string, p Paging) (Page[Result], error)
}
