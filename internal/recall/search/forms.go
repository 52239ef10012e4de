package search

import (
	"maps"
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/amber-memory/amber/internal/recall/analyze"
)

// A word of a question that no document has may be a part of one, or be misspelt. The
// forms of words say which terms it may have meant.

// The shares are how much a variant is worth against the word itself.
const (
	shareOneEdit  = 0.75
	shareTwoEdits = 0.55
	sharePart     = 0.5
)

// minPart is the length of the shortest part of a word that is looked for.
const minPart = 3

// edits is how many edits away a word may be: none when it is short.
func edits(word string) int {
	switch n := utf8.RuneCountInString(word); {
	case n < 4:
		return 0
	case n < 8:
		return 1
	default:
		return 2
	}
}

// vocabulary is words, each with the set of its letters: most are ruled out by it.
type vocabulary struct {
	words   []string
	letters []uint64
}

// newVocabulary returns the words of terms. It takes over the slice of terms.
func newVocabulary(terms []string) vocabulary {
	v := vocabulary{terms[:0], make([]uint64, 0, len(terms))}
	for _, t := range terms {
		if w, ok := vocable(t); ok {
			v.words, v.letters = append(v.words, w), append(v.letters, letters(w))
		}
	}
	return v
}

// variants returns the terms that a word of a question may have meant which none of the
// vocabularies has. The nearest count; parts of words do where nothing is near.
func variants(word string, all []vocabulary) []Variant {
	f := finder{word: word, runes: []rune(word), mask: letters(word), most: edits(word), near: map[string]float64{}, parts: map[string]bool{}}
	for _, v := range all {
		for i, form := range v.words {
			f.look(form, v.letters[i])
		}
	}
	if len(f.near) == 0 {
		for term := range f.parts {
			f.put(term, sharePart)
		}
	}
	return sortedVariants(f.near)
}

// finder looks for what a word may have meant.
type finder struct {
	word  string
	runes []rune
	mask  uint64
	most  int // edits
	near  map[string]float64
	parts map[string]bool
}

func (f *finder) put(term string, share float64) { f.near[term] = max(f.near[term], share) }

// look looks at a form that has these letters.
func (f *finder) look(form string, has uint64) {
	if f.mask&^has == 0 && len(f.word) >= minPart && strings.Contains(form, f.word) {
		f.parts[analyze.Stem(form)] = true
		return
	}
	if f.most == 0 || bits.OnesCount64(has^f.mask) > 2*f.most {
		return
	}
	switch d := editDistance(f.runes, []rune(form), f.most); {
	case d == 1:
		f.put(analyze.Stem(form), shareOneEdit)
	case d == 2 && f.most == 2:
		f.put(analyze.Stem(form), shareTwoEdits)
	}
}

// letters is a set of the letters of a word, some of which share a bit. An edit changes
// at most two of them.
func letters(word string) (mask uint64) {
	for _, r := range word {
		mask |= 1 << (uint32(r) & 63)
	}
	return mask
}

// editDistance is the number of letters that have to be changed, added, taken away or
// swapped with their neighbour to make b of a, or more than most.
func editDistance(a, b []rune, most int) int {
	if d := len(a) - len(b); d > most || -d > most {
		return most + 1
	}
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	now := make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		now[0] = i
		least := i
		for j := 1; j <= len(b); j++ {
			change := last[j-1]
			if a[i-1] != b[j-1] {
				change++
			}
			now[j] = min(change, last[j]+1, now[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				now[j] = min(now[j], before[j-2]+1)
			}
			least = min(least, now[j])
		}
		if least > most {
			return most + 1
		}
		before, last, now = last, now, before
	}
	return last[len(b)]
}

func sortedVariants(shares map[string]float64) []Variant {
	out := make([]Variant, 0, len(shares))
	for _, term := range slices.Sorted(maps.Keys(shares)) {
		out = append(out, Variant{term, shares[term]})
	}
	return out
}
