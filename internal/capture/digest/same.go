package digest

import (
	"slices"
	"strings"

	"github.com/amber-memory/amber/internal/recall/analyze"
)

// overlapping is the share of common words from which on two texts say the same.
const overlapping = 0.8

// Text is a text taken apart, to be compared with others.
type Text struct {
	terms    []string // in order
	distinct []string // sorted
	numbers  []string
	subject  []string
	negated  bool
	raw      string
}

// Parse takes a text apart.
func Parse(s string) Text {
	t := Text{raw: s, terms: analyze.Content(s), subject: subject(s), negated: negated(s)}
	t.distinct = distinct(t.terms)
	t.numbers = numbers(t.distinct)
	return t
}

// Same reports whether two texts say the same: their words are equal, or nearly all
// of them are and neither contradicts the other.
func (t Text) Same(u Text) bool {
	if slices.Equal(t.terms, u.terms) {
		return (len(t.terms) > 0 || t.raw == u.raw) && t.negated == u.negated
	}
	short, long := min(len(t.distinct), len(u.distinct)), max(len(t.distinct), len(u.distinct))
	if float64(short) < overlapping*float64(long) {
		return false
	}
	return overlap(t.distinct, u.distinct) >= overlapping && slices.Equal(t.numbers, u.numbers) && !t.Contradicts(u)
}

// overlap returns the share of words that two sorted lists have in common.
func overlap(a, b []string) float64 {
	common := 0
	for _, w := range a {
		if _, found := slices.BinarySearch(b, w); found {
			common++
		}
	}
	return float64(common) / float64(max(len(a)+len(b)-common, 1))
}

// numbers returns the words with a digit.
func numbers(terms []string) (out []string) {
	for _, w := range terms {
		if strings.ContainsAny(w, "0123456789") {
			out = append(out, w)
		}
	}
	return out
}

// Contradicts reports whether two texts say different things about one subject. The
// rule is narrow, since the older text counts less from then on: nearly all words
// are equal and one text has a negation where the other has none, or all words are
// equal but for one value, as in "use npm to install packages" and "use yarn to
// install packages".
func (t Text) Contradicts(u Text) bool {
	if t.negated == u.negated {
		return otherValue(t.subject, u.subject)
	}
	a, b := subjectTerms(t.subject), subjectTerms(u.subject)
	return min(len(a), len(b)) >= 3 && overlap(a, b) >= 0.75
}

func subjectTerms(words []string) []string {
	return distinct(analyze.Content(strings.Join(words, " ")))
}

// otherValue reports whether two lists of words differ in one value only: a few
// words behind one that says that a value follows. Two content words must be equal.
func otherValue(x, y []string) bool {
	const longest = 4 // words of a value
	from := 0
	for from < min(len(x), len(y)) && x[from] == y[from] {
		from++
	}
	end := 0
	for end < min(len(x), len(y))-from && x[len(x)-1-end] == y[len(y)-1-end] {
		end++
	}
	m, n := len(x)-from-end, len(y)-from-end
	if m < 1 || n < 1 || m > longest || n > longest || from == 0 || !valued[x[from-1]] {
		return false
	}
	equal := distinct(analyze.Content(strings.Join(slices.Concat(x[:from-1], x[len(x)-end:]), " ")))
	return len(equal) >= 2
}

// valued are words behind which a value stands.
var valued = set("use uses using used with prefer prefers choose chose pick via is are be to at by called named below under over above than most least every after within on = into from limit port version")

// fillers are words that change nothing about what a sentence says.
var fillers = set("from-now-on always please we the a an our should must have has let's now today then just also again will i you so ok and")

// negations turn a sentence around.
var negations = set("not no never without none nothing cannot stop avoid neither nor don't doesn't didn't can't won't mustn't shouldn't isn't aren't wasn't wouldn't couldn't haven't hasn't")

func set(list string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(list) {
		out[w] = true
	}
	return out
}

// negated reports whether a text has an odd number of negations.
func negated(s string) bool {
	n := 0
	for _, w := range words(s) {
		if negations[w] {
			n++
		}
	}
	return n%2 == 1
}

// subject returns the words of a text without negations and fillers.
func subject(s string) []string {
	s = strings.ReplaceAll(strings.ReplaceAll(strings.ToLower(s), "`", ""), "from now on", "from-now-on")
	list := strings.FieldsFunc(strings.ReplaceAll(s, "’", "'"), func(r rune) bool {
		return r == ' ' || strings.ContainsRune(".,;:!?()\"", r)
	})
	return slices.DeleteFunc(list, func(w string) bool { return negations[w] || fillers[w] })
}
