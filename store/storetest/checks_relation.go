package storetest

import (
	"fmt"
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
		{name: "relation/trust", needs: append(needs, relations), run: relateTrust},
		{name: "relation/refuses", needs: append(needs, relations), run: relateRefuses},
		{name: "relation/neighbours", needs: append(needs, relations), run: neighboursFound},
		{name: "relation/neighbours-are-bounded", needs: append(needs, relations), run: neighboursBounded},
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

// relateTrust replaces relations by those of more trust and of less.
func relateTrust(w *world) {
	a, b := w.fact("a"), w.fact("b")
	said := amber.Author{Host: "claude-code", Agent: "reviewer", Session: "s", Token: "t"}
	first := must(w.Relations.Relate(w.ctx, amber.Relation{From: a, To: b, Type: "related", Trust: amber.TrustAgent, Author: said}))
	equal([]any{first.Trust, first.Author}, []any{amber.TrustAgent, said}, "trust and author of a relation")
	equal(must(w.Relations.Relation(w.ctx, first.ID)), first, "relation by its id")
	own := must(w.Relations.Relate(w.ctx, amber.Relation{From: a, To: b, Type: "related"}))
	equal([]any{own.ID, own.Trust, own.Author}, []any{first.ID, amber.TrustOwn, amber.Author{}}, "relation that the owner made again")
	for _, lower := range amber.Trusts()[1:] {
		_, err := w.Relations.Relate(w.ctx, amber.Relation{From: a, To: b, Type: "related", Strength: 1, Trust: lower})
		refused(err, amber.KindRefused, "relation of the owner replaced by one of trust %s", lower)
	}
	equal(must(w.Relations.Related(w.ctx, a)), []amber.Relation{own}, "relations after refused ones")
	must0(w.Relations.Unrelate(w.ctx, own.ID))
	refused(only(w.Relations.Relation(w.ctx, own.ID)), amber.KindNotFound, "deleted relation by its id")
	again := must(w.Relations.Relate(w.ctx, amber.Relation{From: a, To: b, Type: "related", Trust: amber.TrustAgent}))
	equal(again.Trust, amber.TrustAgent, "trust of a relation that was made again")
}

func unrelate(w *world) {
	a, b := w.fact("a"), w.fact("b")
	r := must(w.Relations.Relate(w.ctx, amber.Relation{From: a, To: b, Type: "related", Strength: 1}))
	equal(must(w.Relations.Relation(w.ctx, r.ID)), r, "relation read by its id")
	must0(w.Relations.Unrelate(w.ctx, r.ID))
	equal(must(w.Relations.Related(w.ctx, a)), nil, "relations after unrelating")
	for _, id := range []string{r.ID, "no-such-relation"} {
		refused(only(w.Relations.Relation(w.ctx, id)), amber.KindNotFound, "read the relation %s, which does not exist", id)
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

// near says what a neighbourhood lists: content and distance.
func (w *world) near(q amber.NeighbourQuery) (found []string, n amber.Neighbourhood) {
	n = must(w.Relations.Neighbours(w.ctx, q))
	for _, m := range n.Memories {
		found = append(found, fmt.Sprint(m.Snippet, " ", m.Distance))
	}
	return found, n
}

// neighboursFound: a leads to b, which c leads to, which leads to d; e is related to b and
// deleted, f comes after e; g is of a user.
func neighboursFound(w *world) {
	ids := map[string]amber.MemoryID{}
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		ids[name] = w.fact(name)
	}
	ids["g"] = w.write(amber.WriteRequest{Content: "g", Scope: amber.ScopeUser, Identities: amber.Identities{UserID: "ada"}}).ID
	relate := func(from, to, kind string, strength float64) {
		must(w.Relations.Relate(w.ctx, amber.Relation{From: ids[from], To: ids[to], Type: kind, Strength: strength}))
	}
	relate("a", "b", "related", 0.5)
	relate("c", "b", "extends", 0.9)
	relate("c", "d", "related", 0.9)
	relate("b", "e", "related", 1)
	relate("e", "f", "related", 1)
	relate("b", "g", "related", 0.7)
	relate("b", "a", "extends", 0.1)
	must0(w.LongTerm.Delete(w.ctx, ids["e"]))
	check := func(what string, q amber.NeighbourQuery, relations int, more bool, want ...string) {
		q.ID = ids["a"]
		found, n := w.near(q)
		equal(found, want, "%s", what)
		equal([]any{len(n.Relations), n.More}, []any{relations, more}, "relations and more of %s", what)
	}
	check("two steps", amber.NeighbourQuery{}, 3, false, "a 0", "b 1", "c 2")
	check("one step", amber.NeighbourQuery{Depth: 1}, 2, false, "a 0", "b 1")
	check("everybody's", amber.NeighbourQuery{All: true}, 4, false, "a 0", "b 1", "c 2", "g 2")
	check("those of a user", amber.NeighbourQuery{Identities: amber.Identities{UserID: "ada"}}, 4, false, "a 0", "b 1", "c 2", "g 2")
	check("those of another user", amber.NeighbourQuery{Identities: amber.Identities{UserID: "bob"}}, 3, false, "a 0", "b 1", "c 2")
	check("by one type", amber.NeighbourQuery{Types: []string{"related"}, All: true}, 2, false, "a 0", "b 1", "g 2")
	check("by two types", amber.NeighbourQuery{Types: []string{"extends", "related"}}, 3, false, "a 0", "b 1", "c 2")
	check("by a type that there is not", amber.NeighbourQuery{Types: []string{"nothing"}}, 0, false, "a 0")
	check("two memories", amber.NeighbourQuery{Limit: 2}, 2, true, "a 0", "b 1")
	check("a memory alone", amber.NeighbourQuery{Limit: 1}, 0, true, "a 0")
	for what, q := range map[string]amber.NeighbourQuery{
		"three steps": {ID: ids["a"], Depth: 3}, "a negative depth": {ID: ids["a"], Depth: -1}, "a negative limit": {ID: ids["a"], Limit: -1},
		"no id": {}, "an empty type": {ID: ids["a"], Types: []string{""}},
	} {
		refused(only(w.Relations.Neighbours(w.ctx, q)), amber.KindInvalid, "neighbours with %s", what)
	}
	refused(only(w.Relations.Neighbours(w.ctx, amber.NeighbourQuery{ID: unknownID})), amber.KindNotFound, "neighbours of an unknown memory")
	refused(only(w.Relations.Neighbours(w.ctx, amber.NeighbourQuery{ID: ids["e"]})), amber.KindNotFound, "neighbours of a deleted memory")
}

func neighboursBounded(w *world) {
	hub := w.fact("hub")
	for i := range amber.MaxNeighbours + 5 {
		id := w.fact(fmt.Sprint("spoke ", i))
		must(w.Relations.Relate(w.ctx, amber.Relation{From: id, To: hub, Type: "related", Strength: float64(i) / 1000}))
	}
	found, n := w.near(amber.NeighbourQuery{ID: hub, Limit: 1 << 30})
	equal([]any{len(found), len(n.Relations), n.More}, []any{amber.MaxNeighbours, amber.MaxNeighbours - 1, true}, "memories, relations and more around a hub")
	equal(found[:3], []string{"hub 0", "spoke 204 1", "spoke 203 1"}, "the strongest come first")
	found, n = w.near(amber.NeighbourQuery{ID: n.Memories[1].ID, Depth: 1})
	equal([]any{len(found), n.More}, []any{2, false}, "memories and more around a spoke")
}
