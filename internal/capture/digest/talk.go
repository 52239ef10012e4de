package digest

import (
	"math"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/recall/analyze"
	"github.com/amber-memory/amber/internal/recall/contextblock"
	"github.com/amber-memory/amber/internal/recall/lang"
)

// talk is what was said in a session.
type talk struct {
	turns   []spokenTurn
	lines   []line
	prompts int
	tongues []string // the languages other than English that it is held in, sorted
}

// spokenTurn is a turn of the user or the assistant.
type spokenTurn struct {
	amber.Turn
	words []string // with which it begins, in lower case
	first int      // its lines
	last  int      // behind them

	proposes bool // it ends in a question that proposes something
}

// line is a sentence in its place.
type line struct {
	sentence
	turn    int // index
	words   []string
	lead    []string
	terms   []string
	central float64 // 0 to 1
	again   float64 // the share of its words that the user said in other turns

	announces bool // it has a word that announces rules
	listed    bool // a line before it in its paragraph announces rules
}

// with reports whether two lines are in one paragraph.
func (l line) with(m line) bool {
	return l.turn == m.turn && l.paragraph == m.paragraph && !l.code && !m.code
}

// maxOfTurn is how many sentences of one turn are read.
const maxOfTurn = 400

// read takes apart what the user and the assistant said. It does not read what others
// said or what tools printed.
func read(turns []amber.Turn) *talk {
	t := &talk{}
	turns = bounded(turns)
	limit := maxSentences / max(len(turns), maxSentences/maxOfTurn)
	for _, turn := range turns {
		if turn.Trust == amber.TrustImported || turn.Role != amber.RoleUser && turn.Role != amber.RoleAssistant {
			continue
		}
		if turn.Role == amber.RoleUser {
			t.prompts++
		}
		t.add(turn, limit)
		if tag := lang.Of(turn.Content); tag != "" && tag != "en" && !slices.Contains(t.tongues, tag) {
			t.tongues = append(t.tongues, tag)
		}
	}
	slices.Sort(t.tongues)
	return t
}

// bounded returns the first and the last turns.
func bounded(turns []amber.Turn) []amber.Turn {
	if len(turns) <= maxTurns {
		return turns
	}
	const begin = maxTurns / 10
	return append(turns[:begin:begin], turns[len(turns)-(maxTurns-begin):]...)
}

// add takes a turn apart, up to a number of sentences.
func (t *talk) add(turn amber.Turn, limit int) {
	s := spokenTurn{Turn: turn, first: len(t.lines), words: words(shorten(turn.Content, 500))}
	s.proposes = turn.Role == amber.RoleUser && proposes(turn.Content)
	for _, x := range sentences(contextblock.Cut(BothEnds(turn.Content, maxTurnBytes)), limit) {
		l := line{sentence: x, turn: len(t.turns), words: words(x.text), terms: analyze.Content(x.text)}
		if x.lead != "" {
			l.lead = words(x.lead)
		}
		l.announces = slices.ContainsFunc(l.words, func(w string) bool { return ruling[w] })
		if last := len(t.lines) - 1; last >= s.first && t.lines[last].with(l) {
			l.listed = t.lines[last].listed || t.lines[last].announces
		}
		t.lines = append(t.lines, l)
	}
	s.last = len(t.lines)
	t.turns = append(t.turns, s)
}

// BothEnds returns a text, or its beginning and its end where it has more than n bytes.
func BothEnds(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n/2], "") + "\n\n" + strings.ToValidUTF8(s[len(s)-n/2:], "")
}

// repeated finds the words that the user said in several turns.
func (t *talk) repeated() {
	said := map[string]map[int]bool{}
	for _, l := range t.lines {
		if t.turns[l.turn].Role != amber.RoleUser {
			continue
		}
		for _, w := range l.terms {
			if said[w] == nil {
				said[w] = map[int]bool{}
			}
			said[w][l.turn] = true
		}
	}
	for i := range t.lines {
		l := &t.lines[i]
		n := 0
		for _, w := range l.terms {
			if len(said[w]) > 1 {
				n++
			}
		}
		l.again = float64(n) / float64(max(len(l.terms), 4))
	}
}

// central finds how central each sentence is to the session: those are that have words
// that many other sentences have, but not all of them.
func (t *talk) central() {
	in := map[string]int{} // sentences with the word
	for _, l := range t.lines {
		for _, w := range distinct(l.terms) {
			in[w]++
		}
	}
	n, best := float64(len(t.lines)), 0.0
	for i := range t.lines {
		sum, words := 0.0, 0.0
		for _, w := range distinct(t.lines[i].terms) {
			others := float64(in[w] - 1)
			sum += math.Log1p(others) * math.Log(1+n/float64(in[w]))
			words++
		}
		t.lines[i].central = sum / math.Sqrt(words+4)
		best = max(best, t.lines[i].central)
	}
	for i := range t.lines {
		t.lines[i].central /= max(best, 1e-9)
	}
}

// distinct returns each term once, in order.
func distinct(terms []string) []string {
	out := slices.Clone(terms)
	slices.Sort(out)
	return slices.Compact(out)
}
