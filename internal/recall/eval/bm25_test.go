package eval

import (
	"math"
	"testing"

	"github.com/amber-memory/amber/internal/test/must"
)

func TestBM25IsTheFormula(t *testing.T) {
	t.Parallel()
	c := &Case{Memories: []Memory{
		{Key: "a", Title: "Red fox", Content: "The red fox sleeps"},
		{Key: "b", Content: "A dog"},
		{Key: "c", Content: "A_dog Großer 7"},
	}}
	b := newBM25(c, map[string]string{"a": "1", "b": "2", "c": "3"})
	hits := b.ask("RED dog", 10)
	mean := (6. + 2 + 3) / 3
	idf := math.Log(1 + (3-1+.5)/(1+.5))
	red := idf * 2 * 2.2 / (2 + 1.2*(.25+.75*6/mean))
	dog := idf * 1 * 2.2 / (1 + 1.2*(.25+.75*2/mean))
	if len(hits) != 2 {
		t.Fatalf("%d hits, want the two texts that share a word", len(hits))
	}
	order := []string{"2", "1"}
	if red > dog {
		order = []string{"1", "2"}
	}
	for i, h := range hits {
		must.Equal(t, "owner", h.Owner, order[i])
		want := map[string]float64{"1": red, "2": dog}[h.Owner]
		must.Hold(t, math.Abs(h.Score-want) < 1e-12, "score of %s is %v, want %v", h.Owner, h.Score, want)
	}
	must.Equal(t, "hits for a word in capitals with an accent", b.ask("GROSSER großer", 10)[0].Owner, "3")
	must.Equal(t, "hits within the limit", len(b.ask("a fox", 1)), 1)
	must.Equal(t, "hits for unknown words", len(b.ask("cat", 10)), 0)
}

func TestBM25OfEqualTextsGoesByKey(t *testing.T) {
	t.Parallel()
	m := &Case{Memories: []Memory{{Key: "b", Content: "same"}, {Key: "a", Content: "same"}}}
	must.Equal(t, "first of two equal memories", newBM25(m, map[string]string{"a": "2", "b": "1"}).ask("same", 10)[0].Owner, "2")
	c := &Case{Sessions: []Session{{ID: "s", Turns: []Turn{{ID: "t2", Content: "same words"}, {ID: "t1", Content: "same words"}}}}}
	hits := newBM25(c, nil).ask("same", 10)
	must.Equal(t, "hits", []string{hits[0].Owner, hits[1].Owner, hits[0].Session}, []string{"t1", "t2", "s"})
}
