package analyze_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/amber-memory/amber/internal/recall/analyze"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestParse(t *testing.T) {
	t.Parallel()
	type query = analyze.Query
	none := []string{}
	tests := []struct {
		name, text string
		want       query
	}{
		{"empty", "", query{Words: none, Runs: none}},
		{"a question", "Which database did we choose, and why?", query{Words: []string{"database", "choose"}, Runs: none}},
		{"negation stays", "why not use Go?", query{Words: []string{"not", "use", "go"}, Runs: none}},
		{"nothing but stop words", "what is this", query{Words: []string{"what", "is", "this"}, Runs: none}},
		{"stop words beside ideographs go", "what is 数据库", query{Words: none, Runs: []string{"数据库"}}},
		{"doubles by stem", "cache caching Cached CACHES index", query{Words: []string{"cache", "index"}, Terse: true, Runs: none}},
		{"quotes and operators", `"exact" AND NEAR(x* -y) OR col:z`, query{Words: []string{"exact", "near", "x", "y", "col", "z"}, Runs: none}},
		{"folded", "Café RÉSUMÉ nai\u0308ve", query{Words: []string{"cafe", "resume", "naive"}, Terse: true, Runs: none}},
		{"contraction", "why don't we retry", query{Words: []string{"retry"}, Runs: none}},
		{"mixed scripts", "使用Redis缓存v2", query{Words: []string{"redis", "v2"}, Runs: []string{"使用", "缓存"}}},
		{"long vowels stay in their run", "サーバーのURL", query{Words: []string{"url"}, Runs: []string{"サーバーの"}}},
		{"Korean", "서버 GPU 서버", query{Words: []string{"gpu"}, Runs: []string{"서버"}}},
		{"invalid bytes separate", "foo\xffbar", query{Words: []string{"foo", "bar"}, Terse: true, Runs: none}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			must.Equal(t, fmt.Sprintf("Parse(%q)", tc.text), analyze.Parse(tc.text), tc.want, cmpopts.IgnoreFields(query{}, "Related"))
		})
	}
}

func TestParseBounds(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for i := range 50 {
		fmt.Fprintf(&text, "word%d %c ", i, '一'+rune(i))
	}
	q := analyze.Parse(text.String())
	if len(q.Words) != 32 || q.Words[0] != "word0" || q.Words[31] != "word31" {
		t.Errorf("words = %d, %q; want the first 32", len(q.Words), q.Words)
	}
	if len(q.Runs) != 16 || q.Runs[0] != "一" {
		t.Errorf("runs = %d, %q; want the first 16", len(q.Runs), q.Runs)
	}
}

// checkQuery fails where q breaks what Query promises.
func checkQuery(t *testing.T, q analyze.Query) {
	t.Helper()
	if len(q.Words) > 32 || len(q.Runs) > 16 {
		t.Errorf("%d words and %d runs, at most 32 and 16", len(q.Words), len(q.Runs))
	}
	cjk := []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul}
	var stems []string
	for _, w := range q.Words {
		if w == "" || !utf8.ValidString(w) || analyze.Fold(w) != w {
			t.Errorf("word %q is empty, invalid or not folded", w)
		}
		if strings.ContainsFunc(w, func(r rune) bool { return unicode.In(r, cjk...) }) {
			t.Errorf("word %q holds an ideograph", w)
		}
		must.Equal(t, fmt.Sprintf("terms of %q", w), len(analyze.Terms(w)), 1)
		stems = append(stems, analyze.Stem(w))
	}
	slices.Sort(stems)
	must.Equal(t, "stems that differ", len(slices.Compact(slices.Clone(stems))), len(stems))
	for _, r := range q.Runs {
		if r == "" || !utf8.ValidString(r) {
			t.Errorf("run %q is empty or invalid", r)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, tc := range wordCorpus {
		if len(tc.text) < 4096 {
			f.Add(tc.text, "some content "+tc.text, 240)
		}
	}
	f.Add("foo\xff使\xe4\xbd", "a\xff\xfe b", 7)
	f.Add("x", strings.Repeat("x", 100), -1)
	f.Fuzz(func(t *testing.T, text, content string, limit int) {
		q := analyze.Parse(text)
		checkQuery(t, q)
		checkSnippet(t, analyze.Snippet(content, q, limit), limit)
		for _, run := range q.Runs {
			if grams := analyze.Grams(run, 2); len(grams) == 0 || !strings.HasPrefix(run, grams[0]) {
				t.Errorf("Grams(%q) = %q", run, grams)
			}
		}
	})
}

// A question in another language is asked without its own stop words, and words of English stay as they were.
func TestParseInLanguages(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"Welche Datenbank haben wir für die Rechnungen gewählt?":          {"datenbank", "rechnungen", "gewahlt"},
		"¿Qué base de datos usamos para las facturas?":                    {"base", "datos", "usamos", "facturas"},
		"Warum darf der Dienst nicht ohne Passwort starten, und wie geht": {"dienst", "nicht", "ohne", "passwort", "starten", "geht"},
		"why must the service not start without a password":               {"must", "service", "not", "start", "without", "password"},
	} {
		must.Equal(t, text, analyze.Parse(text).Words, want)
	}
	must.Equal(t, "runs", analyze.Parse("どのデータベースを使っていますか").Runs, []string{"データベースを使"})
	e := analyze.EndingsOf("de")
	must.Equal(t, "stems", []string{e.Stem("entscheidungen"), e.Stem("entscheidung"), e.Stem("ein"), e.Stem("e2e")}, []string{"entscheid", "entscheid", "ein", ""})
	must.Equal(t, "English", analyze.EndingsOf("en") == nil, true)
}
