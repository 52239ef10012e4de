package search

import "math"

// A curve turns scores into how likely passages are relevant: the logistic function of a sum.
type curve struct {
	score    float64 // of the passage
	behind   float64 // how far it is behind the best one
	covered  float64 // the most that one passage has of the question's words
	misspelt float64 // of the question
	base     float64
}

// Fitted by logistic regression on the first five passages of each development question,
// right or not, with a model and by words alone. Single passages: the questions of two sets of
// memories, with and without an answer. Conversations: questions of LoCoMo, asked of their own
// conversation and of another one, which has no answer. Fitted on one half, the likelihoods
// are about right on the other; docs/recall.md has the figures.
var (
	factCurve      = curve{score: 8.1, behind: 3.5, misspelt: 1.15, base: -5.0}
	factWordsCurve = curve{score: 13.3, base: -5.0}
	talkCurve      = curve{score: 1.9, behind: 1.35, covered: 1.9, base: -7.5}
	talkWordsCurve = curve{score: 2.4, behind: 1.2, covered: 2.7, base: -7.0}
)

// calibrate makes likelihoods of scores. Their order stays.
func calibrate(q question, all []Ranked, with, without curve) {
	c := with
	if q.vector == nil {
		c = without
	}
	best, covered := math.Inf(-1), 0.0
	for _, r := range all {
		best, covered = max(best, r.Score), max(covered, share(q.rarity, r.Has))
	}
	same := c.base + float64(c.covered*covered) + float64(c.misspelt*q.misspelt)
	for i := range all {
		s := all[i].Score
		all[i].Score = 1 / (1 + math.Exp(-(same + float64(c.score*s) + float64(c.behind*(s-best)))))
	}
}
