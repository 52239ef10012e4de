package inmem

import (
	"math"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/analyze"
)

// The constants of BM25 as FTS5 has them: how soon repetition stops to count,
// how much length counts, and the least a term is worth.
const (
	saturation  = 1.2
	lengthShare = 0.75
	minWorth    = 1e-6
)

// ranker scores documents against one query, by the statistics of every live
// memory.
type ranker struct {
	terms   []term
	worth   []float64 // of each term: the rarer, the more
	average float64   // length of a document
}

func newRanker(q analyze.Query, corpus []*document) ranker {
	r := ranker{terms: termsOf(q, corpus)}
	for _, t := range r.terms {
		with := 0
		for _, d := range corpus {
			if d.frequency(t) > 0 {
				with++
			}
		}
		worth := math.Log((float64(len(corpus)-with) + 0.5) / (float64(with) + 0.5))
		r.worth = append(r.worth, math.Max(worth, minWorth))
	}
	// Summed up as integers: the corpus has no order, and floats would round
	// differently each time.
	length := 0
	for _, d := range corpus {
		length += d.length
	}
	r.average = float64(length) / float64(max(len(corpus), 1))
	return r
}

// explain returns what each kind of term adds to the score of d, and where
// each term was found. A document that does not match has no terms.
func (r ranker) explain(d *document) amber.Why {
	why := amber.Why{Terms: []amber.TermMatch{}}
	for i, t := range r.terms {
		f := d.frequency(t)
		if f == 0 {
			continue
		}
		why.Terms = append(why.Terms, amber.TermMatch{Term: t.text, Fields: d.fieldsWith(t)})
		switch t.kind {
		case wholeWord:
			length := 1 - lengthShare + lengthShare*float64(d.length)/r.average
			why.Words += r.worth[i] * saturated(f, length)
		case partOfWord:
			why.Substring += r.worth[i] * saturated(f, 1)
		case characters:
			why.CJK += r.worth[i] * saturated(f, 1)
		}
	}
	return why
}

// saturated grows with f ever more slowly; length slows it further.
func saturated(f, length float64) float64 { return f * (saturation + 1) / (f + saturation*length) }
