package analyze

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds on the words of a question that are written together.
const (
	maxTogether      = 4  // words in one
	maxTogetherBytes = 40 // of one
	maxTogetherOf    = 24 // tokens of a question that is looked at
)

// Together is neighbouring words of a question written as one: identifiers are, as maxRetryDelay.
type Together struct {
	Word string   // all of it, folded
	Of   []string // the content words in it, folded
}

// EachTogether returns the neighbouring words of a question written as one. Those that begin or end with a word that does not
// count, and questions of many words, which are no names, have none.
func EachTogether(text string) (all []Together) {
	words, _ := Split(text)
	if len(words) > maxTogetherOf {
		return nil
	}
	counts := func(w string) bool { return !isStopWord(w) }
	for i := range words {
		if !counts(words[i]) {
			continue
		}
		t := Together{Word: words[i], Of: []string{words[i]}}
		for k := i + 1; k < min(len(words), i+maxTogether); k++ {
			if t.Word += words[k]; len(t.Word) > maxTogetherBytes {
				break
			}
			if counts(words[k]) {
				t.Of = append(slices.Clone(t.Of), words[k])
				all = append(all, t)
			}
		}
	}
	return all
}

// Borders returns the parts of the words of a text that are written as one, folded, under the folded word: dbPoolMax is db, pool
// and max, HTTP409 http and 409. Words without such borders have none.
func Borders(text string) map[string][]string {
	all := map[string][]string{}
	for t := range pieces(text) {
		if t.class != letter {
			continue
		}
		if parts := borders(text[t.start:t.end]); len(parts) > 1 {
			all[string(t.folded)] = parts
		}
	}
	return all
}

// borders cuts a word before a capital letter behind a small one, before the last capital of several that a small letter follows,
// and between letters and digits.
func borders(word string) (parts []string) {
	begin := 0
	cut := func(at int) {
		if p := Fold(word[begin:at]); p != "" {
			parts = append(parts, p)
		}
		begin = at
	}
	var before, last rune
	lastAt := 0
	for i, r := range word {
		switch {
		case i == 0:
		case unicode.IsDigit(r) != unicode.IsDigit(last), unicode.IsUpper(r) && unicode.IsLower(last):
			cut(i)
		case unicode.IsLower(r) && unicode.IsUpper(last) && unicode.IsUpper(before) && lastAt > begin:
			cut(lastAt)
		}
		before, last, lastAt = last, r, i
	}
	cut(len(word))
	return parts
}

// Named reports for each folded word of a text that is a name rather than language that it is one: it has digits, or is written with
// capitals inside, or stands in a name with others, as those of db_pool and of conf.d/proxy.conf do.
func Named(text string) map[string]bool {
	named := map[string]bool{}
	for field := range strings.FieldsSeq(text) {
		words, _ := Split(field)
		together := len(words) > 1 && strings.ContainsAny(strings.Trim(field, ".,;:!?'\"()"), "_/.#:\\")
		for _, w := range words {
			if together && utf8.RuneCountInString(w) > 1 || strings.ContainsFunc(w, unicode.IsDigit) {
				named[w] = true
			}
		}
		for w := range Borders(field) {
			named[w] = true
		}
	}
	return named
}
