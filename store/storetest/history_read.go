package storetest

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/amber-memory/amber"
)

func readOperations() []operation {
	return []operation{
		{name: "recall", weight: 14, needs: []part{longTerm}, run: (*history).recall},
		{name: "get", weight: 4, needs: []part{memories}, run: (*history).get},
		{name: "list", weight: 6, needs: []part{memories}, run: (*history).list},
		{name: "revisions", weight: 4, needs: []part{memories}, run: (*history).revisions},
		{name: "timeline", weight: 5, needs: []part{memories}, run: (*history).timeline},
		{name: "stats", weight: 2, needs: []part{stats}, run: (*history).stats},
	}
}

// filter returns a filter, most often a wide one.
func (h *history) filter() amber.Filter {
	f := amber.Filter{Identities: h.identities()}
	if h.chance(0.3) {
		f.Scope = oneOf(h, amber.Scopes()...)
	}
	if h.chance(0.2) {
		f.Kinds = []amber.MemoryKind{oneOf(h, amber.MemoryKinds()...), amber.WorkspaceFact}
	}
	if h.chance(0.2) {
		f.Tags = h.tags()
	}
	if h.chance(0.15) {
		f.Since = h.now().Add(-time.Duration(h.rng.IntN(100)) * grid)
	}
	if h.chance(0.15) {
		f.Until = h.now().Add(-time.Duration(h.rng.IntN(50)) * grid)
	}
	return f
}

func (h *history) recall() {
	q := amber.Query{
		Text: oneOf(h, "", "alpha", "alph", "what is the alphabet", "run", "CAFÉ or norway?", "数据", "库", "京", "case", "httpserv", `"beta" AND (`,
			"the", "zebra", "beta norway running", "green", "short", "plan"),
		Layers: h.layers(), Filter: h.filter(), Limit: oneOf(h, 0, 1, 1, 2, 3, 20, amber.MaxTopK, 1000), Trusted: h.chance(0.2), Local: h.chance(0.4), Explain: h.chance(0.3),
	}
	if h.chance(0.2) { // questions that name a time or a kind
		q.Text = oneOf(h, "may we run alpha", "how do I run the plan", "green plan these days", "what went wrong with beta last year",
			"alpha in January 2026", "plan on 3 March 2026")
	}
	h.note("%s", text(tree(q)))
	got, ok := ask(h, func(w *world) (amber.RecallResult, error) { return w.LongTerm.Recall(w.ctx, q) })
	if !ok {
		return
	}
	same(h, pair[[]amber.Clamp]{h.model: got[h.model].Clamped, h.subject: got[h.subject].Clamped}, "clamped values")
	same(h, pair[int]{h.model: len(got[h.model].Hits), h.subject: len(got[h.subject].Hits)}, "number of hits")
	limit := cmp.Or(min(q.Limit, amber.MaxTopK), amber.DefaultTopK)
	hits := pair[map[string]amber.Hit]{}
	for w, r := range got {
		scored(r.Hits)
		hits[w] = byID(r.Hits, func(hit amber.Hit) string { return fmt.Sprint(hit.Layer, hit.Owner, hit.Title, hit.Content) })
		equal(len(hits[w]), len(r.Hits), "number of different hits of %s", w.backend.Name)
		if q.Explain {
			for _, hit := range r.Hits {
				hold(hit.Why != nil, "a hit of %s is not explained", w.backend.Name)
			}
		}
	}
	if len(got[h.model].Hits) < limit {
		same(h, comparableHits(hits), "hits")
	}
	same(h, pair[[]float64]{h.model: scores(got[h.model].Hits), h.subject: scores(got[h.subject].Hits)}, "scores")
}

// layers returns none, for all of them, or some.
func (h *history) layers() []amber.RecallLayer {
	if h.chance(0.7) {
		return nil
	}
	return []amber.RecallLayer{oneOf(h, amber.RecallLayers()...), oneOf(h, amber.RecallLayers()...)}
}

func scores(hits []amber.Hit) []float64 {
	out := make([]float64, len(hits))
	for i, h := range hits {
		out[i] = h.Score
	}
	return out
}

// comparableHits drops what ranking makes of a hit.
func comparableHits(hits pair[map[string]amber.Hit]) pair[map[string]amber.Hit] {
	for _, byID := range hits {
		for id, hit := range byID {
			hit.Score, hit.Snippet, hit.Why = 0, "", nil
			byID[id] = hit
		}
	}
	return hits
}

func (h *history) get() {
	id := h.someMemory()
	compare(h, "memory", func(w *world) (amber.Memory, error) { return w.Memories.Get(w.ctx, id[w]) })
}

func (h *history) revisions() {
	id := h.someMemory()
	compare(h, "history of a memory", func(w *world) ([]amber.Memory, error) { return amber.All(w.ctx, w.Memories.History, id[w]) })
}

func (h *history) stats() {
	compare(h, "counts", func(w *world) (amber.Stats, error) {
		s, err := w.Stats.Stats(w.ctx)
		dropZeros(s.ByKind)
		dropZeros(s.ByScope)
		dropZeros(s.ByTrust)
		return s, err
	})
}

func (h *history) list() {
	q := amber.ListQuery{Filter: h.filter(), All: h.chance(0.3), Deleted: h.chance(0.3), Limit: oneOf(h, 0, 1, 3, 7, 5000)}
	h.note("%s", text(tree(q)))
	if _, ok := ask(h, func(w *world) (amber.Page[amber.Memory], error) { return w.Memories.List(w.ctx, q) }); !ok {
		return
	}
	listed := pair[map[string]amber.Memory]{}
	for _, w := range []*world{h.model, h.subject} {
		all := w.list(q)
		hold(slices.IsSortedFunc(all, newestFirst), "the list of %s is not newest first", w.backend.Name)
		listed[w] = byID(all, func(m amber.Memory) string { return string(m.ID) })
		equal(len(listed[w]), len(all), "number of different memories listed by %s", w.backend.Name)
	}
	same(h, listed, "list")
}

// timeline holds each store to the law of timelines: they are windows of what
// it lists itself. Which of two memories of one millisecond comes first is up
// to their ids.
func (h *history) timeline() {
	id := h.someMemory()
	before, after := h.rng.IntN(5), h.rng.IntN(5)-h.rng.IntN(2)
	h.note("%s %d %d", id[h.model], before, after)
	got, ok := ask(h, func(w *world) ([]amber.Memory, error) { return w.Memories.Timeline(w.ctx, id[w], before, after) })
	if !ok {
		return
	}
	for w, line := range got {
		pivot := w.get(id[w])
		all := w.list(amber.ListQuery{All: true})
		all = slices.DeleteFunc(all, func(m amber.Memory) bool {
			if pivot.SessionID != "" {
				return m.SessionID != pivot.SessionID || !pivot.Sees(m.Scope, m.Identities)
			}
			return m.Scope != pivot.Scope || m.Identity() != pivot.Identity()
		})
		slices.Reverse(all)
		at := slices.IndexFunc(all, func(m amber.Memory) bool { return m.ID == pivot.ID })
		equal(line, all[max(0, at-before):min(len(all), at+1+after)], "timeline of %s beside its list", w.backend.Name)
	}
}
