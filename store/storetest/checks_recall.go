package storetest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
)

func recallChecks() []check {
	return []check{
		{name: "recall/hit-tells-the-memory", needs: []part{longTerm, memories}, run: recallHit},
		{name: "recall/no-match-is-an-empty-result", needs: []part{longTerm}, run: recallNothing},
		{name: "recall/empty-text-is-newest-first", needs: []part{longTerm}, run: recallNewest},
		{name: "recall/limit", needs: []part{longTerm}, run: recallLimit},
		{name: "recall/refuses-invalid", needs: []part{longTerm}, run: recallRefusesInvalid},
		{name: "recall/follows-edits", needs: []part{longTerm, edits}, run: recallFollowsEdits},
		{name: "recall/follows-topics", needs: []part{longTerm}, run: recallFollowsTopics},
		{name: "recall/deleted-is-not-found", needs: []part{longTerm}, run: recallDeleted},
		{name: "recall/explain", needs: []part{longTerm}, run: recallExplain},
		{name: "recall/changes-nothing", needs: []part{longTerm, memories, changes}, run: recallChangesNothing},
	}
}

func recallHit(w *world) {
	r := fullRequest()
	filler := strings.Repeat("Filler sentence about nothing at all. ", 200)
	r.Content = filler + "The zeppelin lands at dawn. " + filler
	m := w.write(r).Memory
	hits := w.recall(amber.Query{Text: "when does the zeppelin land?", Filter: amber.Filter{Identities: ids()}})
	equal(len(hits), 1, "number of hits")
	h := hits[0]
	equal([]any{h.ID, h.Title, h.Kind, h.Scope, h.Content, h.Trust, h.CreatedAt, h.UpdatedAt},
		[]any{m.ID, m.Title, m.Kind, m.Scope, m.Content, m.Trust, m.CreatedAt, m.UpdatedAt}, "hit")
	hold(strings.Contains(strings.ToLower(h.Snippet), "zeppelin"), "snippet %q does not hold the word that matched", clipped(h.Snippet))
	hold(len(h.Snippet) < len(h.Content)/2, "the snippet has %d of %d bytes", len(h.Snippet), len(h.Content))
	hold(h.Provenance.Backend != "", "the hit names no backend")
	hold(h.Why == nil, "a hit explains itself without being asked")
}

func recallNothing(w *world) {
	for _, stored := range []bool{false, true} {
		if stored {
			w.fact("a lonely fact")
		}
		got := must(w.LongTerm.Recall(w.ctx, amber.Query{Text: "zeppelin"}))
		hold(got.Hits != nil && len(got.Hits) == 0, "hits are %v, want an empty list", got.Hits)
		equal(got.Clamped, nil, "clamped values")
	}
	got := must(w.LongTerm.Recall(w.ctx, amber.Query{Filter: amber.Filter{Tags: []string{"none"}}}))
	hold(got.Hits != nil && len(got.Hits) == 0, "hits are %v, want an empty list", got.Hits)
}

func recallNewest(w *world) {
	var want []amber.MemoryID
	for i := range 5 {
		want = append(want, w.fact(fmt.Sprint("number ", i)))
		w.tick()
	}
	slices.Reverse(want)
	for _, text := range []string{"", " \n\t "} {
		hits := w.recall(amber.Query{Text: text})
		equal(hitIDs(hits), want, "recall of %q", text)
		scored(hits)
	}
	equal(hitIDs(w.recall(amber.Query{Limit: 2})), want[:2], "the newest two")
	for _, h := range w.recall(amber.Query{Explain: true}) {
		hold(h.Score == 1 && h.Why != nil && h.Why.Terms != nil, "hit %v without a text, want score 1 and an empty explanation", h)
	}
	equal(w.found("?!"), nil, "hits of a text without a word")
}

// scored checks the rule of scores: each in [0, 1], falling.
func scored(hits []amber.Hit) {
	for i, h := range hits {
		hold(h.Score >= 0 && h.Score <= 1, "score %v of hit %d is not between 0 and 1", h.Score, i)
		hold(i == 0 || h.Score <= hits[i-1].Score, "score %v of hit %d is above the one before it, %v", h.Score, i, hits[max(0, i-1)].Score)
	}
}

func recallLimit(w *world) {
	for i := range amber.MaxTopK + 6 {
		w.fact(fmt.Sprint("counted sheep ", i))
	}
	for _, text := range []string{"", "sheep"} {
		for limit, want := range map[int]int{0: amber.DefaultTopK, 1: 1, 20: 20, amber.MaxTopK: amber.MaxTopK} {
			got := must(w.LongTerm.Recall(w.ctx, amber.Query{Text: text, Limit: limit}))
			equal(len(got.Hits), want, "hits of %q with limit %d", text, limit)
			equal(got.Clamped, nil, "clamped values with limit %d", limit)
		}
		got := must(w.LongTerm.Recall(w.ctx, amber.Query{Text: text, Limit: 1000}))
		equal(len(got.Hits), amber.MaxTopK, "hits of %q with limit 1000", text)
		equal(got.Clamped, []amber.Clamp{{Key: "limit", Requested: 1000, Effective: amber.MaxTopK}}, "clamped values")
	}
}

