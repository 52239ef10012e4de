package search

import "slices"

// byMeaning returns the passages that are nearest to a question in meaning, and nothing else
// counts: what the model says alone. A score is a cosine then, and no likelihood.
func (r *recaller) byMeaning(n int) (ranked []Ranked, all bool, err error) {
	rows, all, err := r.nearest(n)
	if err != nil {
		return nil, false, err
	}
	candidates, err := r.candidates(rows)
	if err != nil {
		return nil, false, err
	}
	for _, c := range candidates {
		if c.Vector == nil {
			continue
		}
		near := c.Near
		ranked = append(ranked, Ranked{Candidate: c, Score: min(max(near, 0), 1), Parts: Parts{Meaning: near}})
	}
	slices.SortFunc(ranked, better)
	ranked = oneEach(ranked)
	return ranked[:min(len(ranked), r.q.Limit)], all, nil
}
