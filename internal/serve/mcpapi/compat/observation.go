package compat

import (
	"context"
	"fmt"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/words"
	"github.com/amber-memory/amber/op"
)

// change is an entity as it was and as it is to be.
type change struct {
	was  amber.Memory
	next amber.EditRequest
}

// plan returns the edit that gives an entity other observations; false where
// nothing changes. The error is of kind invalid.
func plan(m amber.Memory, edit func(entity) entity) (change, bool, error) {
	e, _ := entityOf(m)
	content := edit(e).content()
	c := change{m, amber.EditRequest{ID: m.ID, IfRevision: m.Revision, Content: &content}}
	_, changed, err := c.next.Apply(m)
	return c, changed, err
}

// apply makes changes that were all found to be valid. When another
// writer changed an entity meanwhile, the error is a conflict that says how many changes were made.
func (g graph) apply(ctx context.Context, changes []change) error {
	ctx, cancel := g.c.Host.Begun(ctx)
	defer cancel()
	for i, c := range changes {
		if _, err := g.c.Store.Editor.Edit(ctx, c.next); err != nil {
			return &amber.Error{
				Op: fmt.Sprintf("change entity %d of %d", i+1, len(changes)), Kind: amber.KindOf(err), ID: string(c.was.ID), Err: err,
				Hint: words.Count(i, "entity was", "entities were") + " changed; repeat the call",
			}
		}
		g.c.Did = append(g.c.Did, string(c.was.ID))
	}
	return nil
}

type moreObserved struct {
	EntityName string   `json:"entityName" need:"yes"`
	Contents   []string `json:"contents" need:"yes"`
}

type addArgs struct {
	Observations []moreObserved `json:"observations" need:"yes"`
}

type added struct {
	EntityName        string   `json:"entityName"`
	AddedObservations []string `json:"addedObservations"`
}

type addedAll struct {
	Results []added `json:"results" shows:"entityName addedObservations"`
}

// addObservations adds what is new; an entity may be named more than once.
var addObservations = op.NewTool(op.Tool{
	Op: op.MemoryEdit.Row, Name: "add_observations", Title: "Add observations", Use: "Add observations to entities that exist.", Hints: op.Again,
}, func(ctx context.Context, c *op.Call, in addArgs) (addedAll, string, error) {
	out := addedAll{[]added{}}
	g, unlock, err := changeGraph(ctx, c, "entities", len(in.Observations))
	if err != nil {
		return out, "", err
	}
	defer unlock()
	changes := newChanges(g)
	for _, o := range in.Observations {
		redactAll(c, &o.EntityName)
		o.Contents = redactedList(c, o.Contents)
		r := added{o.EntityName, []string{}}
		err := changes.edit(ctx, o.EntityName, func(e entity) entity {
			for _, c := range o.Contents {
				if !slices.Contains(e.Observations, c) {
					e.Observations, r.AddedObservations = append(e.Observations, c), append(r.AddedObservations, c)
				}
			}
			return e
		})
		if err != nil {
			return out, "", err
		}
		out.Results = append(out.Results, r)
	}
	return out, "Added observations to " + words.Count(len(changes.list), "entity", "entities") + ".", changes.apply(ctx)
})

type lessObserved struct {
	EntityName   string   `json:"entityName" need:"yes"`
	Observations []string `json:"observations" need:"yes"`
}

type deleteObservationsArgs struct {
	Deletions []lessObserved `json:"deletions" need:"yes"`
}

var deleteObservations = op.NewTool(op.Tool{
	Op: op.MemoryEdit.Row, Name: "delete_observations", Title: "Delete observations", Use: "Delete observations from entities.",
	Hints: op.Destroys | op.Again, Shows: "success message",
}, func(ctx context.Context, c *op.Call, in deleteObservationsArgs) (told, string, error) {
	g, unlock, err := changeGraph(ctx, c, "entities", len(in.Deletions))
	if err != nil {
		return told{}, "", err
	}
	defer unlock()
	asked, deleted, missing := 0, 0, []string{}
	changes := newChanges(g)
	for _, d := range in.Deletions {
		redactAll(c, &d.EntityName)
		d.Observations = redactedList(c, d.Observations)
		asked += len(d.Observations)
		err := changes.edit(ctx, d.EntityName, func(e entity) entity {
			kept := slices.DeleteFunc(slices.Clone(e.Observations), func(o string) bool { return slices.Contains(d.Observations, o) })
			deleted += len(e.Observations) - len(kept)
			e.Observations = kept
			return e
		})
		if amber.KindOf(err) == amber.KindNotFound {
			missing = append(missing, d.EntityName)
			continue
		}
		if err != nil {
			return told{}, "", err
		}
	}
	out, text := tell("Observations", deleted, asked, missing)
	return out, text, changes.apply(ctx)
})

// changes collects edits of entities, one for each entity, all checked before
// the first is made.
type changes struct {
	g    graph
	list []change
	at   map[string]int // name: place in list
}

func newChanges(g graph) *changes { return &changes{g: g, at: map[string]int{}} }

// edit adds an edit of an entity. Errors: not_found; invalid.
func (cs *changes) edit(ctx context.Context, name string, fn func(entity) entity) error {
	i, again := cs.at[name]
	if !again {
		m, err := cs.g.find(ctx, name)
		if err != nil {
			return err
		}
		c, changed, err := plan(m, fn)
		if err == nil && changed {
			cs.at[name] = len(cs.list)
			cs.list = append(cs.list, c)
		}
		return err
	}
	was := cs.list[i].was
	so := was
	so.Content = *cs.list[i].next.Content
	c, _, err := plan(so, fn)
	c.was = was
	cs.list[i] = c
	return err
}

func (cs *changes) apply(ctx context.Context) error { return cs.g.apply(ctx, cs.list) }
