package storetest

import "github.com/amber-memory/amber"

func besideOperations() []operation {
	return []operation{
		{name: "relate", weight: 5, needs: []part{relations}, run: (*history).relate},
		{name: "unrelate", weight: 2, needs: []part{relations}, run: (*history).unrelate},
		{name: "related", weight: 2, needs: []part{relations}, run: (*history).related},
		{name: "set concepts", weight: 3, needs: []part{concepts}, run: (*history).conceive},
	}
}

func (h *history) relate() {
	from, to := h.someMemory(), h.someMemory()
	r := amber.Relation{Type: oneOf(h, "related", "supersedes"), Strength: oneOf(h, 0, 0.5, 1, 1.5), Trust: h.trust()}
	h.note("%s %s %s %v", from[h.model], to[h.model], r.Type, r.Strength)
	got, ok := ask(h, func(w *world) (amber.Relation, error) {
		r.From, r.To = from[w], to[w]
		return w.Relations.Relate(w.ctx, r)
	})
	if !ok {
		return
	}
	id := pair[string]{h.model: got[h.model].ID, h.subject: got[h.subject].ID}
	h.bind(id[h.model], id[h.subject])
	h.relations = append(h.relations, id)
	same(h, got, "relation")
	h.stamped(id, pair[amber.Origin]{h.model: got[h.model].Origin, h.subject: got[h.subject].Origin})
}

func (h *history) unrelate() {
	id := pair[string]{h.model: string(unknownID), h.subject: string(unknownID)}
	if len(h.relations) > 0 {
		id = oneOf(h, h.relations...)
	}
	h.note("%s", id[h.model])
	do(h, func(w *world) error { return w.Relations.Unrelate(w.ctx, id[w]) })
}

func (h *history) related() {
	id := h.someMemory()
	compare(h, "relations", func(w *world) (map[string][]amber.Relation, error) {
		got, err := w.Relations.Related(w.ctx, id[w])
		return byKey(got, func(r amber.Relation) string { return r.ID }), err
	})
}

func (h *history) conceive() {
	id := h.someMemory()
	tags := append(h.tags(), oneOf(h, "one", "two", ""))
	do(h, func(w *world) error { return w.Concepts.SetConcepts(w.ctx, id[w], tags) })
	compare(h, "concepts", func(w *world) ([]string, error) { return w.Concepts.Concepts(w.ctx, id[w]) })
}
