package search

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/recall/analyze"
	"github.com/amber-memory/amber/internal/test/must"
)

// A text that is read in one go gives the terms that Terms, Glued and Split give.
func TestDocumentsHaveTheTermsOfTheirTexts(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(4, 1))
	parts := []string{"Deploys", "the", "relational", "x1_y2", "-", ".", " ", "  ", "caching\n", "don't", "A", "Ä", "é", "使用", "Redis", "缓存", "✅", "\x00", "\xff", "running", "ies", strings.Repeat("long", 40)}
	for range 3000 {
		var fields []Field
		for range 1 + r.IntN(3) {
			text := ""
			for range r.IntN(12) {
				part := parts[r.IntN(len(parts))]
				if text += part; r.IntN(2) == 0 {
					text += " "
				}
			}
			fields = append(fields, Field{text, 1 + r.IntN(6)})
		}
		facets := []string{Facet("kind", "a"), Facet("scope", "b"), Facet("kind", "a")}
		must.Equal(t, "document", Analyze(7, fields, facets), byPart(7, fields, facets))
	}
}

// byPart reads every text three times, and counts terms in a map.
func byPart(row int64, fields []Field, facets []string) Document {
	d := Document{Row: row}
	weights := map[string]uint32{}
	add := func(term string, weight int) { weights[term] = min(weights[term]+uint32(weight), maxWeight) }
	for _, f := range fields {
		terms := analyze.Terms(f.Text)
		d.Length += len(terms)
		for _, t := range terms {
			add(t, f.Weight)
		}
		for _, g := range analyze.Glued(f.Text) {
			add(analyze.Stem(g), f.Weight)
		}
		words, runs := analyze.Split(f.Text)
		for _, w := range words {
			if analyze.Stem(w) != w {
				weights[formMark+w] = 1
			}
		}
		for _, run := range runs {
			for n := range 2 {
				for _, part := range analyze.Grams(run, n+1) {
					add(pairMark+part, f.Weight)
				}
			}
		}
	}
	for _, f := range facets {
		weights[f] = 1
	}
	for _, t := range slices.Sorted(maps.Keys(weights)) {
		d.Terms = append(d.Terms, Term{t, weights[t]})
	}
	return d
}
