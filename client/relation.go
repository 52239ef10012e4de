package client

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/op"
)

// beside is what hangs on the memories of an agent.
type beside struct{ *Agent }

// Relate implements [amber.Relations].
func (b beside) Relate(ctx context.Context, r amber.Relation) (amber.Relation, error) {
	r, err := r.Normalize()
	if err != nil {
		return amber.Relation{}, err
	}
	return op.RelationRelate.Call(ctx, b, op.Payload[amber.Relation]{Body: r})
}

// Relation implements [amber.Relations].
func (b beside) Relation(ctx context.Context, id string) (amber.Relation, error) {
	return op.RelationGet.Call(ctx, b, op.RelationID{ID: id})
}

// Unrelate implements [amber.Relations].
func (b beside) Unrelate(ctx context.Context, id string) error {
	return done(op.RelationUnrelate.Call(ctx, b, op.RelationID{ID: id}))
}

// Related implements [amber.Relations].
func (b beside) Related(ctx context.Context, id amber.MemoryID) ([]amber.Relation, error) {
	return list(op.RelationList.Call(ctx, b, memoryID(id)))
}

// Neighbours implements [amber.Relations].
func (b beside) Neighbours(ctx context.Context, q amber.NeighbourQuery) (amber.Neighbourhood, error) {
	if _, err := q.Normalize(); err != nil {
		return amber.Neighbourhood{}, err
	}
	n, err := op.RelationNeighbours.Call(ctx, b, op.NeighboursIn{
		MemoryID: memoryID(q.ID), Depth: some(q.Depth), Types: q.Types, Limit: some(min(q.Limit, amber.MaxNeighbours)), All: q.All,
		Session: q.SessionID, User: q.UserID, Project: q.ProjectID, Workspace: q.WorkspaceID,
	})
	switch {
	case err != nil:
		return amber.Neighbourhood{}, err
	case len(n.Memories) == 0:
		return amber.Neighbourhood{}, incomplete("memories")
	case n.Memories[0].ID != q.ID:
		return amber.Neighbourhood{}, another(string(q.ID))
	}
	return n, nil
}

// SetConcepts implements [amber.Concepts].
func (b beside) SetConcepts(ctx context.Context, id amber.MemoryID, concepts []string) error {
	concepts, err := amber.NormalizeConcepts(concepts)
	if err != nil {
		return err
	}
	in := op.ConceptsIn{MemoryID: memoryID(id)}
	in.Body.Items = concepts
	return done(op.ConceptSet.Call(ctx, b, in))
}

// Concepts implements [amber.Concepts].
func (b beside) Concepts(ctx context.Context, id amber.MemoryID) ([]string, error) {
	return list(op.ConceptList.Call(ctx, b, memoryID(id)))
}

// CountConcepts implements [amber.Concepts].
func (b beside) CountConcepts(ctx context.Context) ([]amber.ConceptCount, error) {
	return list(op.ConceptCount.Call(ctx, b, op.None{}))
}
