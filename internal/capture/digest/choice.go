package digest

import (
	"strings"

	"github.com/amber-memory/amber"
)

// decision scores what was chosen. How the answer to a question about a choice
// begins counts, whatever its words, and so does what the user agreed to.
func (p *picker) decision(i int) float64 {
	score := p.cued(i, decisions)
	l := p.lines[i]
	if p.isUser(i) {
		return p.weighted(i, 0.8*score)
	}
	if p.answersChoice(l.turn) && !l.code && !(p.isLastAnswer(l.turn) && p.answers(l.turn, closing)) {
		score += []float64{2.2, 0.8, 0.3}[min(i-p.turns[l.turn].first, 2)]
	}
	if score < 0.9 {
		return 0
	}
	if next := l.turn + 1; score >= 1.4 && next < len(p.turns) && p.turns[next].Role == amber.RoleUser && p.agrees(p.turns[next].words) {
		score += 0.8
	}
	return p.weighted(i, score)
}

// answers reports whether the turn before an answer has cues.
func (p *picker) answers(turn int, c cues) bool {
	return c.score(p.userBefore(turn), p.tongues...) >= 1
}

// answersChoice reports whether the user asked about a choice before an answer, or proposed
// something as a question.
func (p *picker) answersChoice(turn int) bool {
	if p.answers(turn, choices) {
		return true
	}
	for i := turn - 1; i > 0; i-- {
		if t := p.turns[i]; t.Role == amber.RoleUser {
			return t.proposes
		}
	}
	return false // the session begins with it
}

// proposes reports whether a turn ends in a short question that asks for no facts.
func proposes(text string) bool {
	const short = 25 // words
	text = strings.TrimSpace(strings.ToValidUTF8(text[max(0, len(text)-maxSentence):], ""))
	all := split(collapse(text))
	if !strings.HasSuffix(text, "?") && !strings.HasSuffix(text, "？") || len(all) == 0 {
		return false
	}
	last := words(all[len(all)-1])
	return len(last) > 1 && len(last) <= short && !asking[last[0]]
}

// asking are words with which a question for facts begins.
var asking = set("what why how when where who which whose is are was were does do did has have had can could will anything any")

// agrees reports whether words begin with an agreement.
func (p *picker) agrees(words []string) bool {
	if consents.score(words[:min(len(words), 3)], p.tongues...) > 0 {
		return true
	}
	for _, a := range agreements {
		if begins(words, strings.Fields(a)) {
			return true
		}
	}
	return false
}
