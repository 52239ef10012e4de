package sqlite

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/analyze"
)

// explain tells which terms of the query a memory contains and where.
func (r *recaller) explain(m match, mem amber.Memory) *amber.Why {
	why := &amber.Why{Terms: []amber.TermMatch{}, Words: m.words, Substring: m.substring, CJK: m.cjk, Related: m.related}
	fields := []struct{ name, text string }{
		{"title", mem.Title},
		{"topic", mem.Topic},
		{"tags", strings.Join(mem.Tags, "\n")},
		{"summary", mem.Summary},
		{"content", mem.Content},
	}
	look := func(term string, in func(text string) bool) {
		var names []string
		for _, f := range fields {
			if in(f.text) {
				names = append(names, f.name)
			}
		}
		if names != nil {
			why.Terms = append(why.Terms, amber.TermMatch{Term: term, Fields: names})
		}
	}
	words := r.query.Words
	if m.related {
		words = r.query.Related
	}
	for _, w := range words {
		stem := analyze.Stem(w)
		if slices.Contains(r.unknown, w) {
			look(w, func(text string) bool {
				return utf8.RuneCountInString(w) >= minPart && strings.Contains(analyze.Fold(text), w)
			})
			continue
		}
		look(w, func(text string) bool {
			return slices.Contains(analyze.Terms(text), stem) || slices.ContainsFunc(analyze.Glued(text), func(g string) bool { return analyze.Stem(g) == stem })
		})
	}
	for _, run := range r.query.Runs {
		for _, gram := range analyze.Grams(run, 2) {
			look(gram, func(text string) bool { return strings.Contains(text, gram) })
		}
	}
	return why
}
