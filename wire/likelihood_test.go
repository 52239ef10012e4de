package wire_test

import (
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

func TestScoresAreWords(t *testing.T) {
	t.Parallel()
	for score, want := range map[float64]wire.Likelihood{
		1: wire.Strong, 0.75: wire.Strong, 0.7499: wire.Likely, amber.AnswerScore: wire.Likely, 0.2499: wire.Weak, 0: wire.Weak,
	} {
		must.Equal(t, "word", wire.LikelihoodOf(score), want)
	}
	must.Equal(t, "dots", wire.Strong.Dots()+wire.Likely.Dots()+wire.Weak.Dots(), "●●●●●○●○○")
}

func TestWeakHitsAreFolded(t *testing.T) {
	t.Parallel()
	of := func(scores ...float64) (hits []amber.Hit) {
		for _, s := range scores {
			hits = append(hits, amber.Hit{Score: s})
		}
		return hits
	}
	for _, tc := range []struct {
		name  string
		hits  []amber.Hit
		shown int
	}{
		{"none", nil, 0},
		{"strong and weak", of(0.9, 0.3, 0.1, 0.05), 2},
		{"all likely", of(0.5, 0.4), 2},
		{"weak alone: the best three", of(0.2, 0.1, 0.1, 0.05), 3},
		{"one weak", of(0.2), 1},
	} {
		shown, weak := wire.Fold(tc.hits)
		must.Equal(t, tc.name, len(shown), tc.shown)
		must.Equal(t, tc.name+", folded", len(weak), len(tc.hits)-tc.shown)
	}
}
