package mcpapi

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/guard/audited"
	"github.com/amber-memory/amber/internal/guard/shown"
	"github.com/amber-memory/amber/op"
)

// referenceTools have the names and shapes of the memory server among the protocol's reference servers.
func referenceTools() []*tool {
	e := object(must(str("name")), must(str("entityType")), must(list("observations", nil)))
	r := object(must(str("from")), must(str("to")), must(str("relationType", "active voice")))
	graph := object(list("entities", e), list("relations", r), flag("truncated"))
	told := object(flag("success"), str("message"))
	onEntity := func(items string) *jsonschema.Schema { return object(must(str("entityName")), must(list(items, nil))) }
	return []*tool{
		define("create_entities", "Create entities", "Create entities of the knowledge graph; those that exist are left as they are.",
			writing, hints{again: true}, object(must(list("entities", e))), object(list("entities", e)), createEntities),
		define("create_relations", "Create relations", "Relate entities to each other.",
			writing, hints{again: true}, object(must(list("relations", r))), object(list("relations", r)), createRelations),
		define("add_observations", "Add observations", "Add observations to entities that exist.",
			writing, hints{again: true}, object(must(list("observations", onEntity("contents")))),
			object(list("results", object(str("entityName"), list("addedObservations", nil)))), addObservations),
		define("delete_entities", "Delete entities", "Delete entities and their relations.",
			writing, hints{destroys: true, again: true}, object(must(list("entityNames", nil))), told, deleteEntities),
		define("delete_observations", "Delete observations", "Delete observations from entities.",
			writing, hints{destroys: true, again: true}, object(must(list("deletions", onEntity("observations")))), told, deleteObservations),
		define("delete_relations", "Delete relations", "Delete relations between entities.",
			writing, hints{destroys: true, again: true}, object(must(list("relations", r))), told, deleteRelations),
		define("read_graph", "Read the graph", "Read the knowledge graph, the newest entities first.",
			reading, hints{}, object(), graph, readGraph),
		define("search_nodes", "Search the graph", "Search entities by name, type and observations.",
			reading, hints{}, object(must(str("query"))), graph, searchNodes),
		define("open_nodes", "Read entities", "Read entities by name.",
			reading, hints{}, object(must(list("names", nil))), graph, openNodes),
	}
}

// maxNodes bounds how many entities or relations one call is about.
const maxNodes = amber.MaxBatchSize

func checkCount(what string, n int) error {
	if n > maxNodes {
		return badArgs(fmt.Sprintf("there are %d %s, the limit is %d", n, what, maxNodes))
	}
	return nil
}

// relation is a relation on the wire.
type relation struct {
	From         string `json:"from"`
	To           string `json:"to"`
	RelationType string `json:"relationType"`
}

// graph works on the entities of an agent that a caller sees.
type graph struct {
	b   *bound
	a   *op.Call
	ids amber.Identities
}

func newGraph(b *bound, a *op.Call) graph { return graph{b, a, b.Identities("", "")} }

// find returns the memory of an entity. Errors: not_found.
func (g graph) find(ctx context.Context, name string) (amber.Memory, error) {
	p, err := g.a.Store.Memories.List(ctx, amber.ListQuery{
		Filter: amber.Filter{Identities: g.ids, Tags: []string{entityTag + ":" + entityHash(name)}}, Limit: 8,
	})
	if err != nil {
		return amber.Memory{}, err
	}
	for _, m := range p.Items {
		if e, ok := entityOf(m); ok && e.Name == name {
			return m, nil
		}
	}
	return amber.Memory{}, amber.Errorf(amber.KindNotFound, "find entity", "", "there is no entity named %q", shown.Clip(name, 100))
}

// changeGraph is newGraph for a call that changes n things: until unlock is
// called no other one changes the same agent. Errors: invalid for too many;
// unreachable when ctx ends before.
func changeGraph(ctx context.Context, b *bound, a *op.Call, what string, n int) (g graph, unlock func(), err error) {
	if err := checkCount(what, n); err != nil {
		return graph{}, nil, err
	}
	unlock, err = b.shared.Desk.Alone(ctx, b.Tenant, b.Agent)
	return newGraph(b, a), unlock, err
}

type createEntitiesArgs struct{ Entities []entity }

func createEntities(ctx context.Context, b *bound, a *op.Call, in createEntitiesArgs) (answer, error) {
	g, unlock, err := changeGraph(ctx, b, a, "entities", len(in.Entities))
	if err != nil {
		return answer{}, err
	}
	defer unlock()
	scope := amber.ScopeGlobal
	if g.ids.ProjectID != "" {
		scope = amber.ScopeProject
	}
	out := struct {
		Entities []entity `json:"entities"`
	}{[]entity{}}
	var rs []amber.WriteRequest
	for _, e := range in.Entities {
		e = e.redacted(a)
		r, err := e.request(scope, g.ids)
		if err != nil {
			return answer{}, err
		}
		_, err = g.find(ctx, e.Name)
		switch {
		case err == nil, slices.ContainsFunc(out.Entities, func(o entity) bool { return o.Name == e.Name }):
			continue
		case amber.KindOf(err) != amber.KindNotFound:
			return answer{}, err
		}
		rs, out.Entities = append(rs, r), append(out.Entities, e)
	}
	var done []string
	if len(rs) > 0 {
		acks, err := a.Store.Batch.WriteBatch(ctx, rs)
		if err != nil {
			return answer{}, err
		}
		for _, ack := range acks {
			done = append(done, string(ack.ID))
		}
	}
	return answer{text: fmt.Sprintf("Created %d of %d entities.", len(rs), len(in.Entities)), data: out, done: done}, nil
}

func orEmpty(s []string) []string { return append([]string{}, s...) }

type relationArgs struct{ Relations []relation }

