package storetest

import (
	"slices"
	"strings"

	"github.com/amber-memory/amber"
)

func recallTextChecks() []check {
	needs := []part{longTerm}
	return []check{
		{name: "recall/natural-question", needs: needs, run: recallQuestion},
		{name: "recall/stems-words", needs: needs, run: recallStems},
		{name: "recall/folds-case-and-accents", needs: needs, run: recallFolds},
		{name: "recall/stop-words-do-not-match", needs: needs, run: recallStopWords},
		{name: "recall/any-word-may-match", needs: needs, run: recallAnyWord},
		{name: "recall/operators-are-words", needs: needs, run: recallOperators},
		{name: "recall/nasty-text-never-fails", needs: needs, run: recallNasty},
		{name: "recall/parts-of-words", needs: needs, run: recallParts},
		{name: "recall/parts-of-unknown-words-only", needs: needs, run: recallUnknownParts},
		{name: "recall/every-field", needs: needs, run: recallEveryField},
		{name: "recall/scripts-without-spaces", needs: needs, run: recallCJK},
		{name: "recall/emoji", needs: needs, run: recallEmoji},
	}
}

// finds writes a memory beside an unrelated one and checks that the text
// finds it and nothing else.
func (w *world) finds(content, text string) {
	id := w.fact(content)
	equal(w.found(text), []amber.MemoryID{id}, "hits of %q where only %q matches", text, clipped(content))
	must0(w.LongTerm.Delete(w.ctx, id))
}

func recallQuestion(w *world) {
	w.fact("Breakfast is served at eight.")
	w.finds("Production databases are backed up to Frankfurt every night.", "Where do the backups of our production database go?")
	w.finds("We picked PostgreSQL because the team knows it.", "which database did we choose, postgresql or something else, and why?")
	w.finds("The deployment window opens on Tuesdays at noon.", "On which Tuesday does the next window open, and for how long?")
	w.finds("The staging server restarts on Sundays.", "hey, could you please tell me when staging gets restarted")
}

func recallStems(w *world) {
	w.fact("Breakfast is served at eight.")
	for content, text := range map[string]string{
		"All tests must pass.":             "testing",
		"Run the migrations first.":        "migration",
		"He configured the proxy.":         "configuring",
		"Two boxes of paper.":              "box",
		"The cache is invalidated weekly.": "invalidate caches",
	} {
		w.finds(content, text)
	}
}

func recallFolds(w *world) {
	w.fact("Breakfast is served at eight.")
	for content, text := range map[string]string{
		"The Café Zürich opens late.":   "cafe zurich",
		"Meet at the cafe.":             "CAFÉ",
		"GRAPHQL ENDPOINT":              "graphql",
		"naïve façade":                  "NAIVE FACADE",
		"decomposed re\u0301sume\u0301": "résumé",
		"Ελληνικά γράμματα στην πινακίδα":  "ΠΙΝΑΚΊΔΑ",
		"Договор подписан в понедельник":   "ДОГОВОР",
		"the ﬁle has a ligature":           "file ligature",
		"full width ＡＢＣＤ letters are here": "ＡＢＣＤ",
	} {
		w.finds(content, text)
	}
}

func recallStopWords(w *world) {
	w.fact("It is what it is, and that is all there is to it.")
	w.finds("The zebra crossed.", "what is the zebra and where is it")
	equal(w.found("what is the quagga and where is it"), nil, "hits of stop words and an unknown word")
}

func recallAnyWord(w *world) {
	w.fact("Breakfast is served at eight.")
	a, b := w.fact("The owl hunts mice."), w.fact("The cat hunts birds at night.")
	equal(sorted(w.found("owl or cat or unicorn")), sorted([]amber.MemoryID{a, b}), "hits of any of three words")
	both := w.found("cat night hunts")
	equal(both[0], b, "best hit of words that one memory has all of")
}

