package digest

import "strings"

// rules takes what the user said must hold, and how things are to be done.
func (p *picker) rules() {
	score := func(kind Kind) func(i int) float64 {
		return func(i int) float64 {
			if k, score := p.rule(i); k == kind {
				return score
			}
			return 0
		}
	}
	p.best(Constraint, score(Constraint))
	p.best(Preference, score(Preference))
}

// rule scores what the user wants, and says whether it is a constraint or a
// preference.
func (p *picker) rule(i int) (Kind, float64) {
	if !p.isUser(i) {
		return Constraint, 0
	}
	c, f := p.cued(i, constraints), p.cued(i, preferences)
	if forbids(p.lines[i]) {
		c += 0.9
	}
	if p.lines[i].listed {
		c += 1.2
	}
	if f > c {
		return Preference, p.weighted(i, f)
	}
	return Constraint, p.weighted(i, c)
}

// forbids reports whether a sentence begins with what is not wanted: "no" and a thing.
func forbids(l line) bool {
	return len(l.words) > 3 && l.words[0] == "no" && strings.HasPrefix(strings.ToLower(l.text), "no ") && !denying[l.words[1]]
}

// denying are words behind "no" that forbid nothing.
var denying = set("idea problem worries need i we it that you they one matter rush hurry clue luck doubt")

// ruling are words that announce rules.
var ruling = set("rules conventions guidelines constraints requirements mind aware")

func (p *picker) isRule(i int) bool {
	k, score := p.rule(i)
	return score >= least[k]
}
