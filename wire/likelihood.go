package wire

import "github.com/amber-memory/amber"

// Likelihood is a score in a word, for people.
type Likelihood string

// The words for scores, best first.
const (
	Strong Likelihood = "strong" // nine of ten are right
	Likely Likelihood = "likely" // half are
	Weak   Likelihood = "weak"
)

// strongScore is the score from which a hit is strong.
const strongScore = 0.75

// LikelihoodOf is the word for a score.
func LikelihoodOf(score float64) Likelihood {
	switch {
	case score >= strongScore:
		return Strong
	case score >= amber.AnswerScore:
		return Likely
	}
	return Weak
}

// Dots draws the word as three dots, one of them full for [Weak].
func (l Likelihood) Dots() string {
	switch l {
	case Strong:
		return "●●●"
	case Likely:
		return "●●○"
	case Weak:
	}
	return "●○○"
}

// leastShown is how many hits people are shown where none is likely.
const leastShown = 3

// Fold parts hits into those that people are shown and the weak ones behind them. Where none is likely, the best few are
// shown.
func Fold(hits []amber.Hit) (shown, weak []amber.Hit) {
	n := 0
	for n < len(hits) && LikelihoodOf(hits[n].Score) != Weak {
		n++
	}
	if n == 0 {
		n = min(len(hits), leastShown)
	}
	return hits[:n], hits[n:]
}
