package sqlcore

import (
	"context"
	"fmt"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/sqlrows"
)

const (
	selectIssued  = `SELECT coalesce((SELECT fence FROM fences WHERE task_id = ? AND node_id = ?), 0)`
	selectResult  = `SELECT task_id || '/' || node_id, body FROM results WHERE task_id = ? AND node_id = ?`
	selectResults = `SELECT task_id || '/' || node_id, body FROM results WHERE task_id = ? AND node_id > ? ORDER BY node_id LIMIT ?`
	upsertResult  = `INSERT INTO results (task_id, node_id, fence, body) VALUES (?, ?, ?, ?)
ON CONFLICT (task_id, node_id) DO UPDATE SET fence = excluded.fence, body = excluded.body`
)

var _ amber.Results = (*Contracts)(nil)

// SaveResult implements [amber.Results]. The fence must be the last one that
// was issued for the node: 0 where none was.
func (s *Contracts) SaveResult(ctx context.Context, r amber.Result) (saved amber.Result, err error) {
	r, err = r.Normalize()
	if err != nil {
		return saved, err
	}
	return update(ctx, s.control, "save result", resultID(r.TaskID, r.NodeID), func(t *Tx) (amber.Result, error) { return t.saveResult(r) })
}

func resultID(taskID, nodeID string) string { return taskID + "/" + nodeID }

func (t *Tx) saveResult(r amber.Result) (amber.Result, error) {
	id := resultID(r.TaskID, r.NodeID)
	var issued int64
	if err := t.Row(selectIssued, r.TaskID, r.NodeID).Scan(&issued); err != nil {
		return amber.Result{}, err
	}
	op := amber.OpUpdate
	prev, err := sqlrows.ScanResult(t.Row(selectResult, r.TaskID, r.NodeID))
	if sqlrows.Absent(err) {
		op, err = amber.OpInsert, nil
	}
	if err != nil {
		return amber.Result{}, err
	}
	if why := fencedOff(r.Fence, issued, prev.Fence); why != "" {
		return amber.Result{}, amber.Errorf(amber.KindConflict, "save result", id, "%s", why)
	}
	r.UpdatedAt = t.Now
	body, err := sqlrows.Marshal(r)
	if err != nil {
		return r, err
	}
	if err := t.Do(upsertResult, r.TaskID, r.NodeID, r.Fence, body); err != nil {
		return r, err
	}
	return r, t.logControl(op, "result/"+id)
}

// fencedOff says why work done under a fence comes too late, or was never
// handed out; "" when it may be saved.
func fencedOff(fence, issued, stored int64) string {
	switch {
	case fence < issued:
		return fmt.Sprintf("result was made under fence %d, but fence %d was issued since", fence, issued)
	case fence > issued:
		return fmt.Sprintf("result claims fence %d, which was never issued for this node", fence)
	case fence < stored:
		return fmt.Sprintf("result was made under fence %d, but a result under fence %d is stored", fence, stored)
	}
	return ""
}

// Result implements [amber.Results].
func (s *Contracts) Result(ctx context.Context, taskID, nodeID string) (amber.Result, error) {
	id := resultID(taskID, nodeID)
	return view(ctx, s.control, "read result", id, func(t *Tx) (amber.Result, error) {
		return one(t, "read result", id, sqlrows.ScanResult, selectResult, taskID, nodeID)
	})
}

// ListResults implements [amber.Results].
func (s *Contracts) ListResults(ctx context.Context, taskID string, p amber.Paging) (amber.Page[amber.Result], error) {
	none := amber.Page[amber.Result]{Items: []amber.Result{}}
	size, err := p.Size("list results")
	if err != nil {
		return none, err
	}
	after := ""
	if p.Cursor != "" {
		if _, after, err = decodeCursor("results", p.Cursor); err != nil {
			return none, err
		}
	}
	mark := func(last amber.Result) amber.Cursor { return encodeCursor("results", 0, last.NodeID) }
	return view(ctx, s.control, "list results", taskID, func(t *Tx) (amber.Page[amber.Result], error) {
		return readPage(t, "results", sqlrows.ScanResult, size, mark, selectResults, taskID, after)
	})
}
