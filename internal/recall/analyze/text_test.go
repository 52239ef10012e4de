package analyze_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/recall/analyze"
	"github.com/amber-memory/amber/internal/test/must"
)

// porterWords are the examples of Porter's paper, step by step, and words
// that stand at the edges of its rules.
const porterWords = `
caresses ponies ties caress cats feed agreed plastered bled motoring sing
conflated troubled sized hopping tanned falling hissing fizzed failing filing
happy sky relational conditional rational valenci hesitanci digitizer conformabli
radicalli differentli vileli analogousli vietnamization predication operator
feudalism decisiveness hopefulness callousness formaliti sensitiviti sensibiliti
triplicate formative formalize electriciti electrical hopeful goodness revival
allowance inference airliner gyroscopic adjustable defensible irritant replacement
adjustment dependent adoption homologou communism activate angulariti homologous
effective bowdlerize probate rate cease controll roll generalizations oscillators
analogi apologies logi theology possibly possible tional ational national eed ed
ing ness ssess yes ies ied dies dying lying y yy yyy say says sayings by bys
oed aed uing eing ying tying trying cried cries crying ion tion sion station
mission nation rations abled abling ates izing bling hating a as ass asses is
isses us uses used using user users useful uselessness kubernetes pods scheduling
database databases caching cached caches index indexes indices indexing queries
querying deploy deployment deployments deployed configuration configured
authentication authorization tokens tokenized tokenizer encryption encrypted
migrations migrate migrating retries retried retry concurrency concurrent races
skating spoke hoping hopped controlling controlled parallel parallelly llll ll
mississippi committee committed committing agreement agreements ee eee eeing
`

var wordCorpus = []struct{ name, text string }{
	{"empty", ""},
	{"only separators", " \t\n.,;:!?-_/\\"},
	{"Porter", porterWords},
	{"upper case", strings.ToUpper(porterWords)},
	{"accents", "Café naïve résumé Ångström São Øresund Łódź Straße GROẞ İstanbul ıssız Ñandú coöperating fiancées déjà-vu"},
	{"decomposed accents", "Cafe\u0301 nai\u0308ve re\u0301sume\u0301s \u0301lead x\u0305y a\u0300\u0301\u0302b"},
	{"digits", "1 12 123 1st 2nd v1.2.3 0xdeadbeef 3.14159 10_000 ½ ² Ⅷ ٣ 2026-01-02T03:04:05Z"},
	{"identifiers", "snake_case_name camelCaseName kebab-case __init__ foo.bar() a->b std::vector<int> user@example.com #42 C++ C# .NET node.js"},
	{"quotes and operators", `"exact phrase" AND (a OR b) NOT c* ^d NEAR(e f, 3) {g} :col 'it''s' don't`},
	{"emoji", "deploy 🚀 done ✅👍🏽 a😀b 🤖🧠x 👩‍💻 ❤️ works"},
	{"Chinese", "我们使用Redis缓存 因为 PostgreSQL太慢了。数据库"},
	{"Japanese", "サーバーをデプロイする。ｶﾀｶﾅ か\u3099 がGo言語"},
	{"Korean", "한국어 검색을 한다 GPU서버"},
	{"other scripts", "Привет мир ЁЖИК Ελληνικά ΣΊΣΥΦΟΣ שלום مرحبا नमस्ते ภาษาไทย ქართული հայերեն"},
	{"private and unassigned", "a\ue000b \U000f0000c \U0010fffdd \u0378e \U0001faf0f a\ufffeb"},
	{"full width", "ＡＢＣ１２３ ⒶⒷ K Å ﬁne ſoſ"},
	{"non-ASCII stems", "aကing øsses ßing straßes ñandúes 使用ing 使用ed xßed"},
	{"long words", strings.Repeat("a", 58) + "ations " + strings.Repeat("a", 59) + "ations " + strings.Repeat("é", 31) + "s " + strings.Repeat("é", 65) + "s"},
	{"a word longer than FTS5 keeps", strings.Repeat("x", 40000) + " y " + strings.Repeat("語", 11000)},
	{"line ends", "one\r\ntwo\u2028three\u00a0four\u200bfive\ufeffsix"},
}

func TestTermsEqualFTS5(t *testing.T) {
	t.Parallel()
	index := openFTS5(t, wordTokenizer)
	for _, tc := range wordCorpus {
		t.Run(tc.name, func(t *testing.T) {
			must.Equal(t, "terms", analyze.Terms(tc.text), index.terms(t, tc.text))
		})
	}
}

// TestStemEqualsFTS5 tries every ending of the algorithm behind stems of
// every measure.
func TestStemEqualsFTS5(t *testing.T) {
	t.Parallel()
	endings := strings.Fields(`s es ss sses ies ed eed ing at ate bl ble iz ize y i e l ll le
		ational tional enci anci izer logi bli alli entli eli ousli ization ation ator alism
		iveness fulness ousness aliti iviti biliti icate ative alize iciti ical ful ness
		al ance ence er ic able ible ant ement ment ent ion sion tion ou ism iti ous ive
		ings eds izations ally ically fully ingly edly`)
	starts := strings.Fields(`b a ab ba bab aba baba abab babab ccvc y yb by byb tr tree hopp hop
		fall hiss fizz snow box tray plast conflat troubl siz oat eye yoyo sss ttt`)
	var text strings.Builder
	var want []string
	for _, start := range starts {
		for _, ending := range endings {
			text.WriteString(start + ending + " ")
			want = append(want, analyze.Stem(start+ending))
		}
	}
	must.Equal(t, "stems", openFTS5(t, wordTokenizer).terms(t, text.String()), want)
}

// TestFoldEqualsFTS5 compares the trigrams of a text with the parts of three
// characters of its folded form.
func TestFoldEqualsFTS5(t *testing.T) {
	t.Parallel()
	index := openFTS5(t, trigramTokenizer)
	for _, tc := range wordCorpus {
		t.Run(tc.name, func(t *testing.T) {
			got := []string{}
			folded := []rune(analyze.Fold(tc.text))
			for i := 0; i+3 <= len(folded); i++ {
				got = append(got, string(folded[i:i+3]))
			}
			must.Equal(t, "trigrams", index.terms(t, tc.text), got)
		})
	}
}

func TestGrams(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		run  string
		n    int
		want []string
	}{
		{"empty", "", 2, []string{}},
		{"shorter", "数", 2, []string{"数"}},
		{"as long", "数据", 2, []string{"数据"}},
		{"longer", "数据库", 2, []string{"数据", "据库"}},
		{"doubles", "ababab", 2, []string{"ab", "ba"}},
		{"three", "数据库表", 3, []string{"数据库", "据库表"}},
		{"one", "数据数", 1, []string{"数", "据"}},
		{"zero counts as one", "ab", 0, []string{"a", "b"}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			must.Equal(t, fmt.Sprintf("Grams(%q, %d)", tc.run, tc.n), analyze.Grams(tc.run, tc.n), tc.want)
		})
	}
}
