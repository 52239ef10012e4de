package client

import (
	"context"

	"github.com/amber-memory/amber"
)

// changeLog is one of the change logs of an agent.
type changeLog struct {
	*Agent
	name string // in paths
}

// Changes implements [amber.ChangeLog]. More than a page is read page by page.
func (l changeLog) Changes(ctx context.Context, after amber.Position, limit int) ([]amber.Change, error) {
	all := []amber.Change{}
	for {
		most := min(limit-len(all), amber.MaxPageSize)
		p, err := page[amber.Change](ctx, l.Agent, newValues().text("after", string(after)).count("limit", most).Values, l.name)
		if err != nil {
			return nil, err
		}
		all = append(all, p.Items...)
		if p.Next == "" || len(all) >= limit {
			return all, nil
		}
		if len(p.Items) == 0 || amber.Position(p.Next) == after {
			return nil, amber.Errorf(amber.KindDamaged, "read answer", "", "the answer promises more changes, but its cursor does not move")
		}
		after = amber.Position(p.Next)
	}
}

// ChangesBefore implements [amber.ChangeLog]. More than a page is read page by page.
func (l changeLog) ChangesBefore(ctx context.Context, q amber.ChangeQuery) ([]amber.Change, error) {
	all := []amber.Change{}
	v := newValues().text("order", "newest")
	for _, s := range q.Scopes {
		v.Add("scope", string(s))
	}
	for {
		v.text("before", string(q.Before)).count("limit", min(q.Limit-len(all), amber.MaxPageSize))
		p, err := page[amber.Change](ctx, l.Agent, v.Values, l.name)
		if err != nil {
			return nil, err
		}
		all = append(all, p.Items...)
		if p.Next == "" || len(all) >= q.Limit {
			return all, nil
		}
		if len(p.Items) == 0 || amber.Position(p.Next) == q.Before {
			return nil, amber.Errorf(amber.KindDamaged, "read answer", "", "the answer promises more changes, but its cursor does not move")
		}
		q.Before = amber.Position(p.Next)
	}
}

// Head implements [amber.ChangeLog].
func (l changeLog) Head(ctx context.Context) (amber.Position, error) {
	out, err := get[struct {
		Position *amber.Position `json:"position"`
	}](ctx, l.Agent, nil, l.name, "head")
	switch {
	case err != nil:
		return "", err
	case out.Position == nil:
		return "", incomplete("position")
	}
	return *out.Position, nil
}
