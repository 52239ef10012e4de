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
	// Shown is the share of the other questions for which any hit reaches MinScore.
	Shown float64 `json:"shown"`
	Mean  float64 `json:"mean"` // of NonePrecision and Kept
}

// silence is the scores that thresholds are judged by, sorted.
type silence struct {
	best  []float64 // of questions without an answer
	found []float64 // the right hit of the others
	shown []float64 // the best hit of the others
}

// silenceOf collects the scores of outcomes. A question with evidence but without an
// answer counts for neither side.
func silenceOf(outcomes []Outcome) (s silence) {
	for _, o := range outcomes {
		switch {
		case o.rule == RuleNone:
			s.best = append(s.best, o.Best)
		case !o.noAnswer:
			s.found, s.shown = append(s.found, o.Found), append(s.shown, o.Best)
		}
	}
	for _, scores := range [][]float64{s.best, s.found, s.shown} {
		slices.Sort(scores)
	}
	return s
}

// at judges a threshold: a hit is shown when its score is at least that.
func (s silence) at(min float64) Silence {
	reach := func(scores []float64) float64 {
		below, _ := slices.BinarySearch(scores, min)
		return float64(len(scores)-below) / float64(max(len(scores), 1))
	}
	quiet, _ := slices.BinarySearch(s.best, min)
	out := Silence{
		MinScore: min, None: len(s.best), NonePrecision: float64(quiet) / float64(max(len(s.best), 1)),
		Kept: reach(s.found), Shown: reach(s.shown),
	}
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
