package sqlcore

import (
	"cmp"
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/sqlrows"
)

const (
	selectActivity = `SELECT ` + sqlrows.ActivityColumns + ` FROM activity WHERE session_id = ? AND kind = ? AND name = ?`
	insertActivity = `INSERT INTO activity (` + sqlrows.ActivityColumns + `) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`
	updateActivity = `UPDATE activity SET detail = ?4, status = ?5, count = ?6, failed = ?7, first_at = ?8, last_at = ?9
WHERE session_id = ?1 AND kind = ?2 AND name = ?3`
	turnIsGone    = `SELECT NOT EXISTS (SELECT 1 FROM turns WHERE id = ?)`
	countActivity = `SELECT count(*) FROM activity WHERE session_id = ? AND kind = ?`
	dropActivity  = `DELETE FROM activity WHERE seq = (SELECT seq FROM activity INDEXED BY activity_last
WHERE session_id = ? AND kind = ? ORDER BY last_at, seq LIMIT 1)`

	listActivity       = `SELECT ` + sqlrows.ActivityColumns + ` FROM activity WHERE session_id = ? ORDER BY first_at, seq`
	listActivityOfKind = `SELECT ` + sqlrows.ActivityColumns + ` FROM activity WHERE session_id = ? AND kind = ? ORDER BY first_at, seq`
	// The sessions are asked one by one, since names are indexed by session.
	activityNamed = `SELECT ` + sqlrows.ActivityColumns + ` FROM activity WHERE session_id IN (SELECT id FROM sessions) AND kind = ? AND name = ?
ORDER BY last_at DESC, session_id LIMIT ?`
)

var _ amber.Activities = (*Contracts)(nil)

// ListActivity implements [amber.Activities].
func (s *Contracts) ListActivity(ctx context.Context, id amber.SessionID, kind amber.ActivityKind) (done []amber.Activity, err error) {
	query, args := listActivity, []any{id}
	if kind != "" {
		if err := amber.CheckActivityKind(kind); err != nil {
			return nil, err
		}
		query, args = listActivityOfKind, []any{id, kind}
	}
	return view(ctx, s.memory, "list activity", string(id), func(t *Tx) ([]amber.Activity, error) {
		t.briefly()
		return sqlrows.ReadRows(t.Tx, "activity", sqlrows.ScanActivity, query, args...)
	})
}

// ActivityNamed implements [amber.Activities].
func (s *Contracts) ActivityNamed(ctx context.Context, kind amber.ActivityKind, name string) ([]amber.Activity, error) {
	if err := amber.CheckActivityKind(kind); err != nil {
		return nil, err
	}
	return view(ctx, s.memory, "list activity", "", func(t *Tx) ([]amber.Activity, error) {
		return sqlrows.ReadRows(t.Tx, "activity", sqlrows.ScanActivity, activityNamed, kind, name, amber.MaxPageSize)
	})
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
	if gone, err := n.textErased(a); err != nil {
		return err
	} else if gone {
		a.Detail = ""
	}
	stored, err := sqlrows.ScanActivity(n.Row(selectActivity, a.SessionID, a.Kind, a.Name))
	switch {
	case sqlrows.Absent(err):
		return n.addActivity(a)
	case err != nil:
		return err
	}
	return n.Do(updateActivity, activityArgs(stored.Again(a))...)
}

// textErased reports whether the detail of an activity is a digest of a text that was erased
// before the journal was drained: of an erased memory, or of a turn that is gone.
func (n *intake) textErased(a amber.Activity) (gone bool, err error) {
	switch layer, owner := a.Shown(); layer {
	case amber.LayerMemory:
		err = n.Row(sqlrows.IsErased, owner).Scan(&gone)
	case amber.LayerExchange:
		err = n.Row(turnIsGone, owner).Scan(&gone)
	}
	return gone, err
}

// addActivity stores something that was not done before. Where that makes too
// many of its kind, those done longest ago go.
func (n *intake) addActivity(a amber.Activity) error {
	count, counted := n.kinds[a.Kind]
	if !counted {
		if err := n.Row(countActivity, a.SessionID, a.Kind).Scan(&count); err != nil {
			return err
		}
	}
	if err := n.Do(insertActivity, activityArgs(a)...); err != nil {
		return err
	}
	for count++; count > amber.MaxActivity; count-- {
		if err := n.Do(dropActivity, a.SessionID, a.Kind); err != nil {
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
