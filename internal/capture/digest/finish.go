package digest

import (
	"github.com/amber-memory/amber"
)

// unanswered takes the last request if no answer to it was heard.
func (p *picker) unanswered() {
	last := len(p.turns) - 1
	if last < 0 || p.turns[last].Role != amber.RoleUser || last == 0 {
		return
	}
	for i := p.turns[last].first; i < p.turns[last].last; i++ {
		if !p.used[i] && !p.lines[i].code && len(p.lines[i].terms) >= 3 && !p.isRule(i) {
			p.used[i] = true
			p.add(Unfinished, i, i)
			return
		}
	}
}

// unfinished scores what is left to be done: mostly in the last answer. If the user
// asked for it there, everything counts that does not say that something is done.
func (p *picker) unfinished(i int) float64 {
	l := p.lines[i]
	after := len(p.turns) - 1 - l.turn
	if p.isUser(i) || l.code || after > 3 {
		return 0
	}
	score := p.cued(i, unfinished)
	if !p.isLastAnswer(l.turn) {
		if score >= 2 {
			return p.weighted(i, 1.3*score)
		}
		return p.weighted(i, 0.7*score)
	}
	if p.answers(l.turn, closing) {
		score += 2.7 - 0.8*max(0, p.cued(i, outcomes))
	}
	return p.weighted(i, score)
}

func (p *picker) isLastAnswer(turn int) bool {
	for _, t := range p.turns[turn+1:] {
		if t.Role == amber.RoleAssistant {
			return false
		}
	}
	return true
}

// came takes what came of it: the best sentence of the last answers that says that
// something is done, else how the last answer begins.
func (p *picker) came() {
	answers := 0
	for t := len(p.turns) - 1; t >= 0 && answers < 3; t-- {
		if p.turns[t].Role != amber.RoleAssistant || p.turns[t].first == p.turns[t].last {
			continue
		}
		answers++
		best, top := -1, 1.5
		for i := p.turns[t].first; i < p.turns[t].last; i++ {
			if s := p.weighted(i, p.cued(i, outcomes)); s > top && !p.used[i] {
				best, top = i, s
			}
		}
		if best >= 0 {
			p.outcome(best)
			return
		}
	}
	p.begins()
}

// outcome takes a line with what follows it in its paragraph, as far as there is room.
func (p *picker) outcome(i int) {
	to := i
	for to+1 < len(p.lines) && p.adjacent(to, to+1) && !p.used[to+1] && len(p.text(i, to+1)) <= MaxItemBytes {
		to++
	}
	for j := i; j <= to; j++ {
		p.used[j] = true
	}
	p.add(Outcome, i, to)
}

// begins takes how the last answer begins as the outcome.
func (p *picker) begins() {
	for t := len(p.turns) - 1; t >= 0; t-- {
		if p.turns[t].Role != amber.RoleAssistant || p.turns[t].first == p.turns[t].last {
			continue
		}
		for i := p.turns[t].first; i < p.turns[t].last; i++ {
			if !p.used[i] && !p.lines[i].code && len(p.lines[i].terms) >= 2 {
				p.outcome(i)
				return
			}
		}
		return
	}
}
