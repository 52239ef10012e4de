package search

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/recall/analyze"
	"github.com/amber-memory/amber/internal/test/must"
)

// plainVariants is the definition of variants, without the sets of letters that rule most
// words out.
func plainVariants(word string, forms []string) []Variant {
	most, near, parts := edits(word), map[string]float64{}, map[string]float64{}
	for _, form := range forms {
		switch d := editDistance([]rune(word), []rune(form), 2); {
		case len(word) >= minPart && strings.Contains(form, word):
			parts[analyze.Stem(form)] = sharePart
		case d == 1 && most >= 1:
			near[analyze.Stem(form)] = max(near[analyze.Stem(form)], shareOneEdit)
		case d == 2 && most == 2:
			near[analyze.Stem(form)] = max(near[analyze.Stem(form)], shareTwoEdits)
		}
	}
	if len(near) == 0 {
		near = parts
	}
	return sortedVariants(near)
}

// No word that a misspelt one may have meant is ruled out.
func TestNoVariantIsRuledOut(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 5))
	letter := []rune("abcdeé世\u0301")
	word := func() string {
		w := make([]rune, 1+r.IntN(9))
		for i := range w {
			w[i] = letter[r.IntN(len(letter))]
		}
		return string(w)
	}
	found := 0
	for range 400 {
		forms := make([]string, 100)
		for i := range forms {
			forms[i] = word()
		}
		cut := r.IntN(len(forms))
		all := []vocabulary{newVocabulary(slices.Clone(forms[:cut])), newVocabulary(slices.Clone(forms[cut:]))}
		w := word()
		got := variants(w, all)
		must.Equal(t, w, got, plainVariants(w, forms))
		found += len(got)
	}
	must.Hold(t, found > 300, "only %d variants were found", found)
}

func TestTextsComeBack(t *testing.T) {
	t.Parallel()
	for _, texts := range [][]string{{}, {""}, {"a", "ab", "abc", "b", ""}, {"same", "same", "sam", "世界", "世紀"}} {
		got := must.Get(openTexts(marshalTexts(texts)))(t)
		must.Equal(t, "texts", got, texts)
	}
}

// A few bytes can claim to be more text than there is memory.
func TestTextsAreBounded(t *testing.T) {
	t.Parallel()
	b := marshalTexts([]string{"abcd", "abcd", "abcd", "abce"})
	for most := range uint64(20) {
		r := varints{b: b}
		got := r.texts(most)
		must.Equal(t, "read", len(got) == 4 && !r.bad, most >= 16)
	}
	for _, bad := range []string{"\x01", "\x01\x01\x00", "\x01\x00\x02a", "\x05\x00\x01a", "\x01\x00\x01ab"} {
		must.Error(t, bad, must.Err(openTexts([]byte(bad))))
	}
}
