package search

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A long text is cut into passages of about so many words, at the end of a sentence where
// there is one, each with the last sentence of the one before.
const (
	cutWords  = 200
	maxParts  = 64 // of one text; the last one has the rest
	overlap   = 30 // words of a sentence that is repeated, at most
	longWords = 40 // a text without spaces counts a word for so many bytes
)

// Cut returns the passages of a text: at least one.
func Cut(text string) []string {
	if len(text) < 4*cutWords || words(text) <= cutWords+cutWords/4 {
		return []string{text}
	}
	var parts []string
	begin, last, count := 0, 0, 0 // of the part, of its last sentence, words of the part
	for _, end := range sentences(text) {
		n := words(text[last:end])
		if count > 0 && count+n > cutWords && len(parts) < maxParts-1 {
			parts = append(parts, strings.TrimSpace(text[begin:last]))
			begin = last
			if before := lastSentence(parts[len(parts)-1]); words(before) <= overlap {
				begin = strings.LastIndex(text[:last], before)
			}
			count = words(text[begin:last])
		}
		count += n
		last = end
	}
	return append(parts, strings.TrimSpace(text[begin:]))
}

// lastSentence returns the last sentence of a text.
func lastSentence(text string) string {
	ends := sentences(text)
	if len(ends) < 2 {
		return text
	}
	return strings.TrimSpace(text[ends[len(ends)-2]:])
}

// sentences returns where the sentences of a text end: behind a stop that space follows, at
// an empty line, and after too many words without either.
func sentences(text string) (ends []int) {
	begin, space := 0, 0
	for i, r := range text {
		next := i + utf8.RuneLen(max(r, 0))
		switch {
		case r == '\n', isStop(r) && atSpace(text[min(next, len(text)):], r):
			ends, begin, space = append(ends, next), next, next
			continue
		case unicode.IsSpace(r):
			space = next
		}
		if i-begin > longWords*cutWords/4 {
			at := space
			if at <= begin {
				at = next
			}
			ends, begin, space = append(ends, at), at, at
		}
	}
	if begin < len(text) {
		ends = append(ends, len(text))
	}
	return ends
}

func isStop(r rune) bool {
	switch r {
	case '.', '!', '?', '。', '！', '？':
		return true
	}
	return false
}

// atSpace reports whether a stop ends a sentence: full-width ones always do.
func atSpace(rest string, stop rune) bool {
	if stop > unicode.MaxLatin1 || rest == "" {
		return true
	}
	r, _ := utf8.DecodeRuneInString(rest)
	return unicode.IsSpace(r)
}

// words counts words; where there are few spaces, every so many bytes are one.
func words(text string) int {
	n, in := 0, false
	for _, r := range text {
		space := unicode.IsSpace(r)
		if !space && !in {
			n++
		}
		in = !space
	}
	return max(n, len(text)/longWords)
}

// lastWords returns the end of a text, n words at most.
func lastWords(text string, n int) string {
	fields := strings.Fields(text)
	return strings.Join(fields[max(0, len(fields)-n):], " ")
}
