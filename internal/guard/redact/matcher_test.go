package redact

import (
	"encoding/base64"
	"math/rand/v2"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber/internal/test/must"
)

// TestMatcher compares the places where rules are tried with a search for each
// anchor, on anchors and texts of so few letters that they overlap in every
// way.
func TestMatcher(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 0))
	word := func(least, n int) string {
		b := make([]byte, r.IntN(n)+least)
		for i := range b {
			b[i] = "abAB._"[r.IntN(6)]
		}
		return string(b)
	}
	for range 300 {
		var rules []rule
		var got []place
		for i := range r.IntN(12) + 1 {
			rules = append(rules, rule{
				anchors: []string{word(keySize, 4), word(keySize, 4)},
				finder: func(_ view, at int, found []span) []span {
					got = append(got, place{at, i})
					return found
				},
			})
		}
		fold := r.IntN(2) == 0
		text := word(0, 80)
		m := newMatcher([][]rule{rules}, fold)
		if found := m.pass(view{text: text, hi: len(text)}, nil); len(found) > 0 {
			t.Fatalf("found %v", found)
		}
		if diff := cmp.Diff(places(text, rules, fold), got, cmp.AllowUnexported(place{})); diff != "" {
			t.Fatalf("anchors in %q (-want +got):\n%s", text, diff)
		}
	}
}

// place is where a rule is tried.
type place struct{ at, rule int }

// places returns where rules must be tried: by place, longer anchors first.
func places(text string, rules []rule, fold bool) []place {
	if fold {
		text = strings.ToLower(text)
	}
	var want []place
	for at := range text {
		size := make(map[place][]int)
		var here []place
		for i, r := range rules {
			for _, anchor := range r.anchors {
				if fold {
					anchor = strings.ToLower(anchor)
				}
				if strings.HasPrefix(text[at:], anchor) {
					here = append(here, place{at, i})
					size[place{at, i}] = append(size[place{at, i}], len(anchor))
				}
			}
		}
		want = append(want, byLength(here, size)...)
	}
	return want
}

// byLength sorts places by the lengths of their anchors, longest first.
func byLength(here []place, size map[place][]int) []place {
	type sized struct {
		place
		size int
	}
	var all []sized
	for _, p := range here {
		all = append(all, sized{p, size[p][0]})
		size[p] = size[p][1:]
	}
	slices.SortStableFunc(all, func(a, b sized) int { return b.size - a.size })
	var sorted []place
	for _, s := range all {
		sorted = append(sorted, s.place)
	}
	return sorted
}

// TestMatcherPassesOverSecrets tries no rule inside a secret, nor one whose
// anchor reaches into it, and takes a secret that lies ahead when it gets
// there.
func TestMatcherPassesOverSecrets(t *testing.T) {
	t.Parallel()
	var tried []int
	rules := []rule{
		{name: "ahead", anchors: []string{"far"}, finder: func(_ view, at int, found []span) []span {
			return append(found, span{at + 8, at + 16, "ahead"}, span{at + 20, at + 24, "ahead"})
		}},
		{name: "near", anchors: []string{"abc"}, finder: func(v view, at int, found []span) []span {
			tried = append(tried, at, v.lo, v.hi)
			return append(found, span{at, at + 3, "near"})
		}},
	}
	text := "far.abcabcabcxxxabc.abcdabc"
	found := newMatcher([][]rule{rules}, false).pass(view{text: text, hi: len(text)}, nil)
	want := []span{{4, 7, "near"}, {8, 16, "ahead"}, {16, 19, "near"}, {20, 24, "ahead"}, {24, 27, "near"}}
	must.Equal(t, "found", found, want, cmp.AllowUnexported(span{}))
	must.Equal(t, "places and views", tried, []int{4, 0, 8, 16, 16, 20, 24, 24, 27})
}

// TestRuleTables checks what the matcher and the rules take for granted.
func TestRuleTables(t *testing.T) {
	t.Parallel()
	for _, r := range slices.Concat(slices.Concat(shapeRules...), slices.Concat(settingRules...)) {
		for _, anchor := range r.anchors {
			if len(anchor) < keySize {
				t.Errorf("%s: the anchor %q is shorter than a key", r.name, anchor)
			}
		}
		must.Equal(t, r.name+": pattern, chars or finder", ways(&r), 1)
		if r.chars != nil && r.body == 0 {
			t.Errorf("%s: a head of no bytes", r.name)
		}
		if r.pattern == "" {
			continue
		}
		expr, err := syntax.Parse(r.pattern, syntax.Perl)
		if err != nil {
			t.Errorf("%s: %v", r.name, err)
			continue
		}
		must.Equal(t, r.name, r.least, shortest(expr))
	}
}

// ways counts how a rule says what it finds.
func ways(r *rule) int {
	n := 0
	for _, has := range []bool{r.pattern != "", r.chars != nil, r.finder != nil} {
		if has {
			n++
		}
	}
	return n
}

// shortest returns the length of the shortest text e matches.
func shortest(e *syntax.Regexp) int {
	sum, least := 0, 1<<20
	for _, sub := range e.Sub {
		n := shortest(sub)
		sum, least = sum+n, min(least, n)
	}
	switch e.Op {
	case syntax.OpLiteral:
		return len(string(e.Rune))
	case syntax.OpCharClass:
		return 1
	case syntax.OpStar, syntax.OpQuest:
		return 0
	case syntax.OpRepeat:
		return sum * e.Min
	case syntax.OpAlternate:
		return least
	}
	return sum
}

// TestClasses checks that no class of a secret holds what would break a
// marker, a string or an escape.
func TestClasses(t *testing.T) {
	t.Parallel()
	all := []*class{
		&digits, &hexLower, &hexAny, &lowerAlnum, &upperAlnum, &alnum, &wordByte, &urlSafe, &dotted, &base64Std, &base64Pad, &credential,
		&nameByte, &valueByte, &cookieName, &cookieHead, &cookieValue, &urlScheme, &urlUser, &urlPassword, &netrcWord, &loneHead, &armourHeader,
	}
	for _, r := range slices.Concat(shapeRules...) {
		for _, c := range []*class{r.chars, r.lead, r.tail} {
			if c != nil {
				all = append(all, c)
			}
		}
	}
	for _, c := range all {
		for _, b := range []byte("[]\"\\'`<{} \n") {
			if c.has[b] {
				t.Errorf("class %v holds %q", c.has, b)
			}
		}
	}
}

// TestSnowflakes checks the anchors against what they are: the first bytes of
// every number in base64.
func TestSnowflakes(t *testing.T) {
	t.Parallel()
	var want []string
	for n := 10; n < 100; n++ {
		want = append(want, base64.StdEncoding.EncodeToString([]byte(strconv.Itoa(n) + "0"))[:keySize])
	}
	slices.Sort(want)
	must.Equal(t, "anchors", slices.Sorted(slices.Values(snowflakes)), want)
}
