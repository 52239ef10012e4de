package openviking

import (
	"cmp"
	"slices"

	"github.com/amber-memory/amber"
)

// insert places related hits that the primary does not have behind those that rather answer the
// question, and before the others. Their scores lie strictly between the two neighbours, so that
// scores never rise down the list. Without a neighbour above, they stay below
// [amber.RelevantScore]: the server's score is no likelihood, so nothing is put before an agent
// for it alone.
func insert(primary []amber.Hit, more []related, q amber.Query) []amber.Hit {
	at := 0
	for at < len(primary) && primary[at].Score >= amber.AnswerScore {
		at++
	}
	high, low := float64(amber.RelevantScore), 0.0
	if at > 0 {
		high = primary[at-1].Score
	}
	if at < len(primary) {
		low = primary[at].Score
	}
	hits := slices.Clone(primary[:at])
	for _, h := range scaled(unknown(primary, more), high, low) {
		if h.Score >= q.MinScore {
			hits = append(hits, h)
		}
	}
	hits = append(hits, primary[at:]...)
	return hits[:min(len(hits), q.Limit)]
}

// unknown returns the related hits that the primary does not have.
func unknown(primary []amber.Hit, more []related) (out []related) {
	for _, r := range more {
		if !slices.ContainsFunc(primary, func(h amber.Hit) bool { return h.Layer == amber.LayerMemory && h.ID == r.ID }) {
			out = append(out, r)
		}
	}
	return out
}

// scaled gives hits scores between low and high, exclusive, by how near they are.
func scaled(more []related, high, low float64) []amber.Hit {
	const margin = 0.05
	hits := make([]amber.Hit, len(more))
	for i, r := range more {
		hits[i] = r.Hit
		hits[i].Score = low + (high-low)*(margin+(1-2*margin)*r.near)
	}
	return hits
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
