package inmem

import (
	"cmp"
	"context"
	"fmt"
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
		r, found := s.results[node{taskID, nodeID}]
		if !found {
			return amber.Result{}, notFound("read result", taskID+"/"+nodeID)
		}
		return copyResult(r), nil
	})
}

// ListResults implements [amber.Results].
func (s *Store) ListResults(ctx context.Context, taskID string) ([]amber.Result, error) {
	return run(ctx, s, "list results", func() ([]amber.Result, error) {
		found := []amber.Result{}
		for at, r := range s.results {
			if at.task == taskID {
				found = append(found, copyResult(r))
			}
		}
		slices.SortFunc(found, func(a, b amber.Result) int { return cmp.Compare(a.NodeID, b.NodeID) })
		return found, nil
	})
}
