package inmem

import (
	"strings"
	"unicode/utf8"

	"github.com/amber-memory/amber/internal/analyze"
)

// termKind says how a term is looked for.
type termKind int

const (
	wholeWord  termKind = iota // by its stem
	partOfWord                 // anywhere in the folded text
	characters                 // anywhere in the text
)

// term is one thing a query looks for.
type term struct {
	kind termKind
	text string // as the query has it
	stem string // of a whole word
}

// in counts how often the term occurs in a field.
func (t term) in(f field) int {
	switch t.kind {
	case wholeWord:
		return f.terms[t.stem]
	case partOfWord:
		return strings.Count(f.folded, t.text)
	}
	return strings.Count(f.text, t.text)
}

// minPart is the length of the shortest part of a word that is looked for, in
// characters.
const minPart = 3

// gramSize is how many characters of a run are looked for at a time.
const gramSize = 2

// termsOf turns a query into terms. A word that no document contains is
// looked for inside words instead.
func termsOf(q analyze.Query, corpus []*document) []term {
	var terms []term
	for _, w := range q.Words {
		t := term{kind: wholeWord, text: w, stem: analyze.Stem(w)}
		if !occurs(t, corpus) {
			t.kind = partOfWord
		}
		if t.kind == wholeWord || utf8.RuneCountInString(w) >= minPart {
			terms = append(terms, t)
		}
	}
	seen := map[string]bool{}
	for _, run := range q.Runs {
		for _, gram := range analyze.Grams(run, gramSize) {
			if !seen[gram] {
				seen[gram] = true
				terms = append(terms, term{kind: characters, text: gram})
			}
		}
	}
	return terms
}

func occurs(t term, corpus []*document) bool {
	for _, d := range corpus {
		if d.frequency(t) > 0 {
			return true
		}
	}
	return false
}
