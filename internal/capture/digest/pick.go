package digest

import (
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
)

// picker chooses the items of each kind.
type picker struct {
	*talk
	used map[int]bool // lines that an item has
	now  map[Kind][]Item
}

// least is what a sentence must score to be an item of a kind.
var least = map[Kind]float64{Constraint: 1.2, Preference: 1.2, Decision: 1.8, Cause: 2.2, Command: 2, Unfinished: 2.2}

func (p *picker) pick() {
	p.asked()
	p.rules()
	p.unanswered()
	p.best(Unfinished, p.unfinished)
	p.best(Decision, p.decision)
	p.best(Cause, p.cause)
	p.came()
	p.best(Command, p.command)
}

// isUser reports whether the user said a line.
func (p *picker) isUser(i int) bool { return p.turns[p.lines[i].turn].Role == amber.RoleUser }

// userBefore returns the words of the last turn of the user before a turn.
func (p *picker) userBefore(turn int) []string {
	for i := turn - 1; i >= 0; i-- {
		if p.turns[i].Role == amber.RoleUser {
			return p.turns[i].words
		}
	}
	return nil
}

// weighted adds how central a line is, and what the user repeated, to what its
// cue words score.
func (p *picker) weighted(i int, score float64) float64 {
	if score <= 0 {
		return 0
	}
	l := p.lines[i]
	score = score*(0.85+0.3*l.central) + 0.4*l.again
	if strings.HasSuffix(l.text, "?") {
		score *= 0.4
	}
	if len(l.terms) < 2 && i > p.turns[l.turn].first && !p.leans(i) {
		score *= 0.5
	}
	return score
}

// cued is what cue words score in a line and in the heading above it.
func (p *picker) cued(i int, c cues) float64 {
	l := p.lines[i]
	if l.code {
		return 0
	}
	return c.score(l.words, p.tongues...) + 1.5*c.score(l.lead, p.tongues...)
}

// asked takes what the user asked for: how the session begins, and where a later
// turn begins something new.
func (p *picker) asked() {
	for t := range p.turns {
		if p.turns[t].Role == amber.RoleUser && len(p.now[Task]) < most[Task] {
			p.askedIn(t)
		}
	}
	if len(p.now[Task]) == 0 && len(p.lines) > 0 && p.isUser(0) {
		p.add(Task, 0, 0)
	}
}

// askedIn takes the first request of a turn.
func (p *picker) askedIn(t int) {
	first := len(p.now[Task]) == 0
	for i := p.turns[t].first; i < p.turns[t].last; i++ {
		l := p.lines[i]
		if l.code || p.isRule(i) || len(l.terms) < 3 || !first && fresh.score(l.words[:min(len(l.words), 3)], p.tongues...) == 0 {
			continue
		}
		to := i
		if to+1 < p.turns[t].last && len(l.text) < 100 && !p.isRule(to+1) {
			to++
		}
		p.add(Task, i, to)
		return
	}
}

// fresh are the words with which a user begins something new.
var fresh = cuesOf("fresh")

// add adds a stretch of lines as an item.
func (p *picker) add(kind Kind, from, to int) {
	for to > from && (!p.together(from, to) || len(p.text(from, to)) > MaxItemBytes) {
		to--
	}
	it := Item{Kind: kind, Text: shorten(p.text(from, to), MaxItemBytes), Turns: []amber.TurnID{p.turns[p.lines[from].turn].ID}}
	said := Parse(it.Text)
	for i, known := range p.now[kind] {
		switch text := Parse(known.Text); {
		case said.Same(text):
			return
		case Revisable(kind) && said.Contradicts(text):
			p.now[kind][i] = it // what was said last holds
			return
		}
	}
	p.now[kind] = append(p.now[kind], it)
}

// Revisable reports whether a later item of a kind can take the place of an earlier
// one that it contradicts.
func Revisable(k Kind) bool { return k == Constraint || k == Preference || k == Decision }

// shorten cuts s to at most n bytes of whole characters with their accents, between words
// where it can.
func shorten(s string, n int) string {
	if len(s) <= n {
		return s
	}
	s = clip.Letters(s, n)
	if at := strings.LastIndexByte(s, ' '); at > n/2 {
		s = s[:at]
	}
	return s
}