func recallRefusesInvalid(w *world) {
	w.fact("something")
	for name, q := range map[string]amber.Query{
		"negative limit": {Limit: -1},
		"NUL":            {Text: "a\x00b"},
		"no UTF-8":       {Text: "a\xffb"},
		"long text":      {Text: strings.Repeat("x", amber.MaxQueryBytes+1)},
		"unknown reason": {Reason: "boredom"},
		"unknown kind":   {Filter: amber.Filter{Kinds: []amber.MemoryKind{"rumour"}}},
		"unknown scope":  {Filter: amber.Filter{Scope: "galaxy"}},
		"empty tag":      {Filter: amber.Filter{Tags: []string{""}}},
		"bad identity":   {Filter: amber.Filter{Identities: amber.Identities{UserID: "a\nb"}}},
	} {
		refused(only(w.LongTerm.Recall(w.ctx, q)), amber.KindInvalid, "recall with %s", name)
	}
}

func recallFollowsEdits(w *world) {
	id := w.write(amber.WriteRequest{Title: "Harbour", Content: "The walrus sleeps."}).ID
	w.edit(amber.EditRequest{ID: id, Title: new("Airport"), Content: new("The falcon wakes.")})
	for text, want := range map[string]int{"walrus": 0, "walr": 0, "harbour": 0, "sleeping": 0, "falcon": 1, "falc": 1, "airport": 1, "waking": 1} {
		equal(len(w.found(text)), want, "hits of %q after the edit", text)
	}
}

func recallFollowsTopics(w *world) {
	id := w.write(amber.WriteRequest{Topic: "pets", Content: "We keep a hamster."}).ID
	w.write(amber.WriteRequest{Topic: "pets", Content: "We keep a parrot."})
	equal(w.found("hamster"), nil, "hits of the first revision")
	equal(w.found("parrot"), []amber.MemoryID{id}, "hits of the second revision")
	equal(w.found("pets"), []amber.MemoryID{id}, "hits of the topic")
}

func recallDeleted(w *world) {
	id, other := w.fact("the violin is out of tune"), w.fact("the violin is in tune")
	must0(w.LongTerm.Delete(w.ctx, id))
	for _, text := range []string{"violin", "violi", "tune", ""} {
		equal(w.found(text), []amber.MemoryID{other}, "hits of %q", text)
	}
}

func recallExplain(w *world) {
	w.write(amber.WriteRequest{Title: "Zeppelin hangar", Content: "It stands near the lake.", Topic: "airship"})
	why := func(text string) *amber.Why {
		hits := w.recall(amber.Query{Text: text, Explain: true})
		equal(len(hits), 1, "hits of %q", text)
		hold(hits[0].Why != nil, "the hit of %q is not explained", text)
		return hits[0].Why
	}
	for text, field := range map[string]string{"hangar": "title", "lake": "content", "airship": "topic"} {
		got := why("where is the " + text)
		equal(len(got.Terms), 1, "terms that matched %q", text)
		hold(strings.Contains(got.Terms[0].Term, text[:3]), "term %q does not look like %q", got.Terms[0].Term, text)
		equal(got.Terms[0].Fields, []string{field}, "fields that matched %q", text)
		hold(got.Words > 0, "whole words have no part in the score of %q", text)
	}
	equal(len(why("hangar lake submarine").Terms), 2, "terms that matched two of three words")
	w.write(amber.WriteRequest{Title: "Cache", Topic: "cache", Tags: []string{"cache"}, Summary: "cache", Content: "postgresqldump 数据库 cached"})
	got := why("caching postgresql 数据库")
	equal(got.Terms, []amber.TermMatch{
		{Term: "caching", Fields: []string{"title", "topic", "tags", "summary", "content"}},
		{Term: "postgresql", Fields: []string{"content"}},
		{Term: "数据", Fields: []string{"content"}},
		{Term: "据库", Fields: []string{"content"}},
	}, "terms of words, parts of words and characters")
	hold(got.Words > 0, "parts of a score are %v, want words above 0", got)
}

func recallChangesNothing(w *world) {
	w.fact("still water")
	before := w.everything()
	equal(w.changed(func() { w.tick(); w.found("water") }), nil, "entries of a recall")
	equal(w.everything(), before, "memories after a recall")
}
