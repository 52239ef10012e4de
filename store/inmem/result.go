package inmem

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/amber-memory/amber"
)

var _ amber.Results = (*Store)(nil)

// node names one node of one task.
type node struct{ task, id string }

// SaveResult implements [amber.Results].
func (s *Store) SaveResult(ctx context.Context, r amber.Result) (amber.Result, error) {
	r, err := r.Normalize()
	if err != nil {
		return amber.Result{}, err
	}
	return run(ctx, s, "save result", func() (amber.Result, error) {
		at := node{r.TaskID, r.NodeID}
		key := "result/" + r.TaskID + "/" + r.NodeID
		stored, found := s.results[at]
		issued := s.queue.issued[at]
		switch {
		case r.Fence < issued || r.Fence < stored.Fence:
			return amber.Result{}, conflict("save result", r.TaskID, fmt.Sprintf("fence %d of node %s is behind fence %d", r.Fence, r.NodeID, max(issued, stored.Fence)))
		case r.Fence > issued:
			return amber.Result{}, conflict("save result", r.TaskID, fmt.Sprintf("fence %d of node %s was never issued", r.Fence, r.NodeID))
		}
		r = copyResult(r)
		r.UpdatedAt = s.now()
		s.results[at] = r
		s.logControl(r.UpdatedAt, saved(found), key)
		return copyResult(r), nil
	})
}

// Result implements [amber.Results].
func (s *Store) Result(ctx context.Context, taskID, nodeID string) (amber.Result, error) {
	return run(ctx, s, "read result", func() (amber.Result, error) {
		return lookup("read result", taskID+"/"+nodeID, s.results, node{taskID, nodeID}, copyResult)
	})
}

// ListResults implements [amber.Results].
func (s *Store) ListResults(ctx context.Context, taskID string, p amber.Paging) (amber.Page[amber.Result], error) {
	const op = "list results"
	return run(ctx, s, op, func() (amber.Page[amber.Result], error) {
		found := where(maps.Values(s.results), func(r amber.Result) bool { return r.TaskID == taskID })
		slices.SortFunc(found, func(a, b amber.Result) int { return cmp.Compare(a.NodeID, b.NodeID) })
		return enumerate(op, "results", copyEach(found, copyResult), p)
	})
}
