package analyze

import (
	"strings"
	"unicode/utf8"
)

// maxTermBytes is where FTS5 cuts a term.
const maxTermBytes = 32768

// Terms returns the index terms of text in order of appearance, folded and
// stemmed. For valid UTF-8 they equal, byte for byte, what FTS5 makes of it.
// Characters of scripts written without spaces stay inside the token they
// touch, as they do there.
func Terms(text string) []string {
	terms := []string{}
	for t := range tokens(text) {
		terms = append(terms, bounded(Stem(string(t.folded))))
	}
	return terms
}

// EachPlain calls fn with every folded word of a text of ASCII alone, and its stem: what Terms
// and Split find in it, read once. It reports whether the text is one.
func EachPlain(text string, fn func(word, stem string)) bool {
	if !isASCII(text) {
		return false
	}
	lower := strings.ToLower(text)
	for begin, i := 0, 0; i <= len(lower); i++ {
		if i < len(lower) && classOf(rune(lower[i])) == letter {
			continue
		}
		if word := bounded(lower[begin:i]); word != "" {
			fn(word, Stem(word))
		}
		begin = i + 1
	}
	return true
}

// Glued returns the folded words of text that touch characters of a script
// written without spaces, as in 使用Redis缓存. Terms has them only as part of
// a longer token, so an index that shall find them keeps them apart.
func Glued(text string) []string {
	glued := []string{}
	if isASCII(text) {
		return glued
	}
	end, last := 0, separator
	word := ""
	for t := range pieces(text) {
		touches := t.start == end && t.start > 0
		if touches && last == ideograph && t.class == letter {
			glued = append(glued, string(t.folded))
		}
		if touches && last == letter && t.class == ideograph && word != "" {
			glued = append(glued, word)
		}
		word = ""
		if t.class == letter && !(touches && last == ideograph) {
			word = string(t.folded)
		}
		end, last = t.end, t.class
	}
	return glued
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// bounded cuts a term that is too long.
func bounded(s string) string { return s[:min(len(s), maxTermBytes)] }

// Fold returns s in lower case and without diacritics, so that two texts can
// be compared part by part. It equals what FTS5's trigram tokenizer compares
// when it folds diacritics.
func Fold(s string) string {
	buf := make([]byte, 0, len(s))
	for _, r := range s {
		buf = appendFolded(buf, r)
	}
	return string(buf)
}

// Grams returns the overlapping parts of n characters of run in order, each
// once; the whole run where it is shorter, and none of an empty one.
func Grams(run string, n int) []string {
	grams := []string{}
	seen := map[string]bool{}
	for part := range windows(run, max(n, 1)) {
		if !seen[part] {
			seen[part] = true
			grams = append(grams, part)
		}
	}
	return grams
}

// windows yields every part of n characters of s, or s itself if it has
// fewer.
func windows(s string, n int) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		end := 0
		for range n {
			_, size := utf8.DecodeRuneInString(s[end:])
			end += size
		}
		for start := 0; start < end; {
			if !yield(s[start:end]) || end == len(s) {
				return
			}
			_, first := utf8.DecodeRuneInString(s[start:])
			_, next := utf8.DecodeRuneInString(s[end:])
			start, end = start+first, end+next
		}
	}
}

// collapse turns every run of white space into one space, and what is not
// valid UTF-8 into U+FFFD.
func collapse(s string) string {
	return strings.Join(strings.Fields(strings.ToValidUTF8(s, "\uFFFD")), " ")
}
