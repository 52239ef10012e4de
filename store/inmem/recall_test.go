package inmem_test

import (
	"slices"
	"testing"

	"github.com/amber-memory/amber"
)

// library writes memories that answer differently to the same questions.
func library(t *testing.T) world {
	t.Helper()
	w := newWorld(t)
	for _, r := range []amber.WriteRequest{
		{Title: "Cache", Content: "We use Redis for caching sessions."},
		{Title: "Storage", Content: "PostgreSQL keeps everything else.", Tags: []string{"database"}},
		{Title: "Cluster", Content: "Kubernetes runs the cache nodes.", Topic: "infra"},
		{Title: "中文", Content: "我们使用数据库存储用户信息"},
		{Title: "Hint", Content: "Nothing here.", Summary: "Ask the caché team.", Trust: amber.TrustImported},
		{Title: "Private", Content: "Ada's cache notes", Scope: amber.ScopeUser, Identities: amber.Identities{UserID: "ada"}},
	} {
		w.write(t, r)
		w.tick()
	}
	return w
}

func titles(hits []amber.Hit) []string {
	out := []string{}
	for _, h := range hits {
		out = append(out, h.Title)
	}
	return out
}

func TestRecallFindsExactly(t *testing.T) {
	t.Parallel()
	w := library(t)
	tests := []struct {
		name string
		q    amber.Query
		want []string // sorted
	}{
		{"any word, stemmed and folded", amber.Query{Text: "Which caches do we use?"}, []string{"Cache", "Cluster", "Hint"}},
		{"what ada sees", amber.Query{Text: "caching", Filter: amber.Filter{Identities: amber.Identities{UserID: "ada"}}}, []string{"Cache", "Cluster", "Hint", "Private"}},
		{"trusted only", amber.Query{Text: "cache", Trusted: true}, []string{"Cache", "Cluster"}},
		{"topic", amber.Query{Text: "infra"}, []string{"Cluster"}},
		{"tag", amber.Query{Text: "databases"}, []string{"Storage"}},
		{"part of a word", amber.Query{Text: "bernet"}, []string{"Cluster"}},
		{"a whole word and a part of one", amber.Query{Text: "keeping bernet"}, []string{"Cluster", "Storage"}},
		{"part that is too short", amber.Query{Text: "ub"}, []string{}},
		{"characters", amber.Query{Text: "数据"}, []string{"中文"}},
		{"one character", amber.Query{Text: "库"}, []string{"中文"}},
		{"characters of which some match", amber.Query{Text: "数据结构"}, []string{"中文"}},
		{"characters apart", amber.Query{Text: "数库"}, []string{}},
		{"nothing", amber.Query{Text: "zeppelin"}, []string{}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			got := titles(ok[amber.RecallResult](t)(w.Recall(t.Context(), tc.q)).Hits)
			slices.Sort(got)
			wantEqual(t, "titles", got, tc.want)
		})
	}
}

// TestRecallLooksInsideWordsOnlyForUnknownOnes: a word that some memory has,
// even one the asker cannot see, is not looked for inside words.
func TestRecallLooksInsideWordsOnlyForUnknownOnes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(t, amber.WriteRequest{Title: "part", Content: "a pattern"})
	find := func() []string {
		return titles(ok[amber.RecallResult](t)(w.Recall(t.Context(), amber.Query{Text: "tern"})).Hits)
	}
	wantEqual(t, "hits where no memory has the word", find(), []string{"part"})
	whole := w.write(t, amber.WriteRequest{Content: "a tern", Scope: amber.ScopeUser, Identities: amber.Identities{UserID: "ada"}})
	wantEqual(t, "hits where a hidden memory has the word", find(), []string{})
	deleteIt(t, w, whole.ID)
	wantEqual(t, "hits where a deleted memory had the word", find(), []string{"part"})
}

func TestRecallWithoutTextIsNewestFirst(t *testing.T) {
	t.Parallel()
	w := library(t)
	if hits := ok[amber.RecallResult](t)(w.Recall(t.Context(), amber.Query{Text: "?!"})).Hits; len(hits) != 0 {
		t.Errorf("text without a word finds %q", titles(hits))
	}
	for _, text := range []string{"", " \n"} {
		got := ok[amber.RecallResult](t)(w.Recall(t.Context(), amber.Query{Text: text, Explain: true})).Hits
		wantEqual(t, "titles", titles(got), []string{"Hint", "中文", "Cluster", "Storage", "Cache"})
		for _, h := range got {
			if h.Score != 1 || h.Why == nil || h.Why.Terms == nil {
				t.Errorf("hit %+v, want a score of 1 and an empty explanation", h)
			}
		}
	}
}

func TestRecallExplains(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(t, amber.WriteRequest{Title: "Cache", Topic: "cache", Tags: []string{"cache"}, Summary: "cache", Content: "postgresqldump 数据库 cached"})
	w.fact(t, "unrelated")
	got := ok[amber.RecallResult](t)(w.Recall(t.Context(), amber.Query{Text: "caching postgresql 数据库", Explain: true})).Hits
	if len(got) != 1 {
		t.Fatalf("%d hits, want 1", len(got))
	}
	h := got[0]
	wantEqual(t, "terms", h.Why.Terms, []amber.TermMatch{
		{Term: "caching", Fields: []string{"title", "topic", "tags", "summary", "content"}},
		{Term: "postgresql", Fields: []string{"content"}},
		{Term: "数据", Fields: []string{"content"}},
		{Term: "据库", Fields: []string{"content"}},
	})
	if h.Score != 1 || h.Why.Words <= 0 || h.Why.Substring <= 0 || h.Why.CJK <= 0 {
		t.Errorf("score %v of parts %+v, want every part to count", h.Score, h.Why)
	}
	wantEqual(t, "provenance", h.Provenance, amber.Provenance{Backend: "inmem", Locator: "memory/" + string(h.ID)})
}

func TestRecallRanks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, r := range []amber.WriteRequest{
		{Title: "a", Content: "The lighthouse keeper called."},
		{Title: "lighthouse", Content: "The morning keeper called."},
		{Title: "b", Content: "The lighthouse keeper wrote."},
		{Title: "c", Content: "The morning was cold and long."},
		{Title: "d", Content: "The evening was cold and long."},
	} {
		w.write(t, r)
		w.tick()
	}
	result := ok[amber.RecallResult](t)(w.Recall(t.Context(), amber.Query{Text: "lighthouse", Limit: 100}))
	wantEqual(t, "titles: in the title first, then the newest", titles(result.Hits), []string{"lighthouse", "b", "a"})
	wantEqual(t, "clamped", result.Clamped, []amber.Clamp{{Key: "limit", Requested: 100, Effective: amber.MaxTopK}})
	if s := result.Hits[2].Score; s <= 0 || s >= 1 {
		t.Errorf("score of the last hit is %v, want between 0 and 1", s)
	}
}
