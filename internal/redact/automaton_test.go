package redact

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestAutomaton compares the automaton with a search for each literal, on
// literals and texts of so few letters that they overlap in every way.
func TestAutomaton(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 0))
	word := func(n int) string {
		b := make([]byte, r.IntN(n)+1)
		for i := range b {
			b[i] = "abAB."[r.IntN(5)]
		}
		return string(b)
	}
	for range 300 {
		var literals []string
		for range r.IntN(12) + 1 {
			literals = append(literals, word(6))
		}
		text := word(80)
		a := newAutomaton(literals)
		got := make(map[int][]int)
		a.scan(text, 0, len(text), func(end int, found []int) int {
			got[end] = slices.Sorted(slices.Values(found))
			return end
		})
		if diff := cmp.Diff(places(text, literals), got); diff != "" {
			t.Fatalf("literals %q in %q (-want +got):\n%s", literals, text, diff)
		}
	}
}

// places returns, by where they end, the literals in text.
func places(text string, literals []string) map[int][]int {
	want := make(map[int][]int)
	for end := 1; end <= len(text); end++ {
		for i, l := range literals {
			if strings.HasSuffix(strings.ToLower(text[:end]), strings.ToLower(l)) {
				want[end] = append(want[end], i)
			}
		}
	}
	return want
}

func TestAutomatonSkips(t *testing.T) {
	t.Parallel()
	a := newAutomaton([]string{"ab", "longer"})
	var ends []int
	a.scan("ab ab longer ab", 1, 14, func(end int, _ []int) int {
		ends = append(ends, end)
		return end + 3 // into the next literal, which is then none
	})
	if diff := cmp.Diff([]int{5}, ends); diff != "" {
		t.Errorf("ends (-want +got):\n%s", diff)
	}
}

// TestAutomatonSize guards the types of its table: rows are numbered with 16
// bits, columns with 8.
func TestAutomatonSize(t *testing.T) {
	t.Parallel()
	r := New()
	for _, m := range []*matcher{r.shapes, r.settings} {
		if rows := len(m.literals.next) >> m.literals.shift; rows > 1<<16 || m.literals.shift > 8 {
			t.Errorf("the automaton has %d rows of %d columns", rows, 1<<m.literals.shift)
		}
	}
}

// TestClasses checks that no class of a secret holds what would break a
// marker, a string or an escape.
func TestClasses(t *testing.T) {
	t.Parallel()
	for _, c := range []*class{
		digits, hexLower, hexAny, lowerAlnum, upperAlnum, alnum, wordByte, urlSafe, dotted, base64Std, base64Pad, credential,
		nameByte, valueByte, cookieName, cookieHead, cookieValue, urlScheme, urlUser, urlPassword, netrcWord, loneHead, armourHeader,
	} {
		for _, b := range []byte("[]\"\\'`<{} \n") {
			if c.has[b] {
				t.Errorf("class %q holds %q", c.expr, b)
			}
		}
	}
}
