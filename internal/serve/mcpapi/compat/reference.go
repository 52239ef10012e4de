package compat

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/internal/guard/audited"
	"github.com/amber-memory/amber/op"
)

// Tools with the names and shapes of the memory server among the protocol's reference servers.

// maxNodes bounds how many entities or relations one call is about.
const maxNodes = amber.MaxBatchSize

func checkCount(what string, n int) error {
	if n > maxNodes {
		return op.BadArgs("there are %d %s, the limit is %d", n, what, maxNodes)
	}
	return nil
}

// relation is a relation on the wire.
type relation struct {
	From         string `json:"from" need:"yes"`
	To           string `json:"to" need:"yes"`
	RelationType string `json:"relationType" doc:"active voice" need:"yes"`
}

// graph works on the entities of an agent that a caller sees.
type graph struct {
	c   *op.Call
	ids amber.Identities
}

func newGraph(c *op.Call) graph { return graph{c, c.Host.Identities("", "")} }

// find returns the memory of an entity. Errors: not_found.
func (g graph) find(ctx context.Context, name string) (amber.Memory, error) {
	p, err := g.c.Store.Memories.List(ctx, amber.ListQuery{
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
	return amber.Memory{}, amber.Errorf(amber.KindNotFound, "find entity", "", "there is no entity named %q", clip.Marked(name, 100))
}

// changeGraph is newGraph for a call that changes n things: until unlock is
// called no other one changes the same agent. Errors: invalid for too many;
// unreachable when ctx ends before.
func changeGraph(ctx context.Context, c *op.Call, what string, n int) (g graph, unlock func(), err error) {
	if err := checkCount(what, n); err != nil {
		return graph{}, nil, err
	}
	unlock, err = alone(ctx, c)
	return newGraph(c), unlock, err
}

type createEntitiesArgs struct {
	Entities []entity `json:"entities" need:"yes"`
}

type entitiesCreated struct {
	Entities []entity `json:"entities" shows:"*"`
}

var createEntities = op.NewTool(op.Tool{
	Op: op.MemoryWriteBatch.Row, Name: "create_entities", Title: "Create entities", Hints: op.Again,
	Use: "Create entities of the knowledge graph; those that exist are left as they are.",
}, func(ctx context.Context, c *op.Call, in createEntitiesArgs) (entitiesCreated, string, error) {
	g, unlock, err := changeGraph(ctx, c, "entities", len(in.Entities))
	if err != nil {
		return entitiesCreated{}, "", err
	}
	defer unlock()
	scope := amber.ScopeGlobal
	if g.ids.ProjectID != "" {
		scope = amber.ScopeProject
	}
	out := entitiesCreated{[]entity{}}
	var rs []amber.WriteRequest
	for _, e := range in.Entities {
		e = e.redacted(c)
		r, err := e.request(scope, g.ids)
		if err != nil {
			return entitiesCreated{}, "", err
		}
		_, err = g.find(ctx, e.Name)
		switch {
		case err == nil, slices.ContainsFunc(out.Entities, func(o entity) bool { return o.Name == e.Name }):
			continue
		case amber.KindOf(err) != amber.KindNotFound:
			return entitiesCreated{}, "", err
		}
		rs, out.Entities = append(rs, r), append(out.Entities, e)
	}
	if len(rs) > 0 {
		acks, err := c.Store.Batch.WriteBatch(ctx, rs)
		if err != nil {
			return entitiesCreated{}, "", err
		}
		for _, ack := range acks {
			c.Did = append(c.Did, string(ack.ID))
		}
	}
	return out, fmt.Sprintf("Created %d of %d entities.", len(rs), len(in.Entities)), nil
})

func orEmpty(s []string) []string { return append([]string{}, s...) }

type relationArgs struct {
	Relations []relation `json:"relations" need:"yes"`
}

type relationsCreated struct {
	Relations []relation `json:"relations" shows:"*"`
}

// resolve returns the relations as they are stored. The error is of kind
// not_found for an entity that is not there.
func (g graph) resolve(ctx context.Context, rs []relation) ([]amber.Relation, error) {
	out := make([]amber.Relation, len(rs))
	for i, r := range rs {
		redactAll(g.c, &r.From, &r.To)
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
	all, err := g.c.Store.Relations.Related(ctx, r.From)
	for _, have := range all {
		if have.From == r.From && have.To == r.To && have.Type == r.Type {
			return have, true, nil
		}
	}
	return amber.Relation{}, false, err
}

var createRelations = op.NewTool(op.Tool{
	Op: op.RelationRelate.Row, Name: "create_relations", Title: "Create relations", Use: "Relate entities to each other.", Hints: op.Again,
}, func(ctx context.Context, c *op.Call, in relationArgs) (relationsCreated, string, error) {
	g, unlock, err := changeGraph(ctx, c, "relations", len(in.Relations))
	if err != nil {
		return relationsCreated{}, "", err
	}
	defer unlock()
	rs, err := g.resolve(ctx, in.Relations)
	if err != nil {
		return relationsCreated{}, "", err
	}
	ctx, cancel := c.Host.Begun(ctx)
	defer cancel()
	out := relationsCreated{[]relation{}}
	for i, r := range rs {
		_, there, err := g.same(ctx, r)
		if err == nil && !there {
			r, err = c.Store.Relations.Relate(ctx, r)
		}
		if err != nil {
			return out, "", err
		}
		if !there {
			c.Did, out.Relations = append(c.Did, r.ID), append(out.Relations, in.Relations[i].redacted(c))
		}
	}
	return out, fmt.Sprintf("Created %d of %d relations.", len(out.Relations), len(rs)), nil
})

var deleteRelations = op.NewTool(op.Tool{
	Op: op.RelationUnrelate.Row, Name: "delete_relations", Title: "Delete relations", Use: "Delete relations between entities.",
	Hints: op.Destroys | op.Again, Shows: "success message",
}, func(ctx context.Context, c *op.Call, in relationArgs) (told, string, error) {
	g, unlock, err := changeGraph(ctx, c, "relations", len(in.Relations))
	if err != nil {
		return told{}, "", err
	}
	defer unlock()
	ids, err := g.stored(ctx, in.Relations)
	if err != nil {
		return told{}, "", err
	}
	ctx, cancel := c.Host.Begun(ctx)
	defer cancel()
	for _, id := range ids {
		if err := c.Store.Relations.Unrelate(audited.About(ctx, id), id); err != nil {
			return told{}, "", err
		}
		c.Did = append(c.Did, id)
	}
	out, text := tell("Relations", len(ids), len(in.Relations), nil)
	return out, text, nil
})

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
type told struct {
	Message string `json:"message"`
	Success bool   `json:"success"`
}

func tell(what string, deleted, asked int, missing []string) (told, string) {
	message := what + " deleted successfully"
	if deleted != asked {
		message = fmt.Sprintf("Deleted %d of %d %s.", deleted, asked, strings.ToLower(what))
	}
	if len(missing) > 0 {
		message += " Not found: " + clip.Marked(strings.Join(missing, ", "), maxRepeated)
	}
	return told{message, true}, message
}

type deleteEntitiesArgs struct {
	EntityNames []string `json:"entityNames" need:"yes"`
}

var deleteEntities = op.NewTool(op.Tool{
	Op: op.MemoryForget.Row, Name: "delete_entities", Title: "Delete entities", Use: "Delete entities and their relations.",
	Hints: op.Destroys | op.Again, Shows: "success message",
}, func(ctx context.Context, c *op.Call, in deleteEntitiesArgs) (told, string, error) {
	g, unlock, err := changeGraph(ctx, c, "names", len(in.EntityNames))
	if err != nil {
		return told{}, "", err
	}
	defer unlock()
	ids, missing, err := g.named(ctx, in.EntityNames)
	if err != nil {
		return told{}, "", err
	}
	ctx, cancel := c.Host.Begun(ctx)
	defer cancel()
	for _, id := range ids {
		if err := g.remove(ctx, id); err != nil {
			c.Subject = string(id)
			return told{}, "", err
		}
		c.Did = append(c.Did, string(id))
	}
	out, text := tell("Entities", len(ids), len(in.EntityNames), missing)
	return out, text, nil
})

// named returns the entities that have the names, each once, and the names that are left.
func (g graph) named(ctx context.Context, names []string) (ids []amber.MemoryID, missing []string, err error) {
	for _, name := range names {
		redactAll(g.c, &name)
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
	rs, err := g.c.Store.Relations.Related(ctx, id)
	if err != nil {
		return err
	}
	for _, r := range rs {
		if err := g.c.Store.Relations.Unrelate(ctx, r.ID); err != nil {
			return err
		}
	}
	return g.c.Store.LongTerm.Delete(ctx, id)
}
