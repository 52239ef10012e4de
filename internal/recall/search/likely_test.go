package search

import (
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
)

// The first hit is never weak where it has all words of the question, however far away its meaning is.
func TestAllWordsAreNeverWeak(t *testing.T) {
	facts := []Candidate{{Match: Match{Words: 0.1, Has: 3}, Passage: Passage{Owner: "all"}, Near: 0.02}}
	q := question{meant: true, rarity: []float64{1, 1}}
	if got := tell(rank(q, facts))[0].Score; got != amber.AnswerScore {
		t.Errorf("with all words it scores %.2f", got)
	}
	facts[0].Has = 1
	if got := tell(rank(q, facts))[0].Score; got >= amber.AnswerScore {
		t.Errorf("with half of the words it scores %.2f", got)
	}
}

// A hit that is alone with its score is likelier than one of many that score the same.
func TestALeadCounts(t *testing.T) {
	near := func(n int) (all []Candidate) {
		for i := range n {
			all = append(all, Candidate{Passage: Passage{Owner: string(rune('a' + i)), At: int64(i) * oneDay}, Near: 0.5})
		}
		return all
	}
	q := question{meant: true, rarity: []float64{1, 1}}
	alone, crowded := tell(rank(q, near(1)))[0].Score, tell(rank(q, near(10)))[0].Score
	if alone <= crowded {
		t.Errorf("alone it scores %.2f, among ten %.2f", alone, crowded)
	}
}

// A told likelihood never rises down the list, though conversations and single passages have curves of their own.
func TestToldNeverRises(t *testing.T) {
	got := tell([]Ranked{{Told: 0.4}, {Told: 0.9}, {Told: 0.1}})
	must.Equal(t, "second", got[1].Score, 0.4)
	must.Equal(t, "third", got[2].Score, 0.1)
}
