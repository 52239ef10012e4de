package search

import (
	"cmp"
	"math"
	"slices"

	"github.com/amber-memory/amber"
)

// A curve turns scores into how likely passages are relevant: the logistic function of a sum.
type curve struct {
	score    float64 // of the passage
	behind   float64 // how far it is behind the best one
	lead     float64 // how far the best one is before the second
	crowd    float64 // the mean score of the nine behind the best one
	covered  float64 // the most that one passage has of the question's words
	few      float64 // how few passages have to do with the question, as the logarithm of ten over their number
	misspelt float64 // of the question
	partly   float64 // the best one has some of the question's words and lacks others
	length   float64 // of the question
	terse    float64 // the question has no function words
	base     float64
}

// Two kinds of curves were fitted by logistic regression on the first five passages of each development question, right or
// not; docs/recall.md has the figures.
//
// The first kind ranks: it lets passages of conversations and single ones meet, with a model and by words alone. factCurve was
// fitted to tell questions with an answer from others first. promptCurve, for texts that were said to an agent, leaves the
// wording out: the context that is put before a prompt was no better with it. Hits of a prompt keep these likelihoods.
var (
	factCurve      = curve{score: 7.5, behind: 1.8, misspelt: 1.1, partly: -7.3, length: 1.8, base: -4.5}
	promptCurve    = curve{score: 8.1, behind: 3.5, misspelt: 1.15, base: -5.0}
	factWordsCurve = curve{score: 13.3, base: -5.0}
	talkCurve      = curve{score: 1.9, behind: 1.35, covered: 1.9, base: -7.5}
	talkWordsCurve = curve{score: 2.4, behind: 1.2, covered: 2.7, base: -7.0}
)

// The second kind says to people and programs that ask how likely a passage is right. factLikely was fitted to questions of
// two sets of memories, asked in sentences, in two or three words, misspelt, and without their function words, of all memories
// of a set and of ten of them: each as it is, again without the memories that answer it, and of the other set; and to questions
// about code and in other languages. talkLikely was fitted to questions of LoCoMo, asked of their own conversation and of
// another one, which has no answer.
var (
	factLikely = curve{score: 7.15, behind: 2.45, lead: 1.5, crowd: -3.3, few: 0.8, misspelt: 0.8, partly: -1.5, length: 0.5, terse: -0.95, base: -3.85}
	talkLikely = curve{score: 0.75, behind: 2.5, lead: 1.8, covered: 1.25, length: 0.6, base: -4.45}
)

// calibrate makes likelihoods of scores: of each the one that ranks it, and the one that an asker is told. Their order stays.
func calibrate(q question, all []Ranked, rank, words, told curve) {
	if len(all) == 0 {
		return
	}
	if !q.meant {
		rank, told = words, words
	}
	best, covered := 0, 0.0
	for i, r := range all {
		if r.Score > all[best].Score {
			best = i
		}
		covered = max(covered, share(q.rarity, r.Has))
	}
	first := all[best]
	lead, crowd, n := ahead(all, first)
	few := tens[n]
	named := q.names(first) // tells passages apart, and says nothing of whether there is an answer
	same := func(c curve) float64 {
		return c.base + float64(c.covered*covered) + float64(c.misspelt*q.misspelt) + float64(c.lead*lead) + float64(c.crowd*crowd) + float64(c.few*few) + c.wording(q, first)
	}
	ranks, tells := same(rank), same(told)
	for i := range all {
		s := all[i].Score
		all[i].Parts.Wording = told.wording(q, first)
		all[i].Score, all[i].Told = rank.likelihood(ranks, s-named, s-first.Score), told.likelihood(tells, s-named, s-first.Score)
	}
	if share(q.rarity, first.Has) == 1 {
		all[best].Told = max(all[best].Told, amber.AnswerScore)
	}
}

// likelihood is that of a score that is so far behind the first, where the rest of the sum is known.
func (c curve) likelihood(same, score, behind float64) float64 {
	return 1 / (1 + math.Exp(-(same + float64(c.score*score) + float64(c.behind*behind))))
}

// crowdSize is how many passages behind the best one are its crowd.
const crowdSize = 9

// tens are the logarithms of 10/(n+1): how few a passage and n others are. Less than three count as three.
var tens = [crowdSize + 1]float64{1.20, 1.20, 1.20, 0.92, 0.69, 0.51, 0.36, 0.22, 0.11, 0}

// ahead returns how far the best passage is before the best one that was taken from something else, the mean score of the
// few behind it, and how many these are: where many are as good, each is rather wrong.
func ahead(all []Ranked, first Ranked) (lead, crowd float64, n int) {
	others := slices.DeleteFunc(slices.Clone(all), func(r Ranked) bool { return r.Owner == first.Owner && r.Source == first.Source })
	slices.SortFunc(others, func(a, b Ranked) int { return cmp.Compare(b.Score, a.Score) })
	others = others[:min(len(others), crowdSize)]
	if len(others) == 0 {
		return first.Score, 0, 0
	}
	for _, r := range others {
		crowd += r.Score
	}
	return first.Score - others[0].Score, crowd / float64(len(others)), len(others)
}

// tell gives hits the likelihoods that an asker is told. None is more than that of the hit before it.
func tell(ranked []Ranked) []Ranked {
	most := 1.0
	for i := range ranked {
		most = min(most, ranked[i].Told)
		ranked[i].Score = most
	}
	return ranked
}

// wording is what the wording of a question says about whether there is an answer at all.
// Where the best passage has some of its words and lacks others, what they have in common is
// often the thing that both are about, and not what was asked about it. And a short question is
// near to something in every store: a longer one that is as near has rather found its answer.
// Words without a sentence around them are as near to many things.
func (c curve) wording(q question, first Ranked) float64 {
	partly := first.Words * (1 - share(q.rarity, first.Has))
	sum := float64(c.partly*partly) + float64(c.length*lengths[min(len(q.rarity), len(lengths)-1)])
	if q.terse {
		sum += c.terse
	}
	return sum
}

// lengths are the logarithms of (n+1)/6 for questions of n words: five words count nothing. More
// than eight count as eight.
var lengths = [...]float64{-1.79, -1.10, -0.69, -0.41, -0.18, 0, 0.15, 0.29, 0.41}
