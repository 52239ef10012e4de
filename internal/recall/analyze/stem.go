package analyze

import "strings"

// FTS5 leaves shorter and longer words alone.
const (
	minStemBytes = 3
	maxStemBytes = 64
)

// suffixRule replaces a suffix where the stem before it is long enough.
type suffixRule struct {
	suffix, with string
	applies      func(stem string) bool
}

// The steps of M. F. Porter, "An algorithm for suffix stripping" (1980), with
// the two departures of his own later program, bli and logi, that FTS5 takes
// over. In each step the first suffix that matches decides, whether its rule
// applies or not.
var (
	step2 = rules([]suffixRule{
		{"ational", "ate", hasMeasure},
		{"tional", "tion", hasMeasure},
		{"enci", "ence", hasMeasure},
		{"anci", "ance", hasMeasure},
		{"izer", "ize", hasMeasure},
		{"logi", "log", hasMeasure},
		{"bli", "ble", hasMeasure},
		{"alli", "al", hasMeasure},
		{"entli", "ent", hasMeasure},
		{"eli", "e", hasMeasure},
		{"ousli", "ous", hasMeasure},
		{"ization", "ize", hasMeasure},
		{"ation", "ate", hasMeasure},
		{"ator", "ate", hasMeasure},
		{"alism", "al", hasMeasure},
		{"iveness", "ive", hasMeasure},
		{"fulness", "ful", hasMeasure},
		{"ousness", "ous", hasMeasure},
		{"aliti", "al", hasMeasure},
		{"iviti", "ive", hasMeasure},
		{"biliti", "ble", hasMeasure},
	})
	step3 = rules([]suffixRule{
		{"ical", "ic", hasMeasure},
		{"ness", "", hasMeasure},
		{"icate", "ic", hasMeasure},
		{"iciti", "ic", hasMeasure},
		{"ful", "", hasMeasure},
		{"ative", "", hasMeasure},
		{"alize", "al", hasMeasure},
	})
	step4 = rules([]suffixRule{
		{"al", "", isLong},
		{"ance", "", isLong},
		{"ence", "", isLong},
		{"er", "", isLong},
		{"ic", "", isLong},
		{"able", "", isLong},
		{"ible", "", isLong},
		{"ant", "", isLong},
		{"ement", "", isLong},
		{"ment", "", isLong},
		{"ent", "", isLong},
		{"ion", "", isLongEndingST},
		{"ou", "", isLong},
		{"ism", "", isLong},
		{"ate", "", isLong},
		{"iti", "", isLong},
		{"ous", "", isLong},
		{"ive", "", isLong},
		{"ize", "", isLong},
	})
)

// byEnd are the rules of a step by the last byte of their suffixes, in their order.
type byEnd [256][]suffixRule

func rules(all []suffixRule) *byEnd {
	var b byEnd
	for _, r := range all {
		end := r.suffix[len(r.suffix)-1]
		b[end] = append(b[end], r)
	}
	return &b
}

// Stem returns the stem of a folded word by Porter's algorithm, byte for byte
// as FTS5's porter tokenizer makes it: English suffixes go, words under 3 or
// over 64 bytes stay as they are, and bytes of other scripts count as
// consonants.
func Stem(word string) string {
	if len(word) < minStemBytes || len(word) > maxStemBytes {
		return word
	}
	w := stripPast(stripPlural(word))
	if rest, ok := strings.CutSuffix(w, "y"); ok && hasVowel(rest) {
		w = rest + "i"
	}
	for _, step := range [...]*byEnd{step2, step3, step4} {
		w = applyFirst(step[w[len(w)-1]], w)
	}
	return dropFinal(w)
}

// applyFirst applies the rule of the first suffix that w has.
func applyFirst(rules []suffixRule, w string) string {
	for _, r := range rules {
		stem, ok := cutSuffix(w, r.suffix)
		switch {
		case !ok:
			continue
		case r.applies(stem):
			return stem + r.with
		}
		return w
	}
	return w
}

