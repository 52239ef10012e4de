package image

import (
	"context"
	"fmt"

	"github.com/amber-memory/amber/internal/store/sqlfile"
	"github.com/amber-memory/amber/internal/store/sqlrows"
)

const (
	// clashing finds the nodes whose number the live file gave to another node:
	// the two files have not grown from one.
	clashing = `SELECT s.task_id, s.node_id FROM main.fences s JOIN live.fences l ON l.fence = s.fence
WHERE l.task_id <> s.task_id OR l.node_id <> s.node_id ORDER BY s.fence`
	highestFence = `SELECT max(coalesce((SELECT max(fence) FROM main.fences), 0), coalesce((SELECT max(fence) FROM live.fences), 0))`
	raiseFence   = `UPDATE fences SET fence = ?3 WHERE task_id = ?1 AND node_id = ?2`
	takeFences   = `INSERT INTO fences (task_id, node_id, fence)
SELECT l.task_id, l.node_id, l.fence FROM live.fences l
WHERE NOT EXISTS (SELECT 1 FROM main.fences s WHERE s.task_id = l.task_id AND s.node_id = l.node_id AND s.fence >= l.fence)
ON CONFLICT (task_id, node_id) DO UPDATE SET fence = excluded.fence`
)

// AdoptControl makes a restored control.db fit to be live: no fence is issued
// twice, and work that was done under a fence of either file stays fenced off
// by a later one. The rest is as it was. It promises what [Adopt] promises.
func AdoptControl(ctx context.Context, r AdoptRequest) (AdoptReport, error) {
	return adopt(ctx, sqlfile.ControlSchema, r, func(a *adoption) error {
		if r.Live == "" || r.Carried {
			return nil
		}
		if err := a.takeFences(); err != nil {
			return fmt.Errorf("take fences: %w", err)
		}
		return nil
	})
}

// takeFences gives each node the highest number either file knows for it.
func (a *adoption) takeFences() error {
	var last int64
	if err := a.Row(highestFence).Scan(&last); err != nil {
		return err
	}
	type node struct{ task, node string }
	nodes, err := sqlrows.All(a.Tx, func(s scanner) (n node, err error) {
		err = s.Scan(&n.task, &n.node)
		return n, err
	}, clashing)
	if err != nil {
		return err
	}
	for _, n := range nodes { // a new number fences off the old one
		last++
		if _, err := a.Exec(raiseFence, n.task, n.node, last); err != nil {
			return err
		}
	}
	_, err = a.Exec(takeFences)
	return err
}
