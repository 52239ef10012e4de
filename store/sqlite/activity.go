package sqlite

import (
	"cmp"
	"context"

	"github.com/amber-memory/amber"
)

const (
	activityColumns = `session_id, kind, name, detail, status, count, failed, first_at, last_at`

	selectActivity = `SELECT ` + activityColumns + ` FROM activity WHERE session_id = ? AND kind = ? AND name = ?`
	insertActivity = `INSERT INTO activity (` + activityColumns + `) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`
	updateActivity = `UPDATE activity SET detail = ?4, status = ?5, count = ?6, failed = ?7, first_at = ?8, last_at = ?9
WHERE session_id = ?1 AND kind = ?2 AND name = ?3`
	countActivity = `SELECT count(*) FROM activity WHERE session_id = ? AND kind = ?`
	dropActivity  = `DELETE FROM activity WHERE seq = (SELECT seq FROM activity INDEXED BY activity_last
WHERE session_id = ? AND kind = ? ORDER BY last_at, seq LIMIT 1)`

	listActivity       = `SELECT ` + activityColumns + ` FROM activity WHERE session_id = ? ORDER BY first_at, seq`
	listActivityOfKind = `SELECT ` + activityColumns + ` FROM activity WHERE session_id = ? AND kind = ? ORDER BY first_at, seq`
)

var _ amber.Activities = (*Store)(nil)

// ListActivity implements [amber.Activities].
func (s *Store) ListActivity(ctx context.Context, id amber.SessionID, kind amber.ActivityKind) (done []amber.Activity, err error) {
	query, args := listActivity, []any{id}
	if kind != "" {
		if err := amber.CheckActivityKind(kind); err != nil {
			return nil, err
		}
		query, args = listActivityOfKind, []any{id, kind}
	}
	err = s.memory.view(ctx, "list activity", string(id), func(t *tx) error {
		done, err = readRows(t, "activity", scanActivity, query, args...)
		return err
	})
	return done, err
}

func (n *intake) activity(step amber.IngestStep) error {
	for _, a := range step.Activity {
		a.FirstAt, a.LastAt = cmp.Or(a.FirstAt, step.At), cmp.Or(a.LastAt, step.At)
		if err := n.do(a); err != nil {
			return err
		}
	}
	return nil
}

// do notes that something was done.
func (n *intake) do(a amber.Activity) error {
	stored, err := scanActivity(n.row(selectActivity, a.SessionID, a.Kind, a.Name))
	switch {
	case absent(err):
		return n.addActivity(a)
	case err != nil:
		return err
	}
	_, err = n.exec(updateActivity, activityArgs(stored.Again(a))...)
	return err
}

// addActivity stores something that was not done before. Where that makes too
// many of its kind, those done longest ago go.
func (n *intake) addActivity(a amber.Activity) error {
	count, counted := n.kinds[a.Kind]
	if !counted {
		if err := n.row(countActivity, a.SessionID, a.Kind).Scan(&count); err != nil {
			return err
		}
	}
	if _, err := n.exec(insertActivity, activityArgs(a)...); err != nil {
		return err
	}
	for count++; count > amber.MaxActivity; count-- {
		if _, err := n.exec(dropActivity, a.SessionID, a.Kind); err != nil {
			return err
		}
	}
	n.kinds[a.Kind] = count
	return nil
}

// activityArgs returns the values of insertActivity and updateActivity.
func activityArgs(a amber.Activity) []any {
	return []any{a.SessionID, a.Kind, a.Name, a.Detail, a.Status, a.Count, a.Failed, a.FirstAt.UnixMilli(), a.LastAt.UnixMilli()}
}

func scanActivity(s scanner) (amber.Activity, error) {
	var a amber.Activity
	var firstAt, lastAt int64
	err := s.Scan(&a.SessionID, &a.Kind, &a.Name, &a.Detail, &a.Status, &a.Count, &a.Failed, &firstAt, &lastAt)
	a.FirstAt, a.LastAt = amber.UnixMilli(firstAt), amber.UnixMilli(lastAt)
	if err != nil {
		return a, err
	}
	return a, fit("activity", string(a.SessionID), []int64{a.Count, a.Failed}, []int64{firstAt, lastAt})
}
