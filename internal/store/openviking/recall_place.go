package openviking

import (
	"cmp"
	"slices"

	"github.com/amber-memory/amber"
)

// insert deals what the server found and what the primary is not sure of in turn, behind the hits that rather answer
// the question: the first of each side, then the second. Where both have a memory, it takes the better of its two
// places, and at equal places the primary, which knows words, times and kinds, decides. So a hit of the primary goes
// back to twice its place at most, however wrong the server is.
//
// A hit that only the server has scores below [amber.AnswerScore], and scores never rise down the list. The server's
// score is no likelihood: the primary decides whether there is an answer.
func insert(primary []amber.Hit, more []related, q amber.Query) []amber.Hit {
	at := answers(primary)
	hits := slices.Clone(primary[:at])
	for _, p := range scaled(dealt(primary[at:], unknown(primary[:at], more))) {
		if p.Score >= q.MinScore {
			hits = append(hits, p.Hit)
		}
	}
	return hits[:min(len(hits), q.Limit)]
}

// place is where a hit stands among those that the primary is not sure of.
type place struct {
	amber.Hit
	turn int     // in which it is dealt
	rank int     // of the primary, from 1 on; 0: only the server has it
	near float64 // of a hit that only the server has
}

// dealt puts the hits of both sides in their order.
func dealt(rest []amber.Hit, more []related) []place {
	all := make([]place, 0, len(rest)+len(more))
	for i, h := range rest {
		all = append(all, place{Hit: h, turn: i, rank: i + 1})
	}
	for i, r := range more {
		if at := indexOf(rest, r.Hit); at >= 0 {
			all[at].turn = min(all[at].turn, i)
		} else {
			all = append(all, place{Hit: r.Hit, turn: i, near: r.near})
		}
	}
	slices.SortStableFunc(all, func(a, b place) int { return cmp.Or(cmp.Compare(a.turn, b.turn), cmp.Compare(a.rank, b.rank)) })
	return all
}

// scaled gives scores to hits in their order: one of the primary keeps its own, or takes that of a
// better one behind it; one that only the server has lies between its neighbours of the primary,
// by how near it is.
func scaled(all []place) []place {
	high := float64(amber.AnswerScore)
	low := 0.0
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].rank > 0 {
			low = max(low, all[i].Score)
		}
		all[i].Score = low
	}
	for i := range all {
		if all[i].rank > 0 {
			high = all[i].Score
			continue
		}
		const margin = 0.05
		all[i].Score += (high - all[i].Score) * (margin + (1-2*margin)*all[i].near)
	}
	return all
}

// answers counts the first hits that rather answer the question.
func answers(primary []amber.Hit) (n int) {
	for n < len(primary) && primary[n].Score >= amber.AnswerScore {
		n++
	}
	return n
}

// unknown returns the related hits that are not among some.
func unknown(hits []amber.Hit, more []related) (out []related) {
	for _, r := range more {
		if indexOf(hits, r.Hit) < 0 {
			out = append(out, r)
		}
	}
	return out
}

// indexOf returns where the memory of a hit stands; -1 where it does not.
func indexOf(hits []amber.Hit, of amber.Hit) int {
	return slices.IndexFunc(hits, func(h amber.Hit) bool { return h.Layer == amber.LayerMemory && h.ID == of.ID })
}

// rankBase damps the first ranks, as usual for reciprocal ranks.
const rankBase = 60

// merge orders the hits of both sides by the sum of their reciprocal ranks. Each takes the score
// of its new rank, out of those that [insert] would give, so that scores never rise down the list.
func merge(primary []amber.Hit, more []related, q amber.Query) []amber.Hit {
	all := q
	all.Limit = len(primary) + len(more)
	hits := insert(primary, more, all)
	scores := make([]float64, len(hits))
	for i, h := range hits {
		scores[i] = h.Score
	}
	weights := map[string]float64{}
	for i, h := range primary {
		weights[keyOf(h)] += 1 / float64(rankBase+i+1)
	}
	for i, r := range more {
		weights[keyOf(r.Hit)] += 1 / float64(rankBase+i+1)
	}
	slices.SortStableFunc(hits, func(a, b amber.Hit) int { return cmp.Compare(weights[keyOf(b)], weights[keyOf(a)]) })
	for i := range hits {
		hits[i].Score = scores[i]
	}
	return hits[:min(len(hits), q.Limit)]
}

// keyOf tells hits apart.
func keyOf(h amber.Hit) string {
	return string(h.Layer) + "\x00" + h.Owner
}
