package digest

import (
	"slices"
	"strings"
)

// cause scores what went wrong and why. An answer to a user who describes a problem
// counts more; the beginning of its explanation counts most.
func (p *picker) cause(i int) float64 {
	l := p.lines[i]
	score := p.cued(i, causes)
	if p.isUser(i) || l.code {
		return p.weighted(i, 0.6*score)
	}
	if p.answersProblem(l.turn) {
		score += 0.8
		switch l.paragraph {
		case p.explains(l.turn, 0):
			score += 1.4
		case p.explains(l.turn, 1):
			score += 1
		}
		if strings.Contains(l.text, "`") {
			score += 0.3
		}
	}
	if reasons(l.words) {
		score += 0.8
	}
	if score < 1.5 {
		return 0
	}
	return p.weighted(i, score)
}

// reasons reports whether a sentence says why something is not as it should be.
func reasons(words []string) bool {
	has := func(of map[string]bool) bool {
		return slices.ContainsFunc(words, func(w string) bool { return of[w] })
	}
	return has(causal) && has(negative)
}

var (
	causal   = set("because since as due")
	negative = set("broke broken breaks failed fails failing crashed crashes slow slower wrong missed lost killed missing stuck not didn't doesn't wasn't never nothing")
)

// answersProblem reports whether the user described a problem before an answer. A
// session that begins with a statement rather than a request more often describes one.
func (p *picker) answersProblem(turn int) bool {
	said := p.userBefore(turn)
	score := problems.score(said, p.tongues...)
	if turn == 1 && len(said) > 0 && !requests[said[0]] {
		score += 0.5
	}
	return score >= 1 && !p.answersChoice(turn)
}

// requests are verbs with which a request begins.
var requests = set("add write create implement build make rename refactor update publish move remove delete port convert document generate set show list open run please can could let")

// explains returns the first paragraph of a turn that has something to say, or a later one.
func (p *picker) explains(turn, later int) int {
	t := p.turns[turn]
	last := -1
	for i := t.first; i < t.last; i++ {
		if l := p.lines[i]; !l.code && len(l.whole) >= 100 && l.paragraph != last {
			if last = l.paragraph; later == 0 {
				return last
			}
			later--
		}
	}
	return -1
}

// command scores sentences of the assistant that name a command.
func (p *picker) command(i int) float64 {
	l := p.lines[i]
	if p.isUser(i) {
		return 0
	}
	asked := asksHow.score(p.userBefore(l.turn), p.tongues...)
	switch {
	case l.code && program(l.text):
		return 2 + min(asked, 2)
	case quotesCommand(l.text):
		return p.weighted(i, 2.5+min(asked, 2))
	}
	return 0
}
