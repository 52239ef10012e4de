package analyze

import (
	"slices"

	"github.com/amber-memory/amber/internal/recall/lang"
)

// Bounds on what one question may ask for.
const (
	maxWords = 32
	maxRuns  = 16
)

// Query is a question taken apart.
type Query struct {
	// Words are the content words in order of appearance: lower-case, without
	// diacritics, each stem once, at most 32. Stop words are left out unless
	// the question has nothing else. None holds a character of Runs.
	Words []string
	// Terse says that the question has words and no stop word, as what people type into a field for a search.
	Terse bool
	// Runs are the runs of Chinese, Japanese and Korean characters in order
	// of appearance without the phrases that questions are made of, and behind them
	// emoji and other signs, each once, at most 16.
	Runs []string
	// Related are words that people use for one of Words, none of them with
	// the stem of a word, and stop words of a language other than English, at most 64. They are looked for when Words and Runs
	// find too little.
	Related []string
}

// Parse takes a question apart. Every text is a question: quotes and
// operators only separate words.
func Parse(text string) Query {
	words, runs := Split(text)
	tag := lang.Of(text)
	q := Query{Runs: firstDistinct(withoutPhrases(tag, runs), maxRuns, func(s string) string { return s })}
	content := slices.DeleteFunc(slices.Clone(words), func(w string) bool { return isStopIn(tag, w) })
	q.Terse = len(runs) == 0 && len(words) > 0 && len(content) == len(words)
	if len(content) == 0 && len(runs) == 0 {
		content = words
	}
	q.Words = firstDistinct(content, maxWords, Stem)
	q.Related = relatedTo(q.Words)
	for _, w := range words {
		if len(q.Related) < maxRelated && !isStopWord(w) && isStopIn(tag, w) && !slices.Contains(q.Words, w) {
			q.Related = append(q.Related, w) // better than nothing
		}
	}
	return q
}

// Split returns every folded word of text, and its runs of ideographs and signs.
func Split(text string) (words, runs []string) {
	for t := range pieces(text) {
		switch {
		case t.class == ideograph:
			runs = append(runs, text[t.start:t.end])
		case !onlySigns(string(t.folded)):
			words = append(words, string(t.folded))
		}
	}
	return words, append(runs, signs(text)...)
}

// firstDistinct returns the first n strings with different keys.
func firstDistinct(all []string, n int, key func(string) string) []string {
	out := []string{}
	seen := map[string]bool{}
	for _, s := range all {
		if k := key(s); !seen[k] && len(out) < n {
			seen[k] = true
			out = append(out, s)
		}
	}
	return out
}
