package httpapi

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/server"
	"github.com/amber-memory/amber/wire"
)

// linkRoutes serve relations between memories.
func linkRoutes(a *API) {
	handle(a, operation{
		id: "relation.relate", method: "POST", path: agentPath + "/relations", scope: wire.TokenWrite, mutates: true, repeatable: true,
		summary: "Link two memories; a relation of the same ends and type is replaced",
	}, func(ctx context.Context, ag *server.Agent, in payload[amber.Relation]) (answer[amber.Relation], error) {
		r, err := ag.Store.Relations.Relate(ctx, in.Body)
		return answer[amber.Relation]{body: r, subject: r.ID}, err
	})

	type unrelate struct {
		ID string `path:"id" doc:"the id of the relation"`
	}
	handle(a, operation{
		id: "relation.unrelate", method: "DELETE", path: agentPath + "/relations/{id}", scope: wire.TokenWrite, mutates: true, repeatable: true,
		summary: "Delete a relation; a tombstone stays",
	}, func(ctx context.Context, ag *server.Agent, in unrelate) (answer[nothing], error) {
		return done(ag.Store.Relations.Unrelate(ctx, in.ID))
	})

	handle(a, operation{
		id: "relation.list", method: "GET", path: agentPath + "/memories/{id}/relations", scope: wire.TokenRead,
		summary: "List the relations from and to a memory",
	}, func(ctx context.Context, ag *server.Agent, in memoryID) (answer[amber.Page[amber.Relation]], error) {
		return beside(ctx, in, ag.Store.Relations.Related)
	})
}

// conceptRoutes serve the concept tags of memories.
func conceptRoutes(a *API) {
	handle(a, operation{
		id: "concept.count", method: "GET", path: agentPath + "/concepts", scope: wire.TokenRead,
		summary: "List the concepts of all memories, most frequent first",
	}, func(ctx context.Context, ag *server.Agent, _ nothing) (answer[amber.Page[amber.ConceptCount]], error) {
		return items(ag.Store.Concepts.CountConcepts(ctx))
	})

	handle(a, operation{
		id: "concept.list", method: "GET", path: agentPath + "/memories/{id}/concepts", scope: wire.TokenRead,
		summary: "List the concept tags of a memory",
	}, func(ctx context.Context, ag *server.Agent, in memoryID) (answer[amber.Page[string]], error) {
		return beside(ctx, in, ag.Store.Concepts.Concepts)
	})

	type put struct {
		memoryID
		Body struct {
			Items []string `json:"items"`
		} `body:"json"`
	}
	handle(a, operation{
		id: "concept.set", method: "PUT", path: agentPath + "/memories/{id}/concepts", scope: wire.TokenWrite, mutates: true, repeatable: true,
		summary: "Replace the concept tags of a memory",
	}, func(ctx context.Context, ag *server.Agent, in put) (answer[nothing], error) {
		id, err := in.parse()
		if err == nil {
			err = ag.Store.Concepts.SetConcepts(ctx, id, in.Body.Items)
		}
		return done(err)
	})
}

// beside answers with everything of one sort that hangs on a memory.
func beside[T any](ctx context.Context, in memoryID, read func(context.Context, amber.MemoryID) ([]T, error)) (answer[amber.Page[T]], error) {
	id, err := in.parse()
	if err != nil {
		return answer[amber.Page[T]]{}, err
	}
	return items(read(ctx, id))
}

// agree puts the id of the path into a body, which may repeat it. The error is
// of kind invalid.
func agree[T ~string](what, path string, body *T) error {
	if *body != "" && string(*body) != path {
		return invalid("the body names another %s than the path", what)
	}
	*body = T(path)
	return nil
}
