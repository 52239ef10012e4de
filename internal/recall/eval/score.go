package eval

import (
	"slices"
)

// Ranks of the scores.
const (
	few  = 5
	many = 10
)

// Outcome is how one question was answered.
type Outcome struct {
	Class    string `json:"class"`
	Question string `json:"question"`
	// Rank is where the first hit that answers the question stands, 0 when none does.
	Rank  int     `json:"rank"`
	First bool    `json:"first"`
	Any5  bool    `json:"any_at_5"`
	Any10 bool    `json:"any_at_10"`
	Frac  float64 `json:"frac_at_10"`
	// Best is the score of the best hit of all, and Found of the best hit that answers
	// the question; -1 where there is none.
	Best  float64 `json:"best_score"`
	Found float64 `json:"found_score"`

	rule     Rule
	noAnswer bool
}

// judge scores the ranked keys of an answer, without doubles, with their scores.
func judge(q Question, ranked []string, scores []float64) Outcome {
	o := Outcome{Class: q.Class, Question: q.Text, Best: -1, Found: -1, rule: q.Rule, noAnswer: q.NoAnswer}
	if len(scores) > 0 {
		o.Best = slices.Max(scores)
	}
	if q.Rule == RuleNone {
		return o
	}
	ranks := ranksOf(q.Keys, ranked)
	wanted := ranks
	if q.Rule == RuleFirst {
		wanted = ranks[:1]
	}
	in := 0
	for _, r := range wanted {
		if r == 0 {
			continue
		}
		if o.Rank == 0 || r < o.Rank {
			o.Rank = r
		}
		o.Found = max(o.Found, scores[r-1])
		if r <= many {
			in++
		}
	}
	o.First = o.Rank == 1
	o.Any5, o.Any10 = within(q.Rule, ranks, few), within(q.Rule, ranks, many)
	o.Frac = float64(in) / float64(len(wanted))
	if q.Rule == RuleOne { // further keys are alternatives
		o.Frac = float64(min(in, 1))
	}
	return o
}

// ranksOf returns where each key stands, from 1 on; 0 for one that is missing.
func ranksOf(keys, ranked []string) []int {
	ranks := make([]int, len(keys))
	for i, k := range keys {
		ranks[i] = slices.Index(ranked, k) + 1
	}
	return ranks
}

// within reports whether the first n hits answer a question by its rule.
func within(rule Rule, ranks []int, n int) bool {
	in := func(r int) bool { return r > 0 && r <= n }
	switch rule {
	case RuleFirst:
		return in(ranks[0]) && (ranks[1] == 0 || ranks[0] < ranks[1])
	case RuleAll:
		return !slices.ContainsFunc(ranks, func(r int) bool { return !in(r) })
	}
	return slices.ContainsFunc(ranks, in)
}

// Scores are those of the questions of a class, each from 0 to 1.
type Scores struct {
	N     int     `json:"n"`
	First float64 `json:"first"`
	Any5  float64 `json:"any_at_5"`
	Any10 float64 `json:"any_at_10"`
	Frac  float64 `json:"frac_at_10"`
	MRR   float64 `json:"mrr"`
}

// scoresOf averages the outcomes of questions that have an answer.
func scoresOf(outcomes []Outcome) (s Scores) {
	bit := func(b bool) float64 {
		if b {
			return 1
		}
		return 0
	}
	for _, o := range outcomes {
		s.N++
		s.First += bit(o.First)
		s.Any5 += bit(o.Any5)
		s.Any10 += bit(o.Any10)
		s.Frac += o.Frac
		if o.Rank > 0 {
			s.MRR += 1 / float64(o.Rank)
		}
	}
	for _, v := range []*float64{&s.First, &s.Any5, &s.Any10, &s.Frac, &s.MRR} {
		*v /= float64(max(s.N, 1))
	}
	return s
}

// Ratios are scores divided by those of a baseline; nil where the baseline is 0.
type Ratios struct {
	First *float64 `json:"first"`
	Any5  *float64 `json:"any_at_5"`
	Any10 *float64 `json:"any_at_10"`
	Frac  *float64 `json:"frac_at_10"`
	MRR   *float64 `json:"mrr"`
}

// over divides the scores by others.
func (s Scores) over(base Scores) *Ratios {
	ratio := func(a, b float64) *float64 {
		if b == 0 {
			return nil
		}
		r := a / b
		return &r
	}
	return &Ratios{
		First: ratio(s.First, base.First), Any5: ratio(s.Any5, base.Any5), Any10: ratio(s.Any10, base.Any10),
		Frac: ratio(s.Frac, base.Frac), MRR: ratio(s.MRR, base.MRR),
	}
}
