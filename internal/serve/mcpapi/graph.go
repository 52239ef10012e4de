package mcpapi

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
	Entities  []entity   `json:"entities"`
	Relations []relation `json:"relations"`
	Truncated bool       `json:"truncated,omitempty"`
}

// show returns entities with every relation from or to one of them, as far as
// they fit.
func (g graph) show(ctx context.Context, ms []amber.Memory, more bool) (answer, error) {
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
		return answer{}, err
	}
	return answer{text: out.String(), data: out}, nil
}

// relate adds the relations of some entities, each once.
func (g graph) relate(ctx context.Context, out *wireGraph, shown []amber.MemoryID, names map[amber.MemoryID]string) error {
	seen, size := map[string]bool{}, 0
	for _, id := range shown {
		rs, err := g.a.Store.Relations.Related(ctx, id)
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
		fmt.Fprintf(&b, "\n%s %s %s", shown.OneLine(r.From, titleBytes), r.RelationType, shown.OneLine(r.To, titleBytes))
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
	m, err := g.a.Store.Memories.Get(ctx, id)
	if err == nil {
		names[id] = m.Metadata[entityName]
	}
	return names[id]
}

func readGraph(ctx context.Context, b *bound, a *op.Call, _ struct{}) (answer, error) {
	g := newGraph(b, a)
	p, err := a.Store.Memories.List(ctx, amber.ListQuery{Filter: amber.Filter{Identities: g.ids, Tags: []string{entityTag}}, Limit: maxNodes})
	if err != nil {
		return answer{}, err
	}
	return g.show(ctx, p.Items, p.Next != "")
}

func searchNodes(ctx context.Context, b *bound, a *op.Call, in chatSearchArgs) (answer, error) {
	g := newGraph(b, a)
	found, err := a.Store.LongTerm.Recall(ctx, amber.Query{
		Text: in.Query, Filter: amber.Filter{Identities: g.ids, Tags: []string{entityTag}}, Limit: amber.MaxTopK,
		Layers: []amber.RecallLayer{amber.LayerMemory},
	})
	if err != nil {
		return answer{}, err
	}
	var ms []amber.Memory
	for _, h := range found.Hits {
		m, err := a.Store.Memories.Get(ctx, h.ID)
		if amber.KindOf(err) == amber.KindNotFound {
			continue // deleted meanwhile
		}
		if err != nil {
			return answer{}, err
		}
		ms = append(ms, m)
	}
	return g.show(ctx, ms, false)
}

type openArgs struct{ Names []string }

func openNodes(ctx context.Context, b *bound, a *op.Call, in openArgs) (answer, error) {
	if err := checkCount("names", len(in.Names)); err != nil {
		return answer{}, err
	}
	g := newGraph(b, a)
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
			return answer{}, err
		}
		ms = append(ms, m)
	}
	return g.show(ctx, ms, false)
}
