package compat

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/words"
	"github.com/amber-memory/amber/internal/guard/shown"
	"github.com/amber-memory/amber/op"
)

// Bounds of a graph in an answer: the bytes of its entities and of its relations.
const (
	graphBytes    = 128 << 10
	relationBytes = 32 << 10
)

// wireGraph is a part of the graph.
type wireGraph struct {
	Entities  []entity   `json:"entities" shows:"*"`
	Relations []relation `json:"relations" shows:"*"`
	Truncated bool       `json:"truncated,omitempty"`
}

// show returns entities with every relation from or to one of them, as far as
// they fit.
func (g graph) show(ctx context.Context, ms []amber.Memory, more bool) (wireGraph, string, error) {
	out := wireGraph{Entities: []entity{}, Relations: []relation{}, Truncated: more}
	names, size := map[amber.MemoryID]string{}, 0
	var shown []amber.MemoryID
	for _, m := range ms {
		e, ok := entityOf(m)
		if size += len(m.Content); size > graphBytes || !ok {
			out.Truncated = out.Truncated || ok
			continue
		}
		names[m.ID] = e.Name
		shown = append(shown, m.ID)
		out.Entities = append(out.Entities, e)
	}
	if err := g.relate(ctx, &out, shown, names); err != nil {
		return out, "", err
	}
	return out, out.String(), nil
}

// relate adds the relations of some entities, each once.
func (g graph) relate(ctx context.Context, out *wireGraph, shown []amber.MemoryID, names map[amber.MemoryID]string) error {
	seen, size := map[string]bool{}, 0
	for _, id := range shown {
		rs, err := g.c.Store.Relations.Related(ctx, id)
		if err != nil && amber.KindOf(err) != amber.KindNotFound { // deleted meanwhile
			return err
		}
		for _, r := range rs {
			if seen[r.ID] {
				continue
			}
			seen[r.ID] = true
			to := relation{g.nameOf(ctx, names, r.From), g.nameOf(ctx, names, r.To), r.Type}
			if to.From == "" || to.To == "" {
				continue
			}
			if size += len(to.From) + len(to.To) + len(to.RelationType); size > relationBytes {
				out.Truncated = true
				return nil
			}
			out.Relations = append(out.Relations, to)
		}
	}
	return nil
}

// String is the graph in lines.
func (w wireGraph) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s.", words.Count(len(w.Entities), "entity", "entities"), words.Count(len(w.Relations), "relation", "relations"))
	for _, e := range w.Entities {
		b.WriteString("\n" + e.content())
	}
	for _, r := range w.Relations {
		fmt.Fprintf(&b, "\n%s %s %s", shown.OneLine(r.From, op.TitleBytes), r.RelationType, shown.OneLine(r.To, op.TitleBytes))
	}
	if w.Truncated {
		b.WriteString("\n[cut: search_nodes and open_nodes read the rest]")
	}
	return b.String()
}

// nameOf returns the name of an entity, "" for a memory that is not an entity.
func (g graph) nameOf(ctx context.Context, names map[amber.MemoryID]string, id amber.MemoryID) string {
	if name, ok := names[id]; ok {
		return name
	}
	m, err := g.c.Store.Memories.Get(ctx, id)
	if err == nil {
		names[id] = m.Metadata[entityName]
	}
	return names[id]
}

var readGraph = op.NewTool(op.Tool{
	Op: op.MemoryList.Row, Name: "read_graph", Title: "Read the graph", Use: "Read the knowledge graph, the newest entities first.",
}, func(ctx context.Context, c *op.Call, _ op.None) (wireGraph, string, error) {
	g := newGraph(c)
	p, err := c.Store.Memories.List(ctx, amber.ListQuery{Filter: amber.Filter{Identities: g.ids, Tags: []string{entityTag}}, Limit: maxNodes})
	if err != nil {
		return wireGraph{}, "", err
	}
	return g.show(ctx, p.Items, p.Next != "")
})

var searchNodes = op.NewTool(op.Tool{
	Op: op.MemoryRecall.Row, Name: "search_nodes", Title: "Search the graph", Use: "Search entities by name, type and observations.",
}, func(ctx context.Context, c *op.Call, in queryArgs) (wireGraph, string, error) {
	g := newGraph(c)
	found, err := c.Store.LongTerm.Recall(ctx, amber.Query{
		Text: in.Query, Filter: amber.Filter{Identities: g.ids, Tags: []string{entityTag}}, Limit: amber.MaxTopK,
		Layers: []amber.RecallLayer{amber.LayerMemory},
	})
	if err != nil {
		return wireGraph{}, "", err
	}
	var ms []amber.Memory
	for _, h := range found.Hits {
		m, err := c.Store.Memories.Get(ctx, h.ID)
		if amber.KindOf(err) == amber.KindNotFound {
			continue // deleted meanwhile
		}
		if err != nil {
			return wireGraph{}, "", err
		}
		ms = append(ms, m)
	}
	return g.show(ctx, ms, false)
})

type openArgs struct {
	Names []string `json:"names" need:"yes"`
}

var openNodes = op.NewTool(op.Tool{
	Op: op.MemoryList.Row, Name: "open_nodes", Title: "Read entities", Use: "Read entities by name.",
}, func(ctx context.Context, c *op.Call, in openArgs) (wireGraph, string, error) {
	if err := checkCount("names", len(in.Names)); err != nil {
		return wireGraph{}, "", err
	}
	g := newGraph(c)
	var ms []amber.Memory
	for i, name := range in.Names {
		if slices.Contains(in.Names[:i], name) {
			continue
		}
		m, err := g.find(ctx, name)
		if amber.KindOf(err) == amber.KindNotFound {
			continue
		}
		if err != nil {
			return wireGraph{}, "", err
		}
		ms = append(ms, m)
	}
	return g.show(ctx, ms, false)
})
