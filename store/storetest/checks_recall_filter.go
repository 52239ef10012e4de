package storetest

import (
	"fmt"
	"time"

	"github.com/amber-memory/amber"
)

func recallFilterChecks() []check {
	needs := []part{longTerm}
	return []check{
		{name: "recall/scope-needs-equal-identity", needs: needs, run: recallScopes},
		{name: "recall/identities-are-no-patterns", needs: append(needs, memories), run: identitiesAreValues},
		{name: "recall/scope-without-identity-is-refused", needs: needs, run: recallScopeRefused},
		{name: "recall/filter-kinds-tags-time", needs: needs, run: recallFilters},
		{name: "recall/filter-before-limit", needs: append(needs, batches), run: recallFilterBeforeLimit},
		{name: "recall/trusted", needs: needs, run: recallTrusted},
	}
}

func recallScopes(w *world) {
	all := w.scoped("the comet returns", ids(), others())
	for _, f := range filters() {
		for _, text := range []string{"comet", "", "come"} {
			got := hitIDs(w.recall(amber.Query{Text: text, Filter: f, Limit: amber.MaxTopK}))
			equal(sorted(got), visible(all, f), "recall of %q with scope %q and identities %v", text, f.Scope, f.Identities)
		}
	}
}

// identitiesAreValues: no identity is read as a pattern, a query or another
// spelling of an identity.
func identitiesAreValues(w *world) {
	names := []string{
		`ada`, `a%`, `%`, `_da`, `___`, `'`, `''`, `"`, `ada' OR '1'='1`, `x'; DROP TABLE memories;--`, `ada";--`,
		`*`, `ada OR bob`, `(`, `[ada]`, `\`, `ADA`, `Adá`, `東京`, `🙂`, `ſ`, `ß`, `ss`, `$1`, `?1`, `:id`, `null`, `{"a":1}`,
	}
	for _, scope := range []amber.Scope{amber.ScopeSession, amber.ScopeProject} {
		want := map[string][]amber.MemoryID{}
		for _, name := range names {
			r := amber.WriteRequest{Scope: scope, Identities: with(amber.Identities{}, scope, name), Content: "comet of " + name}
			want[name] = []amber.MemoryID{w.write(r).ID}
		}
		for _, name := range names {
			f := amber.Filter{Scope: scope, Identities: with(amber.Identities{}, scope, name)}
			for _, text := range []string{"comet", ""} {
				equal(hitIDs(w.recall(amber.Query{Text: text, Filter: f})), want[name], "recall of %q by %s %s", text, scope, name)
			}
			equal(memoryIDs(w.list(amber.ListQuery{Filter: f})), want[name], "list of %s %s", scope, name)
			equal(w.timeline(want[name][0], 9, 9), want[name], "timeline of %s %s", scope, name)
		}
	}
}

func recallScopeRefused(w *world) {
	w.scoped("the comet returns", ids())
	for _, s := range amber.Scopes() {
		if s == amber.ScopeGlobal {
			continue
		}
		_, err := w.LongTerm.Recall(w.ctx, amber.Query{Text: "comet", Filter: amber.Filter{Scope: s, Identities: without(ids(), s)}})
		refused(err, amber.KindInvalid, "recall in scope %s without its identity", s)
	}
}

func recallFilters(w *world) {
	a := w.write(amber.WriteRequest{Content: "comet a", Kind: amber.Constraint, Tags: []string{"x", "y"}}).ID
	w.tick()
	middle := w.now()
	b := w.write(amber.WriteRequest{Content: "comet b", Kind: amber.UserFact, Tags: []string{"x"}}).ID
	w.tick()
	c := w.write(amber.WriteRequest{Content: "comet c", Kind: amber.Constraint}).ID
	for name, tc := range map[string]struct {
		f    amber.Filter
		want []amber.MemoryID
	}{
		"one kind":         {amber.Filter{Kinds: []amber.MemoryKind{amber.Constraint}}, []amber.MemoryID{a, c}},
		"two kinds":        {amber.Filter{Kinds: []amber.MemoryKind{amber.Constraint, amber.UserFact}}, []amber.MemoryID{a, b, c}},
		"one tag":          {amber.Filter{Tags: []string{"x"}}, []amber.MemoryID{a, b}},
		"every tag":        {amber.Filter{Tags: []string{"x", "y"}}, []amber.MemoryID{a}},
		"tags in disorder": {amber.Filter{Tags: []string{"y", "x", "y"}}, []amber.MemoryID{a}},
		"since inclusive":  {amber.Filter{Since: middle}, []amber.MemoryID{b, c}},
		"until exclusive":  {amber.Filter{Until: middle}, []amber.MemoryID{a}},
		"between":          {amber.Filter{Since: middle, Until: middle.Add(time.Millisecond)}, []amber.MemoryID{b}},
		"all at once":      {amber.Filter{Kinds: []amber.MemoryKind{amber.UserFact}, Tags: []string{"x"}, Since: middle}, []amber.MemoryID{b}},
	} {
		for _, text := range []string{"comet", "come", ""} {
			got := hitIDs(w.recall(amber.Query{Text: text, Filter: tc.f}))
			equal(sorted(got), sorted(tc.want), "recall of %q by %s", text, name)
		}
	}
}

func recallFilterBeforeLimit(w *world) {
	want := w.write(amber.WriteRequest{Content: "a comet among many other things in a long sentence", Tags: []string{"rare"}}).ID
	for i := range 4 {
		w.tick()
		rs := batchOf(amber.MaxBatchSize)
		for j := range rs {
			rs[j].Content = fmt.Sprintf("comet %d %d", i, j)
		}
		must(w.Batch.WriteBatch(w.ctx, rs))
	}
	for _, text := range []string{"comet", "come", ""} {
		q := amber.Query{Text: text, Limit: 1, Filter: amber.Filter{Tags: []string{"rare"}}}
		equal(hitIDs(w.recall(q)), []amber.MemoryID{want}, "recall of %q filtered to one in a thousand", text)
	}
}

func recallTrusted(w *world) {
	byTrust := map[amber.Trust]amber.MemoryID{}
	for _, t := range []amber.Trust{amber.TrustOwn, amber.TrustSigned, amber.TrustImported, amber.TrustDerived} {
		byTrust[t] = w.write(amber.WriteRequest{Content: "comet " + string(t), Trust: t}).ID
	}
	want := sorted([]amber.MemoryID{byTrust[amber.TrustOwn], byTrust[amber.TrustSigned]})
	for _, text := range []string{"comet", "come", ""} {
		hits := w.recall(amber.Query{Text: text, Trusted: true})
		equal(sorted(hitIDs(hits)), want, "trusted recall of %q", text)
		equal(len(w.recall(amber.Query{Text: text})), 4, "recall of %q", text)
	}
	want = sorted(append(want, byTrust[amber.TrustDerived]))
	for _, text := range []string{"comet", "come", ""} {
		equal(sorted(hitIDs(w.recall(amber.Query{Text: text, Local: true}))), want, "recall of %q without what was imported", text)
	}
	for i := range 40 { // more than are asked for, and all of them better
		w.write(amber.WriteRequest{Content: fmt.Sprint("zeppelin ", i), Title: "zeppelin", Trust: amber.TrustImported})
	}
	derived := w.write(amber.WriteRequest{Content: "somewhere above the town a zeppelin", Trust: amber.TrustDerived}).ID
	equal(hitIDs(w.recall(amber.Query{Text: "zeppelin", Local: true, Limit: 1})), []amber.MemoryID{derived}, "one hit behind many imported ones")
	for _, h := range w.recall(amber.Query{Text: "comet"}) {
		hold(byTrust[h.Trust] == h.ID, "hit %s has trust %s", h.ID, h.Trust)
	}
}