func recallOperators(w *world) {
	w.fact("Breakfast is served at eight.")
	want := []amber.MemoryID{w.fact("A tapestry hangs in the hall.")}
	for _, text := range []string{
		`"tapestry`, `tapestry"`, `"tapestry"`, `tapestry AND`, `NOT tapestry`, `-tapestry`, `+tapestry`, `tapestry*`, `^tapestry`,
		`content:tapestry`, `title:tapestry`, `{title}:tapestry`, `(tapestry`, `tapestry)`, `NEAR(tapestry`, `NEAR(tapestry, 3)`, `tapestry;`,
		`'tapestry'`, `tapestry'); DROP TABLE memories; --`, `tapestry%`, `tapestry_`, `\tapestry\`, `tapestry?`, `[tapestry]`, `/tapestry/`,
		`<tapestry>`, "`tapestry`", `tapestry||1`, `"tapestry" "zzz"`, `tapestry OR OR`, `AND OR NOT tapestry`,
		`tapes"try hall`, `O'Neil tapestry`, `don"t tapestry`, "tapestry\x01", `"""" tapestry`, `+tapestry -hall`,
	} {
		equal(w.found(text), want, "hits of %q", text)
	}
}

func recallNasty(w *world) {
	w.fact("Breakfast is served at eight.")
	for _, text := range []string{
		`"`, `""`, `"""`, `'`, `*`, `**`, `^`, `:`, `-`, `+`, `()`, `(`, `)`, `{`, `}`, `[`, `]`,
		`\`, `\\`, `%`, `_`, `;`, `--`, `/*`, `?`, `??1`, `$1`, `@p`,
		`AND`, `OR`, `NOT`, `NEAR`, `AND AND`, `NEAR(`, `NEAR/3`, `NEAR("a" "b", 2)`, `a AND`, `AND a`, `a OR`, `a NOT`, `col:`, `:col`, `a:b:c`,
		`"a" - "b"`, `"a"*`, `"a`, `a"b`, `a""b`, `' OR 1=1 --`, `'; DROP TABLE memories; --`, `x' UNION SELECT 1`,
		"\x01\x02", "\x1b[31m", "\u200b", "\u202e", "\ufeff", "\u0301", "😀", "👩‍👩‍👧", "\U0001F1F3\U0001F1F4",
		"\r\n", "...", "!!!", "—",
		strings.Repeat("a", 5000), strings.Repeat("word ", 3000), strings.Repeat(`"`, 1000), strings.Repeat("(", 1000),
		strings.Repeat("数", 4000),
		strings.Repeat("a ", amber.MaxQueryBytes/2), "İstanbul ıI", "ǅ ß ẞ", "0", "-1", "1e309", "0x00", "null", "true",
	} {
		got, err := w.LongTerm.Recall(w.ctx, amber.Query{Text: text, Explain: true})
		hold(err == nil, "recall of %q: %v", clipped(text), err)
		scored(got.Hits)
	}
	equal(len(w.found("breakfast")), 1, "hits after nasty queries")
}

func recallParts(w *world) {
	w.fact("Breakfast is served at eight.")
	for content, text := range map[string]string{
		"Project alpha starts in May.":                   "alph",
		"Look at RequestHandlerFactory first.":           "handlerfact",
		"The flag is called enable_quiet_mode today.":    "quiet_mo",
		"See internal/storage/pagemap.go for the layout": "pagema",
		"Ticket QUASAR-7781 is still open.":              "7781",
		"Kubernetes cluster":                             "bernet",
		"The alphabet has letters.":                      "alphabets",
		"SQLITE_BUSY_TIMEOUT is long.":                   "BUSY_TIME",
		"Call parseHTTPResponse here.":                   "httpresp",
	} {
		w.finds(content, text)
	}
	whole, part := w.fact("The word tern is a bird."), w.fact("The pattern is regular.")
	got := w.found("tern")
	hold(slices.Index(got, whole) == 0, "a whole word is not the best hit: %v of %v", got, []amber.MemoryID{whole, part})
}

// recallUnknownParts: a word that some memory has is not searched for inside longer words. The
// answer does not reveal whether another user has the word.
func recallUnknownParts(w *world) {
	part := []amber.MemoryID{w.fact("a pattern")}
	equal(w.found("tern"), part, "hits where no memory has the word")
	w.write(amber.WriteRequest{Content: "a tern", Scope: amber.ScopeUser, Identities: ids()})
	equal(w.found("tern"), part, "hits where a memory of somebody else has the word")
	whole := w.fact("another tern")
	equal(w.found("tern"), []amber.MemoryID{whole}, "hits where a memory has the word")
	must0(w.LongTerm.Delete(w.ctx, whole))
	equal(w.found("tern"), part, "hits where a deleted memory had the word")
}

func recallEveryField(w *world) {
	w.fact("Breakfast is served at eight.")
	id := w.write(amber.WriteRequest{
		Title: "Cluster", Topic: "infra", Tags: []string{"database"}, Summary: "Ask the caché team.", Content: "Kubernetes runs everything.",
	}).ID
	for _, text := range []string{"clusters", "infra", "databases", "cache", "running", "zeppelin bernet breakfas"} {
		hold(slices.Contains(w.found(text), id), "%q does not find the memory", text)
	}
	equal(w.found("ub"), nil, "hits of a part that is too short")
}

func recallCJK(w *world) {
	w.fact("Breakfast is served at eight.")
	w.fact("今天天气很好")
	for content, texts := range map[string][]string{
		"我们使用数据库存储用户信息":       {"数据库", "数据", "库", "用户信息", "数据库在哪里存储"},
		"東京タワーは港区にあります":       {"東京", "東京タワー", "タワー", "港", "港区"},
		"서울은 한국의 수도이다":        {"서울", "한국", "수도"},
		"版本 v2 发布于周五 release": {"发布", "release", "周五"},
	} {
		id := w.fact(content)
		for _, text := range texts {
			equal(w.found(text), []amber.MemoryID{id}, "hits of %q where only %q matches", text, content)
		}
		must0(w.LongTerm.Delete(w.ctx, id))
	}
	equal(w.found("飞机场"), nil, "hits of characters that nothing holds")
	equal(w.found("今气"), nil, "hits of characters that are not together")
}

func recallEmoji(w *world) {
	rocket := w.fact("we shipped the release 🚀")
	heart := w.fact("the team said ❤️ to the new build")
	plain := w.fact("nothing was shipped")
	coder := w.fact("👩\u200d💻 wrote it, 🇩🇪 reviewed it")
	find := func(text string) []amber.MemoryID {
		var out []amber.MemoryID
		for _, h := range w.recall(amber.Query{Text: text}) {
			out = append(out, h.ID)
		}
		return out
	}
	equal(find("🚀"), []amber.MemoryID{rocket}, "an emoji at the end of a text")
	equal(find("❤"), []amber.MemoryID{heart}, "an emoji without its selector")
	equal(find("❤️"), []amber.MemoryID{heart}, "an emoji with its selector")
	equal(find("💻"), []amber.MemoryID{coder}, "a part of a joined emoji")
	equal(find("🇩🇪"), []amber.MemoryID{coder}, "a flag")
	equal(find("🇫🇷"), nil, "another flag")
	equal(find("🎉"), nil, "an emoji nobody used")
	hold(slices.Contains(find("shipped 🚀"), plain) && find("shipped 🚀")[0] == rocket, "an emoji beside a word does not count")
}
