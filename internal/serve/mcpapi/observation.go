package mcpapi

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

// apply makes changes that were all found to be valid, and returns the ids of the entities it changed. When another
// writer changed an entity meanwhile, the error is a conflict that says how many changes were made.
func (g graph) apply(ctx context.Context, changes []change) (done []string, err error) {
	ctx, cancel := g.b.Begun(ctx)
	defer cancel()
	for i, c := range changes {
		if _, err := g.a.Store.Editor.Edit(ctx, c.next); err != nil {
			return done, &amber.Error{
				Op: fmt.Sprintf("change entity %d of %d", i+1, len(changes)), Kind: amber.KindOf(err), ID: string(c.was.ID), Err: err,
				Hint: words.Count(i, "entity was", "entities were") + " changed; repeat the call",
			}
		}
		done = append(done, string(c.was.ID))
	}
	return done, nil
}

type addArgs struct {
	Observations []struct {
		EntityName string
		Contents   []string
	}
}

type added struct {
	EntityName        string   `json:"entityName"`
	AddedObservations []string `json:"addedObservations"`
}

// addObservations adds what is new; an entity may be named more than once.
func addObservations(ctx context.Context, b *bound, a *op.Call, in addArgs) (answer, error) {
	g, unlock, err := changeGraph(ctx, b, a, "entities", len(in.Observations))
	if err != nil {
		return answer{}, err
	}
	defer unlock()
	out := struct {
		Results []added `json:"results"`
	}{[]added{}}
	changes := newChanges(g)
	for _, o := range in.Observations {
		redactAll(a, &o.EntityName)
		o.Contents = redactedList(a, o.Contents)
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
			return answer{}, err
		}
		out.Results = append(out.Results, r)
	}
	done, err := changes.apply(ctx)
	return answer{text: "Added observations to " + words.Count(len(changes.list), "entity", "entities") + ".", data: out, done: done}, err
}

type deleteObservationsArgs struct {
	Deletions []struct {
		EntityName   string
		Observations []string
	}
}

func deleteObservations(ctx context.Context, b *bound, a *op.Call, in deleteObservationsArgs) (answer, error) {
	g, unlock, err := changeGraph(ctx, b, a, "entities", len(in.Deletions))
	if err != nil {
		return answer{}, err
	}
	defer unlock()
	asked, deleted, missing := 0, 0, []string{}
	changes := newChanges(g)
	for _, d := range in.Deletions {
		redactAll(a, &d.EntityName)
		d.Observations = redactedList(a, d.Observations)
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
			return answer{}, err
		}
	}
	answered := told("Observations", deleted, asked, missing)
	answered.done, err = changes.apply(ctx)
	return answered, err
}

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

func (cs *changes) apply(ctx context.Context) ([]string, error) { return cs.g.apply(ctx, cs.list) }
