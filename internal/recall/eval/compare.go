package eval

import (
	"math"

	"github.com/amber-memory/amber"
)

// Comparison is two reports of the same set, question by question.
type Comparison struct {
	Set string `json:"set"`
	N   int    `json:"n"` // questions with an answer
	// First and Any5 compare whether the first hit, and any of five, is right.
	First Paired `json:"first"`
	Any5  Paired `json:"any_at_5"`
}

// Paired is a paired test of questions that are right in one report alone.
type Paired struct {
	Before int     `json:"before"` // right in the other report
	After  int     `json:"after"`
	Gained int     `json:"gained"`
	Lost   int     `json:"lost"`
	P      float64 `json:"p"` // of McNemar's exact test, two-sided
}

// Compare compares a report with another one. Both need their outcomes. Errors: invalid where the questions differ.
func Compare(before, after RecallReport) (c Comparison, err error) {
	c.Set = after.Set
	if len(before.Outcomes) == 0 || len(before.Outcomes) != len(after.Outcomes) {
		return c, amber.Errorf(amber.KindInvalid, "compare reports", after.Set, "the other report has %d outcomes of questions, this one %d", len(before.Outcomes), len(after.Outcomes)).
			WithHint("make both with --each, of the same sets")
	}
	for i, b := range before.Outcomes {
		a := after.Outcomes[i]
		if a.Question != b.Question || a.Class != b.Class {
			return c, amber.Errorf(amber.KindInvalid, "compare reports", after.Set, "question %d differs: the reports are of different sets", i+1)
		}
		if a.rule == RuleNone {
			continue
		}
		c.N++
		c.First.add(b.First, a.First)
		c.Any5.add(b.Any5, a.Any5)
	}
	c.First.test()
	c.Any5.test()
	return c, nil
}

func (p *Paired) add(before, after bool) {
	if before {
		p.Before++
	}
	if after {
		p.After++
	}
	switch {
	case after && !before:
		p.Gained++
	case before && !after:
		p.Lost++
	}
}

// test makes P: how likely as uneven a split of the questions that differ is, were gains and losses equally likely.
func (p *Paired) test() {
	n := p.Gained + p.Lost
	sum := 0.0
	for k := range min(p.Gained, p.Lost) + 1 {
		a, _ := math.Lgamma(float64(n + 1))
		b, _ := math.Lgamma(float64(k + 1))
		c, _ := math.Lgamma(float64(n - k + 1))
		sum += math.Exp(a - b - c - float64(n)*math.Ln2)
	}
	p.P = min(1, 2*sum)
}
