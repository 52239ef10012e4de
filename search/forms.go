package search

import (
	"iter"
	"maps"
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/amber-memory/amber/internal/analyze"
)

// A word of a question that no document has may be a part of one, or be misspelt. The
// forms of words say which terms it may have meant.

// What a variant is worth against the word itself.
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

// Variants returns the terms a word of a question may have meant that no document has.
// The nearest count; parts of words do where nothing is near.
func Variants(word string, forms iter.Seq[string]) []Variant {
	most, mask := edits(word), letters(word)
	runes := []rune(word)
	near, parts := map[string]float64{}, map[string]bool{}
	put := func(term string, share float64) { near[term] = max(near[term], share) }
	for form := range forms {
		if len(word) >= minPart && strings.Contains(form, word) {
			parts[analyze.Stem(form)] = true
			continue
		}
		if most == 0 || bits.OnesCount64(letters(form)^mask) > 2*most {
			continue
		}
		switch d := editDistance(runes, []rune(form), most); {
		case d == 1:
			put(analyze.Stem(form), shareOneEdit)
		case d == 2 && most == 2:
			put(analyze.Stem(form), shareTwoEdits)
		}
	}
	if len(near) == 0 {
		for term := range parts {
			put(term, sharePart)
		}
	}
	return sortedVariants(near)
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
