package storetest

import (
	"math"
	"slices"

	"github.com/amber-memory/amber"
)

func relationChecks() []check {
	needs := []part{longTerm, memories}
	return []check{
		{name: "relation/links-two-memories", needs: append(needs, relations), run: relateLinks},
		{name: "relation/same-ends-and-type-is-replaced", needs: append(needs, relations), run: relateReplaces},
		{name: "relation/unrelate", needs: append(needs, relations), run: unrelate},
		{name: "relation/refuses", needs: append(needs, relations), run: relateRefuses},
		{name: "concept/set-and-read", needs: append(needs, concepts), run: conceptsKept},
		{name: "concept/recalled", needs: append(needs, concepts), run: conceptsRecalled},
		{name: "concept/count", needs: append(needs, concepts), run: conceptsCounted},
		{name: "concept/refuses", needs: append(needs, concepts), run: conceptsRefuse},
		{name: "change/of-what-hangs-on-a-memory", needs: append(needs, relations, concepts, changes), run: besideLogs},
	}
}

func relateLinks(w *world) {
	a, b, c := w.fact("a"), w.fact("b"), w.fact("c")
	w.tick()
	r := must(w.Relations.Relate(w.ctx, amber.Relation{From: a, To: b, Type: "supersedes", Strength: 0.25}))
	equal([]any{r.From, r.To, r.Type, r.Strength, r.CreatedAt, r.DeletedAt}, []any{a, b, "supersedes", 0.25, w.now(), nil}, "relation")
	hold(r.ID != "", "a relation has no id")
	hold(r.Origin.Device != "" && r.Origin.Clock != 0, "a relation has no origin")
	back := must(w.Relations.Relate(w.ctx, amber.Relation{From: b, To: a, Type: "supersedes", Strength: 1}))
	hold(back.ID != r.ID, "a relation in the other direction replaces the first")
	must(w.Relations.Relate(w.ctx, amber.Relation{From: b, To: c, Type: "related"}))
	for _, id := range []amber.MemoryID{a, b} {
		got := must(w.Relations.Related(w.ctx, id))
		hold(slices.ContainsFunc(got, func(x amber.Relation) bool { return x == r }), "relation %v is not among those of %s", r, id)
	}
	equal(len(must(w.Relations.Related(w.ctx, a))), 2, "relations of a")
	equal(len(must(w.Relations.Related(w.ctx, b))), 3, "relations of b")
	equal(len(must(w.Relations.Related(w.ctx, c))), 1, "relations of c")
}

func relateReplaces(w *world) {
	a, b := w.fact("a"), w.fact("b")
	first := must(w.Relations.Relate(w.ctx, amber.Relation{From: a, To: b, Type: "related", Strength: 0.1}))
	second := must(w.Relations.Relate(w.ctx, amber.Relation{From: a, To: b, Type: "related", Strength: 0.9}))
	hold(second.Origin.After(first.Origin), "the origin of a replaced relation does not grow")
	want := first
	want.Strength, want.Origin = 0.9, amber.Origin{Device: first.Origin.Device, Counter: 2, Clock: second.Origin.Clock}
	equal(second, want, "replaced relation")
	got := must(w.Relations.Related(w.ctx, a))
	equal(got, []amber.Relation{second}, "relations after replacing one")
}

func unrelate(w *world) {
	a, b := w.fact("a"), w.fact("b")
	r := must(w.Relations.Relate(w.ctx, amber.Relation{From: a, To: b, Type: "related", Strength: 1}))
	must0(w.Relations.Unrelate(w.ctx, r.ID))
	equal(must(w.Relations.Related(w.ctx, a)), nil, "relations after unrelating")
	for _, id := range []string{r.ID, "no-such-relation"} {
		refused(w.Relations.Unrelate(w.ctx, id), amber.KindNotFound, "unrelate the relation %s, which does not exist", id)
	}
	again := must(w.Relations.Relate(w.ctx, amber.Relation{From: a, To: b, Type: "related", Strength: 0.5}))
	equal([]any{again.ID, again.Origin.Counter, again.DeletedAt}, []any{r.ID, 3, nil}, "relation made again")
	must0(w.LongTerm.Delete(w.ctx, b))
	equal(must(w.Relations.Related(w.ctx, a)), []amber.Relation{again}, "relations to a deleted memory")
}

func relateRefuses(w *world) {
	a, b := w.fact("a"), w.fact("b")
	for name, r := range map[string]amber.Relation{
		"itself":            {From: a, To: a, Type: "related"},
		"no type":           {From: a, To: b},
		"too much strength": {From: a, To: b, Type: "related", Strength: 1.01},
		"no number":         {From: a, To: b, Type: "related", Strength: math.NaN()},
		"a malformed id":    {From: a, To: "b", Type: "related"},
	} {
		refused(only(w.Relations.Relate(w.ctx, r)), amber.KindInvalid, "relation with %s", name)
	}
	_, err := w.Relations.Relate(w.ctx, amber.Relation{From: a, To: unknownID, Type: "related"})
	refused(err, amber.KindNotFound, "relation to an unknown memory")
	must0(w.LongTerm.Delete(w.ctx, b))
	refused(only(w.Relations.Relate(w.ctx, amber.Relation{From: a, To: b, Type: "related"})), amber.KindNotFound, "relation to a deleted memory")
	refused(only(w.Relations.Related(w.ctx, unknownID)), amber.KindNotFound, "relations of an unknown memory")
	equal(must(w.Relations.Related(w.ctx, a)), nil, "relations stored by refused calls")
}