// cutSuffix is strings.CutSuffix for a suffix that is not the whole word.
func cutSuffix(w, suffix string) (string, bool) {
	if len(w) <= len(suffix) {
		return w, false
	}
	return strings.CutSuffix(w, suffix)
}

// stripPlural is step 1a.
func stripPlural(w string) string {
	n := len(w)
	switch {
	case w[n-1] != 's':
		return w
	case w[n-2] == 'e':
		if n > 4 && w[n-4:n-2] == "ss" || n > 3 && w[n-3] == 'i' {
			return w[:n-2]
		}
		return w[:n-1]
	case w[n-2] == 's':
		return w
	}
	return w[:n-1]
}

// stripPast is step 1b.
func stripPast(w string) string {
	if stem, ok := cutSuffix(w, "eed"); ok {
		if hasMeasure(stem) {
			return stem + "ee"
		}
		return w
	}
	for _, suffix := range []string{"ed", "ing"} {
		if stem, ok := cutSuffix(w, suffix); ok && hasVowel(stem) {
			return repairEnd(stem)
		}
	}
	return w
}

// repairEnd gives a stem that lost "ed" or "ing" the ending it had before:
// conflat(ed) an e, hopp(ing) one p.
func repairEnd(w string) string {
	for _, end := range []string{"at", "bl", "iz"} {
		if _, ok := cutSuffix(w, end); ok {
			return w + "e"
		}
	}
	n := len(w)
	last := w[n-1]
	switch {
	case n > 1 && last == w[n-2] && !isVowel(last, false) && last != 'l' && last != 's' && last != 'z':
		return w[:n-1]
	case isShort(w) && endsCVC(w):
		return w + "e"
	}
	return w
}

// dropFinal is step 5: a final e and one of two final l.
func dropFinal(w string) string {
	if stem, ok := strings.CutSuffix(w, "e"); ok && (isLong(stem) || isShort(stem) && !endsCVC(stem)) {
		w = stem
	}
	if strings.HasSuffix(w, "ll") && isLong(w[:len(w)-1]) {
		w = w[:len(w)-1]
	}
	return w
}

// measure counts the vowel-consonant sequences of w, up to 2.
func measure(w string) int {
	n, consonant, wasVowel := 0, false, false
	for i := range len(w) {
		consonant = !isVowel(w[i], consonant)
		if consonant && wasVowel {
			if n++; n == 2 {
				return n
			}
		}
		wasVowel = !consonant
	}
	return n
}

func hasMeasure(stem string) bool { return measure(stem) > 0 }

func isShort(stem string) bool { return measure(stem) == 1 }

func isLong(stem string) bool { return measure(stem) > 1 }

func isLongEndingST(stem string) bool {
	last := stem[len(stem)-1]
	return (last == 's' || last == 't') && isLong(stem)
}

func hasVowel(stem string) bool {
	for i := range len(stem) {
		if isVowel(stem[i], i > 0) {
			return true
		}
	}
	return false
}

// endsCVC reports whether stem ends consonant, vowel, consonant, the last one
// not w, x or y.
func endsCVC(stem string) bool {
	n := len(stem)
	if n < 3 || stem[n-1] == 'w' || stem[n-1] == 'x' || stem[n-1] == 'y' {
		return false
	}
	pattern, consonant := 0, false
	for i := range n {
		consonant = !isVowel(stem[i], consonant)
		pattern = pattern << 1 & 0b111
		if consonant {
			pattern |= 1
		}
	}
	return pattern == 0b101
}

// isVowel reports whether c is a vowel; y is one only after a consonant.
func isVowel(c byte, afterConsonant bool) bool {
	switch c {
	case 'a', 'e', 'i', 'o', 'u':
		return true
	}
	return c == 'y' && afterConsonant
}
