package digest

import (
	"cmp"
	"slices"
	"strings"
)

// leans reports whether a line is a short one about the line before it: "I'd do that one."
func (p *picker) leans(i int) bool {
	l := p.lines[i]
	return i > p.turns[l.turn].first && p.adjacent(i-1, i) && len(l.terms) < 3 && slices.ContainsFunc(l.words, func(w string) bool { return pointing[w] })
}

// pointing are words for what was said before.
var pointing = set("that this it those these one ones second first latter former both")

// span is a stretch of lines.
type span struct{ from, to int }

// best takes the lines that score highest, each with the neighbours that belong to
// it, and keeps them in the order they were said.
func (p *picker) best(kind Kind, score func(i int) float64) {
	scores := make([]float64, len(p.lines))
	var seeds []int
	for i := range p.lines {
		if scores[i] = score(i); scores[i] >= least[kind] {
			seeds = append(seeds, i)
		}
	}
	slices.SortStableFunc(seeds, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	var spans []span
	for _, i := range seeds {
		if len(spans) < most[kind] && !p.used[i] {
			s := p.grow(kind, i, scores)
			spans = append(spans, s)
			for j := s.from; j <= s.to; j++ {
				p.used[j] = true
			}
		}
	}
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	for _, s := range p.joined(spans) {
		p.add(kind, s.from, s.to)
	}
}

// minItem is how many bytes an item has that is not the only one of its kind: "Three things." leads
// to others and says nothing.
const minItem = 20

// joined puts spans together that stand next to each other, where there is room. A
// short one that leads to the next and has no room says too little and goes.
func (p *picker) joined(spans []span) (out []span) {
	for n, s := range spans {
		if len(spans) > 1 && len(p.text(s.from, s.to)) < minItem {
			continue
		}
		if last := len(out) - 1; last >= 0 && p.adjacent(out[last].to, s.from) && len(p.text(out[last].from, s.to)) <= MaxItemBytes { // the lines are in one paragraph
			out[last].to = s.to
			continue
		}
		if n+1 < len(spans) && s.from == s.to && len(p.lines[s.to].text) < 70 && p.adjacent(s.to, spans[n+1].from) &&
			len(p.text(s.from, spans[n+1].to)) > MaxItemBytes {
			continue
		}
		out = append(out, s)
	}
	return out
}

// grow adds the neighbours of a line: the one before where the line points back to
// it, and those behind that score too or give a reason. Behind what was decided
// stands the reason.
func (p *picker) grow(kind Kind, i int, scores []float64) span {
	s := span{from: i, to: i}
	if isRule := kind == Constraint || kind == Preference; (!isRule || afterThat(p.lines[i].words)) && (pointsBack(p.lines[i].words) || p.leans(i)) && p.joins(i-1, i, s) && len(p.lines[i-1].terms) > 1 {
		s.from--
	}
	for s.to-s.from < 2 && p.joins(s.to, s.to+1, s) {
		if scores[s.to+1] <= 0.5 && !pointsBack(p.lines[s.to+1].words) && !(kind == Decision && s.to == i) {
			break
		}
		s.to++
	}
	return s
}

// together reports whether two lines are in one paragraph.
func (p *picker) together(a, b int) bool { return p.lines[a].with(p.lines[b]) }

// adjacent reports whether one line follows the other in a paragraph, with no more
// than a short sentence between them.
func (p *picker) adjacent(a, b int) bool {
	return a+1 == b && p.together(a, b) && p.lines[b].at-p.lines[a].at-len(p.lines[a].text) <= minSentence+2
}

// joins reports whether two lines, one of them new to a span, stand next to each
// other in a paragraph, are free, and leave room.
func (p *picker) joins(a, b int, s span) bool {
	if a < 0 || b >= len(p.lines) || !p.adjacent(a, b) {
		return false
	}
	fresh := a
	if a == s.to {
		fresh = b
	}
	return !p.used[fresh] && len(p.text(min(a, s.from), max(b, s.to))) <= MaxItemBytes && !strings.HasSuffix(p.lines[fresh].text, "?")
}

// Words with which a sentence begins that needs the one before it, or explains it;
// and words near the beginning that do.
var (
	backwards = set("it that this they these before after those both so then there otherwise therefore because since but and which such until also he she its their for without instead neither either")
	following = set("therefore thus then hence instead too either")
)

// afterThat reports whether words begin with a time that the sentence before has named.
func afterThat(words []string) bool {
	return len(words) > 1 && (words[0] == "until" || words[0] == "before" || words[0] == "after") && (words[1] == "then" || words[1] == "that")
}

func pointsBack(words []string) bool {
	return len(words) > 0 && backwards[words[0]] || slices.ContainsFunc(words[:min(len(words), 4)], func(w string) bool { return following[w] })
}

// text returns a stretch of a paragraph as it was said.
func (p *picker) text(from, to int) string {
	a, b := p.lines[from], p.lines[to]
	return a.whole[a.at : b.at+len(b.text)]
}
