package search

import (
	"testing"

	"github.com/amber-memory/amber/internal/test/must"
)

// By meaning alone neither words, nor time, nor a conversation count.
func TestMeaningOnly(t *testing.T) {
	mem := NewMemory()
	add := func(row int64, p Passage, text string, v Vector) {
		mem.Add(Analyze(row, []Field{{text, 1}}, nil), p, v)
	}
	add(1, Passage{Source: "memory", Owner: "far"}, "the ferry leaves at nine", at(80))
	add(2, Passage{Source: "memory", Owner: "near"}, "boats", at(10))
	add(3, Passage{Source: "memory", Owner: "newer", At: 100 * oneDay}, "boats too", at(20))
	add(4, Passage{Source: "memory", Owner: "near", Part: 1}, "more boats", at(5))
	add(5, Passage{Source: "memory", Owner: "none"}, "when does the ferry leave", nil)
	ask := Request{Text: "when does the ferry leave", Meanings: []Meaning{{Model: anyModel, Vector: at(0)}}, Limit: 10, MeaningOnly: true}
	got := must.Get(Recall(mem, nil, ask))(t)
	wantOrder(t, got.Ranked, "near", "newer", "far")
	if got.Ranked[0].Part != 1 || got.Ranked[0].Score < 0.99 {
		t.Errorf("the best passage is part %d with %v, want part 1 with its cosine", got.Ranked[0].Part, got.Ranked[0].Score)
	}
	ask.Limit = 1
	wantOrder(t, must.Get(Recall(mem, nil, ask))(t).Ranked, "near")
	ask.Meanings = nil
	wantOrder(t, must.Get(Recall(mem, nil, ask))(t).Ranked)
}

// TestModelsSideBySide asks a store in which some passages have vectors of one model, some of another and some of both.
func TestModelsSideBySide(t *testing.T) {
	mem := NewMemory()
	add := func(row int64, owner string, first, second Vector) {
		mem.Add(Analyze(row, []Field{{"text", 1}}, nil), Passage{Source: "memory", Owner: owner}, nil)
		mem.Put("first", row, first)
		mem.Put("second", row, second)
	}
	wide := func(x, y float32) Vector { return Quantize(append([]float32{x, y}, make([]float32, 14)...)) }
	add(1, "english", at(60), wide(1, 0))
	add(2, "near", at(10), wide(0, 1))
	add(3, "german", nil, wide(.9, .435))
	ask := Request{Text: "question", Limit: 10, MeaningOnly: true, Meanings: []Meaning{{Model: "first", Vector: at(0)}, {Model: "second", Vector: wide(1, 0)}}}
	wantOrder(t, must.Get(Recall(mem, nil, ask))(t).Ranked, "near", "german", "english")
	ask.Meanings[1].Level = func(cosine float64, _ bool) float64 { return cosine / 10 }
	wantOrder(t, must.Get(Recall(mem, nil, ask))(t).Ranked, "near", "english", "german")
	ask.Meanings = ask.Meanings[1:] // the first model does not know the language of the question
	wantOrder(t, must.Get(Recall(mem, &Cache{}, ask))(t).Ranked, "english", "german", "near")
}
