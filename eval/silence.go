package eval

import (
	"math"
	"slices"
)

// Silence says how well a threshold tells questions without an answer from others.
type Silence struct {
	MinScore float64 `json:"min_score"`
	// None counts questions without an answer; NonePrecision is the share of them for
	// which no hit reaches MinScore.
	None          int     `json:"none"`
	NonePrecision float64 `json:"none_precision"`
	// Kept is the share of the other questions for which a right hit reaches MinScore.
	Kept float64 `json:"kept"`
	Mean float64 `json:"mean"` // of NonePrecision and Kept
}

// silence is what thresholds are judged by, both sorted.
type silence struct{ best, found []float64 }

// silenceOf collects the scores of outcomes. A question with evidence but without an
// answer counts for neither side.
func silenceOf(outcomes []Outcome) (s silence) {
	for _, o := range outcomes {
		switch {
		case o.rule == RuleNone:
			s.best = append(s.best, o.Best)
		case !o.noAnswer:
			s.found = append(s.found, o.Found)
		}
	}
	slices.Sort(s.best)
	slices.Sort(s.found)
	return s
}

// at judges a threshold: a hit is shown when its score is at least that.
func (s silence) at(min float64) Silence {
	share := func(n, of int) float64 { return float64(n) / float64(max(of, 1)) }
	quiet, _ := slices.BinarySearch(s.best, min)
	lost, _ := slices.BinarySearch(s.found, min)
	out := Silence{MinScore: min, None: len(s.best), NonePrecision: share(quiet, len(s.best)), Kept: share(len(s.found)-lost, len(s.found))}
	out.Mean = (out.NonePrecision + out.Kept) / 2
	return out
}

// bestThreshold returns the lowest threshold with the best mean.
func (s silence) bestThreshold() Silence {
	best := s.at(0)
	candidates := slices.Clone(s.found)
	for _, b := range s.best {
		candidates = append(candidates, math.Nextafter(b, math.Inf(1)))
	}
	slices.Sort(candidates)
	for _, c := range candidates {
		if c < 0 {
			continue
		}
		if next := s.at(c); next.Mean > best.Mean {
			best = next
		}
	}
	return best
}
