package search

import "math"

// A curve turns scores into how likely passages are relevant: the logistic function of a sum.
type curve struct {
	score    float64 // of the passage
	behind   float64 // how far it is behind the best one
	covered  float64 // the most that one passage has of the question's words
	misspelt float64 // of the question
	partly   float64 // the best one has some of the question's words and lacks others
	length   float64 // of the question
	base     float64
}

// The curves were fitted by logistic regression on the first five passages of each development
// question, right or not, with a model and by words alone. Those of single passages were fitted
// to the questions of two sets of memories, with and without an answer; those of conversations
// to questions of LoCoMo, asked of their own conversation and of another one, which has no
// answer. Fitted on one half, the likelihoods are about right on the other; docs/recall.md has
// the figures.
//
// factCurve was fitted to tell questions with an answer from others first, and then to be
// right about each passage. Questions without an answer were those of the sets, every other
// question asked again without the memories that answer it, and asked of the other set.
// promptCurve, for texts that were said to an agent, leaves the wording out: the context that is
// put before a prompt was no better with it.
var (
	factCurve      = curve{score: 7.5, behind: 1.8, misspelt: 1.1, partly: -7.3, length: 1.8, base: -4.5}
	promptCurve    = curve{score: 8.1, behind: 3.5, misspelt: 1.15, base: -5.0}
	factWordsCurve = curve{score: 13.3, base: -5.0}
	talkCurve      = curve{score: 1.9, behind: 1.35, covered: 1.9, base: -7.5}
	talkWordsCurve = curve{score: 2.4, behind: 1.2, covered: 2.7, base: -7.0}
)

// calibrate makes likelihoods of scores. Their order stays.
func calibrate(q question, all []Ranked, with, without curve) {
	if len(all) == 0 {
		return
	}
	c := with
	if !q.meant {
		c = without
	}
	first, covered := all[0], 0.0
	for _, r := range all {
		if r.Score > first.Score {
			first = r
		}
		covered = max(covered, share(q.rarity, r.Has))
	}
	wording := c.wording(q, first)
	named := q.names(first) // tells passages apart, and says nothing of whether there is an answer
	same := c.base + float64(c.covered*covered) + float64(c.misspelt*q.misspelt) + wording
	for i := range all {
		s := all[i].Score
		all[i].Parts.Wording = wording
		all[i].Score = 1 / (1 + math.Exp(-(same + float64(c.score*(s-named)) + float64(c.behind*(s-first.Score)))))
	}
}

// wording is what the wording of a question says about whether there is an answer at all.
// Where the best passage has some of its words and lacks others, what they have in common is
// often the thing that both are about, and not what was asked about it. And a short question is
// near to something in every store: a longer one that is as near has rather found its answer.
func (c curve) wording(q question, first Ranked) float64 {
	partly := first.Words * (1 - share(q.rarity, first.Has))
	return float64(c.partly*partly) + float64(c.length*lengths[min(len(q.rarity), len(lengths)-1)])
}

// lengths are the logarithms of (n+1)/6 for questions of n words: five words count nothing. More
// than eight count as eight.
var lengths = [...]float64{-1.79, -1.10, -0.69, -0.41, -0.18, 0, 0.15, 0.29, 0.41}
