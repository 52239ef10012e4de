package client

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/op"
)

// changeLog is one of the change logs of an agent.
type changeLog struct {
	*Agent
	list op.Listing[op.ChangesIn, amber.Change]
	head op.Op[op.None, op.LogPosition]
}

// Changes implements [amber.ChangeLog]. More than a page is read page by page.
func (l changeLog) Changes(ctx context.Context, after amber.Position, limit int) ([]amber.Change, error) {
	in := op.ChangesIn{After: after}
	return l.read(ctx, &in, &in.After, limit)
}

// ChangesBefore implements [amber.ChangeLog]. More than a page is read page by page.
func (l changeLog) ChangesBefore(ctx context.Context, q amber.ChangeQuery) ([]amber.Change, error) {
	in := op.ChangesIn{Before: q.Before, Order: "newest"}
	for _, s := range q.Scopes {
		in.Scopes = append(in.Scopes, string(s))
	}
	return l.read(ctx, &in, &in.Before, q.Limit)
}

// read reads page by page; at is the field of in that says where a page begins.
func (l changeLog) read(ctx context.Context, in *op.ChangesIn, at *amber.Position, limit int) ([]amber.Change, error) {
	all := []amber.Change{}
	for {
		most := min(limit-len(all), amber.MaxPageSize)
		in.Limit = &most
		p, err := l.list.Call(ctx, l, *in)
		if err != nil {
			return nil, err
		}
		all = append(all, p.Items...)
		if p.Next == "" || len(all) >= limit {
			return all, nil
		}
		if len(p.Items) == 0 || amber.Position(p.Next) == *at {
			return nil, amber.Errorf(amber.KindDamaged, "read answer", "", "the answer promises more changes, but its cursor does not move")
		}
		*at = amber.Position(p.Next)
	}
}

// Head implements [amber.ChangeLog]. The position of an empty log is empty, so an answer without a position differs from it.
func (l changeLog) Head(ctx context.Context) (amber.Position, error) {
	var out struct {
		Position *amber.Position `json:"position"`
	}
	if err := l.Do(ctx, l.head.Row, op.None{}, &out); err != nil {
		return "", err
	}
	if out.Position == nil {
		return "", incomplete("position")
	}
	return *out.Position, nil
}
