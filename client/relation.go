package client

import (
	"context"
	"net/http"

	"github.com/amber-memory/amber"
)

// beside is what hangs on the memories of an agent.
type beside struct{ *Agent }

// Relate implements [amber.Relations].
func (b beside) Relate(ctx context.Context, r amber.Relation) (amber.Relation, error) {
	r, err := r.Normalize()
	if err != nil {
		return amber.Relation{}, err
	}
	return ask[amber.Relation](ctx, b.Agent, r, "relations")
}

// Relation implements [amber.Relations].
func (b beside) Relation(ctx context.Context, id string) (amber.Relation, error) {
	return get[amber.Relation](ctx, b.Agent, nil, "relations", id)
}

// Unrelate implements [amber.Relations].
func (b beside) Unrelate(ctx context.Context, id string) error {
	return b.remove(ctx, nil, "relations", id)
}

// Related implements [amber.Relations].
func (b beside) Related(ctx context.Context, id amber.MemoryID) ([]amber.Relation, error) {
	return list[amber.Relation](ctx, b.Agent, nil, "memories", string(id), "relations")
}

// Neighbours implements [amber.Relations].
func (b beside) Neighbours(ctx context.Context, q amber.NeighbourQuery) (amber.Neighbourhood, error) {
	if _, err := q.Normalize(); err != nil {
		return amber.Neighbourhood{}, err
	}
	v := newValues().number("depth", q.Depth).number("limit", min(q.Limit, amber.MaxNeighbours)).flag("all", q.All).
		text("session_id", string(q.SessionID)).text("user_id", q.UserID).text("project_id", q.ProjectID).text("workspace_id", q.WorkspaceID)
	v.Values["type"] = q.Types
	n, err := get[amber.Neighbourhood](ctx, b.Agent, v.Values, "memories", string(q.ID), "neighbours")
	switch {
	case err != nil:
		return amber.Neighbourhood{}, err
	case len(n.Memories) == 0 || n.Relations == nil:
		return amber.Neighbourhood{}, incomplete("memories")
	}
	return n, about(n.Memories[0].ID, q.ID, nil)
}

// SetConcepts implements [amber.Concepts].
func (b beside) SetConcepts(ctx context.Context, id amber.MemoryID, concepts []string) error {
	concepts, err := amber.NormalizeConcepts(concepts)
	if err != nil {
		return err
	}
	return b.put(ctx, amber.Page[string]{Items: concepts}, "memories", string(id), "concepts")
}

// Concepts implements [amber.Concepts].
func (b beside) Concepts(ctx context.Context, id amber.MemoryID) ([]string, error) {
	return list[string](ctx, b.Agent, nil, "memories", string(id), "concepts")
}

// CountConcepts implements [amber.Concepts].
func (b beside) CountConcepts(ctx context.Context) ([]amber.ConceptCount, error) {
	return list[amber.ConceptCount](ctx, b.Agent, nil, "concepts")
}

// put replaces something that has no answer.
func (b beside) put(ctx context.Context, body any, elements ...string) error {
	_, err := call[none](ctx, b.c, request{method: http.MethodPut, path: b.path(elements...), body: body, once: true})
	return err
}
