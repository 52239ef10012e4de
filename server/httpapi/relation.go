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
		id: "relation.relate", bound: true, method: "POST", path: agentPath + "/relations", scope: wire.TokenWrite, mutates: true, repeatable: true,
		summary: "Link two memories; a relation of the same ends and type is replaced",
	}, func(ctx context.Context, ag *server.Agent, in payload[amber.Relation]) (answer[amber.Relation], error) {
		r, err := ag.Store.Relations.Relate(ctx, in.Body)
		return answer[amber.Relation]{body: r, subject: r.ID}, err
	})

	type relationID struct {
		ID string `path:"id" doc:"the id of the relation"`
	}
	handle(a, operation{
		id: "relation.get", bound: true, method: "GET", path: agentPath + "/relations/{id}", scope: wire.TokenRead, summary: "Read one relation",
	}, func(ctx context.Context, ag *server.Agent, in relationID) (answer[amber.Relation], error) {
		return got(ag.Store.Relations.Relation(ctx, in.ID))
	})
	handle(a, operation{
		id: "relation.unrelate", bound: true, method: "DELETE", path: agentPath + "/relations/{id}", scope: wire.TokenWrite, mutates: true, repeatable: true,
		summary: "Delete a relation; a tombstone stays",
	}, func(ctx context.Context, ag *server.Agent, in relationID) (answer[nothing], error) {
		return done(ag.Store.Relations.Unrelate(ctx, in.ID))
	})

	handle(a, operation{
		id: "relation.list", bound: true, method: "GET", path: agentPath + "/memories/{id}/relations", scope: wire.TokenRead,
		summary: "List the relations from and to a memory",
	}, func(ctx context.Context, ag *server.Agent, in memoryID) (answer[amber.Page[amber.Relation]], error) {
		return beside(ctx, in, ag.Store.Relations.Related)
	})

	handle(a, operation{
		id: "relation.neighbours", bound: true, method: "GET", path: agentPath + "/memories/{id}/neighbours", scope: wire.TokenRead,
		summary: "Read what is near a memory by relations, up to 2 steps and 200 memories; more tells that there are others",
	}, func(ctx context.Context, ag *server.Agent, in neighbours) (answer[amber.Neighbourhood], error) {
		q, err := in.query()
		if err != nil {
			return answer[amber.Neighbourhood]{}, err
		}
		return got(ag.Store.Relations.Neighbours(ctx, q))
	})
}

// neighbours asks what is near a memory.
type neighbours struct {
	memoryID
	Depth     *int            `query:"depth" doc:"steps: 1 or 2; default 2"`
	Types     []string        `query:"type" doc:"only by relations of this type (repeat)"`
	Limit     *int            `query:"limit" doc:"the most memories, with the one that is asked for; default and at most 200"`
	Session   amber.SessionID `query:"session_id" doc:"see memories of this session"`
	User      string          `query:"user_id" doc:"see memories of this user"`
	Project   string          `query:"project_id" doc:"see memories of this project"`
	Workspace string          `query:"workspace_id" doc:"see memories of this workspace"`
	All       bool            `query:"all" doc:"every scope and identity; default global ones, those of the identities that are named, and those of the scope and identity of the memory"`
}

func (n neighbours) query() (amber.NeighbourQuery, error) {
	id, err := n.parse()
	if err != nil {
		return amber.NeighbourQuery{}, err
	}
	if n.Depth != nil && *n.Depth == 0 {
		return amber.NeighbourQuery{}, invalid("depth is 0, want 1 or 2")
	}
	if n.Limit != nil && *n.Limit == 0 {
		return amber.NeighbourQuery{}, invalid("limit is 0, want 1 or more; leave limit out for the default")
	}
	return amber.NeighbourQuery{
		ID: id, Depth: orElse(n.Depth, 0), Types: n.Types, Limit: orElse(n.Limit, 0), All: n.All,
		Identities: amber.Identities{SessionID: n.Session, UserID: n.User, ProjectID: n.Project, WorkspaceID: n.Workspace},
	}, nil
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
		id: "concept.list", bound: true, method: "GET", path: agentPath + "/memories/{id}/concepts", scope: wire.TokenRead,
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
		id: "concept.set", bound: true, method: "PUT", path: agentPath + "/memories/{id}/concepts", scope: wire.TokenWrite, mutates: true, repeatable: true,
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
