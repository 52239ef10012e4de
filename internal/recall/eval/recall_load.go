package eval

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/amber-memory/amber"
)

// begin is the earliest time of a case.
func (c *Case) begin() amber.Time {
	begin := c.Now
	for _, m := range c.Memories {
		if m.CreatedAt.Before(begin) {
			begin = m.CreatedAt
		}
	}
	if len(c.Sessions) > 0 && c.Sessions[0].At.Before(begin) {
		begin = c.Sessions[0].At
	}
	return begin
}

// fill loads a case, oldest first, and returns the owner of each memory by its key.
func (r *run) fill(ctx context.Context, agent Agent, c *Case) (map[string]string, error) {
	owners := make(map[string]string, len(c.Memories))
	memories := slices.Clone(c.Memories)
	slices.SortStableFunc(memories, func(a, b Memory) int { return cmp.Compare(a.CreatedAt.UnixMilli(), b.CreatedAt.UnixMilli()) })
	begin := r.o.Clock()
	for _, m := range memories {
		owner, err := agent.Remember(ctx, m)
		if err != nil {
			return nil, fmt.Errorf("load memory %s: %w", m.Key, err)
		}
		owners[m.Key] = owner
		r.progress()
	}
	for _, s := range c.Sessions {
		if err := agent.Hear(ctx, s); err != nil {
			return nil, fmt.Errorf("load session %s: %w", s.ID, err)
		}
		r.report.Turns += len(s.Turns)
		r.progress()
	}
	loaded := r.o.Clock()
	err := agent.Index(ctx)
	r.report.Memories += len(memories)
	r.load += loaded.Sub(begin)
	r.index += r.o.Clock().Sub(loaded)
	return owners, err
}

func (r *run) progress() {
	if r.done++; r.o.Progress != nil {
		r.o.Progress(r.done)
	}
}

// owned returns the question with owners of memories instead of their keys.
func (q Question) owned(owners map[string]string) Question {
	keys := make([]string, len(q.Keys))
	for i, k := range q.Keys {
		keys[i] = k
		if owner, ok := owners[k]; ok {
			keys[i] = owner
		}
	}
	q.Keys = keys
	return q
}