// resolve returns the relations as they are stored. The error is of kind
// not_found for an entity that is not there.
func (g graph) resolve(ctx context.Context, rs []relation) ([]amber.Relation, error) {
	out := make([]amber.Relation, len(rs))
	for i, r := range rs {
		redactAll(g.a, &r.From, &r.To)
		from, err := g.find(ctx, r.From)
		if err != nil {
			return nil, err
		}
		to, err := g.find(ctx, r.To)
		if err != nil {
			return nil, err
		}
		if out[i], err = (amber.Relation{From: from.ID, To: to.ID, Type: r.RelationType, Strength: 1}).Normalize(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// same returns the stored relation that is equal to r.
func (g graph) same(ctx context.Context, r amber.Relation) (amber.Relation, bool, error) {
	all, err := g.a.Store.Relations.Related(ctx, r.From)
	for _, have := range all {
		if have.From == r.From && have.To == r.To && have.Type == r.Type {
			return have, true, nil
		}
	}
	return amber.Relation{}, false, err
}

func createRelations(ctx context.Context, b *bound, a *op.Call, in relationArgs) (answer, error) {
	g, unlock, err := changeGraph(ctx, b, a, "relations", len(in.Relations))
	if err != nil {
		return answer{}, err
	}
	defer unlock()
	rs, err := g.resolve(ctx, in.Relations)
	if err != nil {
		return answer{}, err
	}
	ctx, cancel := b.Begun(ctx)
	defer cancel()
	out := struct {
		Relations []relation `json:"relations"`
	}{[]relation{}}
	var done []string
	for i, r := range rs {
		_, there, err := g.same(ctx, r)
		if err == nil && !there {
			r, err = a.Store.Relations.Relate(ctx, r)
		}
		if err != nil {
			return answer{done: done}, err
		}
		if !there {
			done, out.Relations = append(done, r.ID), append(out.Relations, in.Relations[i].redacted(a))
		}
	}
	return answer{text: fmt.Sprintf("Created %d of %d relations.", len(out.Relations), len(rs)), data: out, done: done}, nil
}

func deleteRelations(ctx context.Context, b *bound, a *op.Call, in relationArgs) (answer, error) {
	g, unlock, err := changeGraph(ctx, b, a, "relations", len(in.Relations))
	if err != nil {
		return answer{}, err
	}
	defer unlock()
	ids, err := g.stored(ctx, in.Relations)
	if err != nil {
		return answer{}, err
	}
	ctx, cancel := b.Begun(ctx)
	defer cancel()
	for i, id := range ids {
		if err := a.Store.Relations.Unrelate(audited.About(ctx, id), id); err != nil {
			return answer{done: ids[:i]}, err
		}
	}
	out := told("Relations", len(ids), len(in.Relations), nil)
	out.done = ids
	return out, nil
}

// stored returns the ids of those relations that are there, each once.
func (g graph) stored(ctx context.Context, wires []relation) (ids []string, err error) {
	for _, wire := range wires {
		rs, err := g.resolve(ctx, []relation{wire})
		if k := amber.KindOf(err); k == amber.KindNotFound || k == amber.KindInvalid {
			continue // it cannot be there
		} else if err != nil {
			return nil, err
		}
		have, there, err := g.same(ctx, rs[0])
		if err != nil {
			return nil, err
		}
		if there && !slices.Contains(ids, have.ID) {
			ids = append(ids, have.ID)
		}
	}
	return ids, nil
}

// told is the answer to a deletion.
func told(what string, deleted, asked int, missing []string) answer {
	message := what + " deleted successfully"
	if deleted != asked {
		message = fmt.Sprintf("Deleted %d of %d %s.", deleted, asked, strings.ToLower(what))
	}
	if len(missing) > 0 {
		message += " Not found: " + shown.Clip(strings.Join(missing, ", "), maxErrorBytes)
	}
	return answer{text: message, data: fields{"success": true, "message": message}}
}

type deleteEntitiesArgs struct{ EntityNames []string }

func deleteEntities(ctx context.Context, b *bound, a *op.Call, in deleteEntitiesArgs) (answer, error) {
	g, unlock, err := changeGraph(ctx, b, a, "names", len(in.EntityNames))
	if err != nil {
		return answer{}, err
	}
	defer unlock()
	ids, missing, err := g.named(ctx, in.EntityNames)
	if err != nil {
		return answer{}, err
	}
	ctx, cancel := b.Begun(ctx)
	defer cancel()
	var done []string
	for _, id := range ids {
		if err := g.remove(ctx, id); err != nil {
			return answer{done: done, subject: string(id)}, err
		}
		done = append(done, string(id))
	}
	out := told("Entities", len(ids), len(in.EntityNames), missing)
	out.done = done
	return out, nil
}

// named returns the entities that have the names, each once, and the names that are left.
func (g graph) named(ctx context.Context, names []string) (ids []amber.MemoryID, missing []string, err error) {
	for _, name := range names {
		redactAll(g.a, &name)
		m, err := g.find(ctx, name)
		switch {
		case amber.KindOf(err) == amber.KindNotFound, err == nil && slices.Contains(ids, m.ID):
			missing = append(missing, name)
		case err != nil:
			return nil, nil, err
		default:
			ids = append(ids, m.ID)
		}
	}
	return ids, missing, nil
}

// remove deletes an entity, its relations first.
func (g graph) remove(ctx context.Context, id amber.MemoryID) error {
	ctx = audited.About(ctx, string(id))
	rs, err := g.a.Store.Relations.Related(ctx, id)
	if err != nil {
		return err
	}
	for _, r := range rs {
		if err := g.a.Store.Relations.Unrelate(ctx, r.ID); err != nil {
			return err
		}
	}
	return g.a.Store.LongTerm.Delete(ctx, id)
}
