package analyze

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/amber-memory/amber/internal/base/clip"
)

const ellipsis = "…"

// gramSize is how many characters of a run are looked for at a time.
const gramSize = 2

// Snippet returns a part of content of at most limit bytes, on whole
// characters, with white space collapsed to single spaces: the part where the
// words and runs of q stand closest together, or the beginning where nothing
// matches. A cut end shows as "…" unless limit is too small for it.
func Snippet(content string, q Query, limit int) string {
	text := collapse(content)
	if len(text) <= limit {
		return text
	}
	if limit < 4*len(ellipsis) {
		return clip.Bytes(text, limit)
	}
	first, last := densest(findMatches(text, q), limit-2*len(ellipsis))
	return excerpt(text, first, last, limit)
}

// match is one place where a part of the query was found.
type match struct {
	start, end int
	key        int // which part of the query
}

// findMatches returns the matches of q in text by their place.
func findMatches(text string, q Query) []match {
	found := findWords(text, q.Words)
	key := len(q.Words)
	for _, run := range q.Runs {
		for _, gram := range Grams(run, gramSize) {
			for at := range occurrences(text, gram) {
				found = append(found, match{at, at + len(gram), key})
			}
			key++
		}
	}
	slices.SortStableFunc(found, func(a, b match) int { return a.start - b.start })
	return found
}

func findWords(text string, words []string) []match {
	if len(words) == 0 {
		return nil
	}
	stems := map[string]int{}
	for i, w := range words {
		stems[Stem(w)] = i
	}
	var found []match
	for t := range pieces(text) {
		if t.class != letter {
			continue
		}
		if key, ok := matchToken(t.folded, stems, words); ok {
			found = append(found, match{t.start, t.end, key})
		}
	}
	return found
}

// matchToken returns the word of the query that a token matches: by its stem, or
// because the token contains the word.
func matchToken(folded []byte, stems map[string]int, words []string) (int, bool) {
	if key, ok := stems[Stem(string(folded))]; ok {
		return key, true
	}
	for key, w := range words {
		if utf8.RuneCountInString(w) >= 3 && bytes.Contains(folded, []byte(w)) {
			return key, true
		}
	}
	return 0, false
}

// occurrences yields where part begins in text, without overlaps.
func occurrences(text, part string) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		for from := 0; ; {
			i := strings.Index(text[from:], part)
			if i < 0 || !yield(from+i) {
				return
			}
			from += i + len(part)
		}
	}
}

// densest returns where the best group of matches that fits into width bytes
// begins and ends: most different parts of the query, then most matches, then
// the earliest. It is 0, 0 where there is none.
func densest(found []match, width int) (start, end int) {
	count := map[int]int{}
	bestDistinct, bestTotal := 0, 0
	for lo, hi := 0, 0; hi < len(found); hi++ {
		count[found[hi].key]++
		for lo < hi && found[hi].end-found[lo].start > width {
			if k := found[lo].key; count[k] == 1 {
				delete(count, k)
			} else {
				count[k]--
			}
			lo++
		}
		distinct, total := len(count), hi-lo+1
		if distinct > bestDistinct || distinct == bestDistinct && total > bestTotal {
			bestDistinct, bestTotal = distinct, total
			start, end = found[lo].start, found[hi].end
		}
	}
	return start, end
}

// excerpt cuts text to at most limit bytes around the bytes from first to last.
func excerpt(text string, first, last, limit int) string {
	width := limit - 2*len(ellipsis)
	start := first - max(width-(last-first), 0)/2
	if start <= len(ellipsis) {
		return head(text, last, limit)
	}
	if tail := len(text) - width - len(ellipsis); start >= tail {
		return ellipsis + text[wordStart(text, tail, first):]
	}
	start = wordStart(text, start, first)
	return ellipsis + head(text[start:], last-start, limit-len(ellipsis))
}

// head returns the beginning of text in at most limit bytes, the cut marked. It
// ends with a whole word unless that would cut into the first keep bytes or
// give up a quarter of it.
func head(text string, keep, limit int) string {
	if len(text) <= limit {
		return text
	}
	part := clip.Bytes(text, limit-len(ellipsis))
	if i := strings.LastIndexByte(part, ' '); text[len(part)] != ' ' && i >= keep && i > len(part)*3/4 {
		part = part[:i]
	}
	return strings.TrimSuffix(part, " ") + ellipsis
}

// wordStart returns the first start of a word at or after from that is not
// after last, or of a character where no word starts there.
func wordStart(text string, from, last int) int {
	for from < len(text) && !utf8.RuneStart(text[from]) {
		from++
	}
	if from > 0 && text[from-1] == ' ' {
		return from
	}
	if from < last {
		if i := strings.IndexByte(text[from:last], ' '); i >= 0 {
			return from + i + 1
		}
	}
	return from
}
