package sqlcore

import "github.com/amber-memory/amber"

// NewestStatement is how the newest memories are found that a filter lets through; nil is
// no filter.
func NewestStatement(f *amber.Filter) (string, error) {
	if f == nil {
		return selectNewest + "true" + orderNewest, nil
	}
	var c conditions
	err := c.filter(*f, false)
	return selectNewest + c.String() + orderNewest, err
}

// SessionsStatement is how a list of sessions is found.
func SessionsStatement(q amber.SessionQuery) string {
	query, _ := listSessions(q, 0, "")
	return query
}

// TasksStatement is how a list of tasks is found.
func TasksStatement(q amber.TaskQuery) string {
	query, _ := listTasks(q, 0, "")
	return query
}
