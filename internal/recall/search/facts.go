package search

import (
	"cmp"
	"math/bits"
	"slices"
)

// The weights of single passages, chosen on development data; docs/recall.md has the
// figures. The meaning counts, and words do where they answer most of the question: few
// common words in common do more harm than good.
const (
	wordsMost  = 1.2
	wordsShare = 0.5
	wordsAlone = 0.8
	factKind   = 0.15
	factLate   = 0.15
	factDoubt  = 0.05
	factNamed  = 0.3
)

// scoreFacts scores and sorts passages that are no part of a conversation.
func scoreFacts(q question, all []Ranked) {
	for i := range all {
		r := &all[i]
		if r.Wanted {
			r.Parts.Kind = factKind
		}
		if r.Doubt {
			r.Parts.Trust = -factDoubt
		}
		r.Score = factScore(q, *r) + r.Parts.Kind + r.Parts.Trust
	}
	addFeedback(all)
	slices.SortFunc(all, better)
	newerFirst(q, all[:min(len(all), sameAmong)])
	for i := range all {
		if r := &all[i]; q.then != 0 && r.At >= q.then {
			r.Parts.Time = -factLate
			r.Score += r.Parts.Time
		}
	}
	if q.prompt {
		calibrate(q, all, promptCurve, factWordsCurve, promptCurve)
		return
	}
	calibrate(q, all, factCurve, factWordsCurve, factLikely)
}

// factScore is the score of a single passage. Where its meaning is not known, words count for what they are, and more of
// the question's more than the same ones often. The same is the least that a passage scores which has every word of a
// misspelt question: the model reads misspelt words as pieces of others, so their meaning says little against it.
func factScore(q question, r Ranked) float64 {
	words, has := min(r.Words, wordsMost), share(q.rarity, r.Has)
	alone := float64(wordsAlone * words * (1 + has) / 2)
	if r.Parts.Meaning == 0 {
		return alone
	}
	score := r.Parts.Meaning + float64(wordsShare*words*words*words) + q.names(r)
	if q.misspelt > 0 && has == 1 {
		return max(score, alone)
	}
	return score
}

// names is what a passage gains that has the names and numbers of a question, by how much of the question they are: the model
// hardly tells one number from another.
func (q question) names(r Ranked) float64 {
	if q.named == 0 || q.prompt {
		return 0
	}
	return float64(factNamed * share(q.rarity, r.Has&q.named))
}

// Two of the best passages that are as near as this, and neither much worse than the other,
// say the same or contradict each other. A question that says it is about now, or
// about the past, expects a change; what was said within a day rather adds to what was said before it.
const (
	sameAmong = 8
	sameNear  = 0.65
	sameScore = 0.5
	nowNear   = 0.55
	nowScore  = 0.4
	dayNear   = 0.8
	sameWords = 0.7
)

// newerFirst orders passages that are about the same. The newer one goes before the older
// one. If the question is about a moment, the last one that was said by then goes before
// every other; if it is about what no longer holds, the older one goes first. A passage that
// is trusted less never goes before one that is trusted more, nor one that lacks a name or a number of the question.
func newerFirst(q question, best []Ranked) {
	near, enough := sameNear, sameScore
	if q.now || q.past {
		near, enough = nowNear, nowScore
	}
	before := make([]float64, len(best))
	for i := range best {
		before[i] = best[i].Score
	}
	for i := range best {
		for j := range best {
			a, b := &best[i], &best[j]
			if i != j && b.Score <= a.Score && before[j] >= float64(enough*before[i]) && !a.Trust.Outranks(b.Trust) && a.Has&q.named&^b.Has == 0 && holds(q, a.At, b.At) && alike(a, b, near) {
				a.Score, b.Score = b.Score, a.Score
				b.Parts.Newer = true
			}
		}
	}
	slices.SortStableFunc(best, func(a, b Ranked) int { return cmp.Compare(b.Score, a.Score) })
}

// alike reports whether two passages are about the same. Where the meaning of one is not
// known, they are when they have the same words of the question, more than one, about as much.
func alike(a, b *Ranked, near float64) bool {
	if a.Vector == nil || b.Vector == nil {
		return a.Has == b.Has && bits.OnesCount64(a.Has) > 1 && min(a.Words, b.Words) >= float64(sameWords*max(a.Words, b.Words))
	}
	if max(a.At-b.At, b.At-a.At) < oneDay {
		near = dayNear
	}
	return a.near(&b.Candidate) >= near
}

// holds reports whether what was said at b rather holds when a question asks about than what
// was said at a.
func holds(q question, a, b int64) bool {
	switch {
	case q.then != 0:
		return b < q.then && (a >= q.then || b > a)
	case q.past:
		return b < a
	}
	return b > a
}
