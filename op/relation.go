package op

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

// RelationRelate links two memories.
var RelationRelate = do(Row{
	ID: "relation.relate", HTTP: "POST /relations", Scope: wire.TokenWrite, Kind: Changes | Repeats | Bound,
	Doc: "Link two memories; a relation of the same ends and type is replaced",
}, func(ctx context.Context, c *Call, in Payload[amber.Relation]) (amber.Relation, error) {
	r, err := c.Store.Relations.Relate(ctx, in.Body)
	c.Subject = r.ID
	return r, err
})

// RelationID names a relation.
type RelationID struct {
	ID string `path:"id" doc:"the id of the relation"`
}

// RelationGet reads a relation.
var RelationGet = do(Row{
	ID: "relation.get", HTTP: "GET /relations/{id}", Scope: wire.TokenRead, Kind: Bound, Doc: "Read one relation",
}, func(ctx context.Context, c *Call, in RelationID) (amber.Relation, error) {
	return c.Store.Relations.Relation(ctx, in.ID)
})

// RelationUnrelate deletes a relation.
var RelationUnrelate = do(Row{
	ID: "relation.unrelate", HTTP: "DELETE /relations/{id}", Scope: wire.TokenWrite, Kind: Changes | Repeats | Bound | Keyed,
	Doc: "Delete a relation; a tombstone stays",
}, func(ctx context.Context, c *Call, in RelationID) (None, error) {
	return None{}, c.Store.Relations.Unrelate(ctx, in.ID)
})

// RelationList lists the relations of a memory.
var RelationList = do(Row{
	ID: "relation.list", HTTP: "GET /memories/{id}/relations", Scope: wire.TokenRead, Kind: Bound, Doc: "List the relations from and to a memory",
}, func(ctx context.Context, c *Call, in MemoryID) (amber.Page[amber.Relation], error) {
	return beside(ctx, in, c.Store.Relations.Related)
})

// NeighboursIn asks what is near a memory.
type NeighboursIn struct {
	MemoryID
	Depth     *int            `query:"depth" doc:"steps: 1 or 2; default 2"`
	Types     []string        `query:"type" doc:"only by relations of this type (repeat)"`
	Limit     *int            `query:"limit" doc:"the most memories, with the one that is asked for; default and at most 200"`
	Session   amber.SessionID `query:"session_id" doc:"see memories of this session"`
	User      string          `query:"user_id" doc:"see memories of this user"`
	Project   string          `query:"project_id" doc:"see memories of this project"`
	Workspace string          `query:"workspace_id" doc:"see memories of this workspace"`
	All       bool            `query:"all" doc:"every scope and identity; default global ones, those of the identities that are named, and those of the scope and identity of the memory"`
}

func (n NeighboursIn) query() (amber.NeighbourQuery, error) {
	id, err := n.parse()
	if err != nil {
		return amber.NeighbourQuery{}, err
	}
	if n.Depth != nil && *n.Depth == 0 {
		return amber.NeighbourQuery{}, Invalid("depth is 0, want 1 or 2")
	}
	if n.Limit != nil && *n.Limit == 0 {
		return amber.NeighbourQuery{}, Invalid("limit is 0, want 1 or more; leave limit out for the default")
	}
	return amber.NeighbourQuery{
		ID: id, Depth: orElse(n.Depth, 0), Types: n.Types, Limit: orElse(n.Limit, 0), All: n.All,
		Identities: amber.Identities{SessionID: n.Session, UserID: n.User, ProjectID: n.Project, WorkspaceID: n.Workspace},
	}, nil
}

// RelationNeighbours reads what is near a memory.
var RelationNeighbours = do(Row{
	ID: "relation.neighbours", HTTP: "GET /memories/{id}/neighbours", Scope: wire.TokenRead, Kind: Bound, Holds: HoldsPage,
	Sure: []string{"memories", "relations"}, Doc: "Read what is near a memory by relations, up to 2 steps and 200 memories; more tells that there are others",
}, func(ctx context.Context, c *Call, in NeighboursIn) (amber.Neighbourhood, error) {
	q, err := in.query()
	if err != nil {
		return amber.Neighbourhood{}, err
	}
	return c.Store.Relations.Neighbours(ctx, q)
})

// ConceptCount counts the concepts of all memories.
var ConceptCount = do(Row{
	ID: "concept.count", HTTP: "GET /concepts", Scope: wire.TokenRead, Doc: "List the concepts of all memories, most frequent first",
}, func(ctx context.Context, c *Call, _ None) (amber.Page[amber.ConceptCount], error) {
	return items(c.Store.Concepts.CountConcepts(ctx))
})

// ConceptList lists the concepts of a memory.
var ConceptList = do(Row{
	ID: "concept.list", HTTP: "GET /memories/{id}/concepts", Scope: wire.TokenRead, Kind: Bound, Doc: "List the concept tags of a memory",
}, func(ctx context.Context, c *Call, in MemoryID) (amber.Page[string], error) {
	return beside(ctx, in, c.Store.Concepts.Concepts)
})

// ConceptsIn asks to replace the concepts of a memory.
type ConceptsIn struct {
	MemoryID
	Body struct {
		Items []string `json:"items"`
	} `body:"json"`
}

// ConceptSet replaces the concepts of a memory.
var ConceptSet = do(Row{
	ID: "concept.set", HTTP: "PUT /memories/{id}/concepts", Scope: wire.TokenWrite, Kind: Changes | Repeats | Bound | Keyed,
	Doc: "Replace the concept tags of a memory",
}, func(ctx context.Context, c *Call, in ConceptsIn) (None, error) {
	id, err := in.parse()
	if err == nil {
		err = c.Store.Concepts.SetConcepts(ctx, id, in.Body.Items)
	}
	return None{}, err
})

// beside answers with everything of one sort that hangs on a memory.
func beside[T any](ctx context.Context, in MemoryID, read func(context.Context, amber.MemoryID) ([]T, error)) (amber.Page[T], error) {
	id, err := in.parse()
	if err != nil {
		return amber.Page[T]{}, err
	}
	return items(read(ctx, id))
}
