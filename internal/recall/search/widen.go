package search

import (
	"maps"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/amber-memory/amber/internal/recall/analyze"
	"github.com/amber-memory/amber/internal/recall/lang"
)

// The index has one form of each text, so a question is asked in every form that its words may
// have there: written together, apart, with another ending, and as another spelling of a day.

// The shares of variants that are another form of the same word: such a word is not misspelt.
const (
	shareForm   = 0.9 // another ending, or written together
	shareBorder = 1.0 // a part of it
)

// widener says what the words of one question are looked for by.
type widener struct {
	*recaller
	more    map[string][]Variant // other ways to write a word
	borders map[string][]string  // where its parts are, as the question writes it
	endings analyze.Endings      // of the language of the question
}

// widen finds out how the words of the question may be written, and reads at once what is asked about them.
func (r *recaller) widen(words []string) (*widener, error) {
	w := &widener{recaller: r, more: map[string][]Variant{}, borders: analyze.Borders(r.q.Text), endings: analyze.EndingsOf(lang.Of(r.q.Text))}
	together := analyze.EachTogether(r.q.Text)
	dates := otherDates(r.q.Text)
	var terms []string
	for _, word := range words {
		terms = append(terms, analyze.Stem(word))
	}
	for _, t := range together {
		terms = append(terms, analyze.Stem(t.Word))
	}
	for _, others := range dates {
		for _, o := range others {
			terms = append(terms, analyze.Stem(o))
		}
	}
	if err := r.fetch(slices.Clone(terms)); err != nil {
		return nil, err
	}
	for _, t := range together {
		if err := w.put(t.Of, analyze.Stem(t.Word)); err != nil {
			return nil, err
		}
	}
	for _, word := range slices.Sorted(maps.Keys(dates)) {
		for _, o := range dates[word] {
			if err := w.put([]string{word}, analyze.Stem(o)); err != nil {
				return nil, err
			}
		}
	}
	return w, nil
}

// put notes a term for some words if a passage has it.
func (w *widener) put(words []string, term string) error {
	has, err := w.Has(term)
	if err != nil || !has {
		return err
	}
	for _, word := range words {
		if v := (Variant{term, shareForm}); !slices.Contains(w.more[word], v) {
			w.more[word] = append(w.more[word], v)
		}
	}
	return nil
}

// asked says what a word is looked for by, or what its parts are.
func (w *widener) asked(word string) ([]Asked, error) {
	stem := analyze.Stem(word)
	known, err := w.Has(stem)
	if err != nil {
		return nil, err
	}
	one := Asked{Word: word, Variants: w.more[word]}
	if known {
		one.Variants = append([]Variant{{stem, 1}}, one.Variants...)
	}
	if w.endings != nil {
		if err := w.readVocabularies(); err != nil {
			return nil, err
		}
		for _, v := range w.vocabularies {
			one.Variants = v.inflected(one.Variants, word, w.endings)
		}
	}
	if len(one.Variants) > 0 {
		return []Asked{one}, nil
	}
	if one.Variants, err = w.variants(word); err != nil {
		return nil, err
	}
	if len(one.Variants) == 0 {
		if parts, err := w.apart(word); err != nil || len(parts) > 0 {
			return parts, err
		}
	}
	return []Asked{one}, nil
}

// apart returns what the parts of a word are looked for by, of which passages have one at least: those that the question shows by
// its capitals and digits, else two words that passages have.
func (w *widener) apart(word string) ([]Asked, error) {
	var asked []Asked
	found := false
	for _, p := range w.borders[word] {
		stem := analyze.Stem(p)
		has, err := w.Has(stem)
		if err != nil {
			return nil, err
		}
		if found = found || has; utf8.RuneCountInString(p) > 1 || isNumber(p) {
			asked = append(asked, Asked{Word: p, Variants: []Variant{{stem, shareBorder}}})
		}
	}
	if found {
		return asked, nil
	}
	first, second := w.halves(word)
	if first == "" {
		return nil, nil
	}
	return []Asked{{first, []Variant{{analyze.Stem(first), shareBorder}}}, {second, []Variant{{analyze.Stem(second), shareBorder}}}}, nil
}

func isNumber(s string) bool {
	_, err := strconv.Atoi(s)
	return err == nil
}

// halves returns two words that passages have and that make a word together, the longest first one.
func (w *widener) halves(word string) (first, second string) {
	const half = 4 // letters: shorter words are in many others
	known := map[string]bool{}
	for _, v := range w.vocabularies {
		for _, form := range v.words {
			if n := len(form); n >= half && n <= len(word)-half && (word[:n] == form || word[len(word)-n:] == form) {
				known[form] = true
			}
		}
	}
	for at := len(word) - half; at >= half; at-- {
		if !utf8.RuneStart(word[at]) || !known[word[:at]] {
			continue
		}
		for _, link := range w.endings.Links() {
			if rest := word[at:]; len(rest) >= len(link)+half && rest[:len(link)] == link && known[rest[len(link):]] {
				return word[:at], rest[len(link):]
			}
		}
	}
	return "", ""
}

// inflected adds the terms that are the word with another ending.
func (v vocabulary) inflected(to []Variant, word string, e analyze.Endings) []Variant {
	stem := e.Stem(word)
	if stem == "" {
		return to
	}
	for _, form := range v.words {
		if len(form) < len(stem) || form[:len(stem)] != stem || e.Stem(form) != stem {
			continue
		}
		term := analyze.Stem(form)
		if !slices.ContainsFunc(to, func(v Variant) bool { return v.Term == term }) {
			to = append(to, Variant{term, shareForm})
		}
	}
	return to
}
