package search

import (
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/recall/analyze"
)

// NamedText is a field of what was found.
type NamedText struct{ Name, Text string }

// MemoryTexts are the fields of a memory, in the order they are named.
func MemoryTexts(m amber.Memory, concepts []string) []NamedText {
	return []NamedText{
		{"title", m.Title},
		{"topic", m.Topic},
		{"tags", strings.Join(m.Tags, "\n")},
		{"summary", m.Summary},
		{"content", m.Content},
		{"concepts", strings.Join(concepts, "\n")},
	}
}

// Explain tells which of the words of a question some fields have, and the parts of a score.
func Explain(asked []Asked, r Ranked, fields []NamedText) *amber.Why {
	why := &amber.Why{
		Terms: []amber.TermMatch{}, Words: r.Parts.Words, Meaning: r.Parts.Meaning, Neighbours: r.Parts.Neighbours,
		Session: r.Parts.Session, Speaker: r.Parts.Speaker, Time: r.Parts.Time, Kind: r.Parts.Kind, Trust: r.Parts.Trust,
		Feedback: r.Parts.Feedback, Wording: r.Parts.Wording, Newer: r.Parts.Newer,
	}
	terms := make([]map[string]bool, len(fields))
	for i, f := range fields {
		terms[i] = map[string]bool{}
		for _, t := range analyze.Terms(f.Text) {
			terms[i][t] = true
		}
		for _, g := range analyze.Glued(f.Text) {
			terms[i][analyze.Stem(g)] = true
		}
	}
	for _, a := range asked {
		var names []string
		for i, f := range fields {
			if slices.ContainsFunc(a.Variants, func(v Variant) bool {
				part, characters := strings.CutPrefix(v.Term, pairMark)
				return characters && strings.Contains(f.Text, part) || terms[i][v.Term]
			}) {
				names = append(names, f.Name)
			}
		}
		if names != nil {
			why.Terms = append(why.Terms, amber.TermMatch{Term: a.Word, Fields: names})
		}
	}
	return why
}