func conceptsKept(w *world) {
	id := w.fact("a")
	equal(must(w.Concepts.Concepts(w.ctx, id)), nil, "concepts of a new memory")
	must0(w.Concepts.SetConcepts(w.ctx, id, []string{" zoo ", "art", "zoo"}))
	equal(must(w.Concepts.Concepts(w.ctx, id)), []string{"art", "zoo"}, "concepts")
	must0(w.Concepts.SetConcepts(w.ctx, id, []string{"sea"}))
	equal(must(w.Concepts.Concepts(w.ctx, id)), []string{"sea"}, "concepts after replacing them")
	must0(w.Concepts.SetConcepts(w.ctx, id, nil))
	equal(must(w.Concepts.Concepts(w.ctx, id)), nil, "concepts after removing them")
}

// conceptsRecalled looks for memories by the words of their concepts, which their
// text does not have.
func conceptsRecalled(w *world) {
	a, b := w.fact("the first one"), w.fact("the second one")
	must0(w.Concepts.SetConcepts(w.ctx, a, []string{"message queues", "Datenbank"}))
	equal(w.found("queue"), []amber.MemoryID{a}, "hits of a word of a concept")
	equal(w.found("datenbank"), []amber.MemoryID{a}, "hits of a concept in another case")
	if w.Capabilities().Edit {
		w.edit(amber.EditRequest{ID: a, Content: new("the first one, edited")})
		equal(w.found("queue"), []amber.MemoryID{a}, "hits of a concept after an edit")
	}
	hits := must(w.LongTerm.Recall(w.ctx, amber.Query{Text: "queue", Explain: true})).Hits
	equal(hits[0].Why.Terms, []amber.TermMatch{{Term: "queue", Fields: []string{"concepts"}}}, "why the concept was found")
	must0(w.Concepts.SetConcepts(w.ctx, a, []string{"beaches"}))
	must0(w.Concepts.SetConcepts(w.ctx, b, []string{"beaches"}))
	equal(w.found("queue"), nil, "hits of a concept that was replaced")
	equal(len(w.found("beach")), 2, "hits of a concept of two memories")
	must0(w.LongTerm.Delete(w.ctx, b))
	equal(w.found("beach"), []amber.MemoryID{a}, "hits of the concept of a deleted memory")
	must0(w.Concepts.SetConcepts(w.ctx, a, nil))
	equal(w.found("beach"), nil, "hits of a concept that was removed")
	equal(w.found("first"), []amber.MemoryID{a}, "hits of the text")
}

func conceptsCounted(w *world) {
	equal(must(w.Concepts.CountConcepts(w.ctx)), []amber.ConceptCount{}, "concepts of a fresh store")
	a, b, gone := w.fact("a"), w.fact("b"), w.fact("c")
	must0(w.Concepts.SetConcepts(w.ctx, a, []string{"zoo", "art"}))
	must0(w.Concepts.SetConcepts(w.ctx, b, []string{"zoo", "sea"}))
	must0(w.Concepts.SetConcepts(w.ctx, gone, []string{"art", "gone"}))
	must0(w.LongTerm.Delete(w.ctx, gone))
	equal(must(w.Concepts.CountConcepts(w.ctx)), []amber.ConceptCount{{Concept: "zoo", Memories: 2}, {Concept: "art", Memories: 1}, {Concept: "sea", Memories: 1}}, "concepts")
}

func conceptsRefuse(w *world) {
	id := w.fact("a")
	refused(w.Concepts.SetConcepts(w.ctx, id, []string{"a\nb"}), amber.KindInvalid, "concept of two lines")
	refused(w.Concepts.SetConcepts(w.ctx, id, numbered("c", amber.MaxTags+1)), amber.KindInvalid, "too many concepts")
	must0(w.LongTerm.Delete(w.ctx, id))
	for _, gone := range []amber.MemoryID{id, unknownID} {
		refused(w.Concepts.SetConcepts(w.ctx, gone, []string{"a"}), amber.KindNotFound, "concepts of a memory that is not there")
		refused(only(w.Concepts.Concepts(w.ctx, gone)), amber.KindNotFound, "concepts of a memory that is not there")
	}
}

func besideLogs(w *world) {
	a, b := w.fact("a"), w.fact("b")
	var rel amber.Relation
	for name, f := range map[string]func(){
		"a relation": func() {
			rel = must(w.Relations.Relate(w.ctx, amber.Relation{From: a, To: b, Type: "related", Strength: 1}))
		},
		"concepts": func() { must0(w.Concepts.SetConcepts(w.ctx, a, []string{"c"})) },
	} {
		got := w.logs(name, f)
		equal([]any{got.Op, got.Scope, got.Key}, []any{amber.OpUpdate, amber.ChangeMemory, a}, "entry of %s", name)
	}
	equal(len(w.changed(func() { must0(w.Relations.Unrelate(w.ctx, rel.ID)) })), 1, "entries of unrelating")
}
