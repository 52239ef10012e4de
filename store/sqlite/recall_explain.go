package sqlite

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/analyze"
	"github.com/amber-memory/amber/store/sqlite/internal/sqlrows"
)

// explain tells which terms of the query a memory contains and where.
func (r *recaller) explain(m match, mem amber.Memory) (*amber.Why, error) {
	why := &amber.Why{Terms: []amber.TermMatch{}, Words: m.words, Substring: m.substring, CJK: m.cjk, Related: m.related}
	concepts, err := sqlrows.All(r.tx.Tx, sqlrows.ScanText, selectConcepts, mem.ID)
	if err != nil {
		return nil, err
	}
	texts := []namedText{
		{"title", mem.Title},
		{"topic", mem.Topic},
		{"tags", strings.Join(mem.Tags, "\n")},
		{"summary", mem.Summary},
		{"content", mem.Content},
	}
	words := append(slices.Clone(texts), namedText{"concepts", strings.Join(concepts, "\n")}) // only whole words of concepts are indexed
	look := func(term string, texts []namedText, in func(text string) bool) {
		var names []string
		for _, t := range texts {
			if in(t.text) {
				names = append(names, t.name)
			}
		}
		if names != nil {
			why.Terms = append(why.Terms, amber.TermMatch{Term: term, Fields: names})
		}
	}
	asked := r.query.Words
	if m.related {
		asked = r.query.Related
	}
	for _, w := range asked {
		stem := analyze.Stem(w)
		if slices.Contains(r.unknown, w) {
			look(w, texts, func(text string) bool {
				return utf8.RuneCountInString(w) >= minPart && strings.Contains(analyze.Fold(text), w)
			})
			continue
		}
		look(w, words, func(text string) bool {
			return slices.Contains(analyze.Terms(text), stem) || slices.ContainsFunc(analyze.Glued(text), func(g string) bool { return analyze.Stem(g) == stem })
		})
	}
	for _, run := range r.query.Runs {
		for _, gram := range analyze.Grams(run, 2) {
			look(gram, texts, func(text string) bool { return strings.Contains(text, gram) })
		}
	}
	return why, nil
}

// namedText is one field of a memory.
type namedText struct{ name, text string }
