// Package search is the index over everything that was lived: which passages contain
// the words of a question, which are near it in meaning, and which of them answer it.
//
// It knows nothing of databases. A store keeps its rows ([Rows]) and gets the same
// answers as any other store that keeps the same ones.
package search

import (
	"encoding/binary"
	"slices"
	"strings"

	"github.com/amber-memory/amber/internal/recall/analyze"
)

// Field is a text of a passage, and how much one of its words counts.
type Field struct {
	Text   string
	Weight int
}

// Document is a passage as the index sees it.
type Document struct {
	Row    int64 // its number in the store; a later document has a higher one
	Length int   // words
	Terms  []Term
}

// Term is a term of a document, and how much of it there is.
type Term struct {
	Text   string
	Weight uint32
}

// Terms that are no words begin with a byte that no word begins with.
const (
	facetMark = "\x01" // something that a document is or belongs to
	pairMark  = "\x02" // one or two characters of a script without spaces
	formMark  = "\x03" // a word as it was written, folded, where its term is another
)

// vocable returns the word of a term, which a misspelt word of a question may have meant.
// It returns none for facets and characters.
func vocable(term string) (word string, ok bool) {
	switch {
	case term == "" || term[:1] == facetMark || term[:1] == pairMark:
		return "", false
	case term[:1] == formMark:
		return term[1:], true
	}
	return term, true
}

// Facet is the term of something a document is or belongs to.
func Facet(name, value string) string { return facetMark + name + "\x1f" + value }

// Analyze returns the document of a passage.
func Analyze(row int64, fields []Field, facets []string) Document {
	d := Document{Row: row}
	for _, f := range fields {
		d.addField(f)
	}
	for _, f := range facets {
		d.add(f, 1)
	}
	d.Length = min(d.Length, maxLength)
	d.sum()
	return d
}

func (d *Document) add(term string, weight int) {
	d.Terms = append(d.Terms, Term{term, uint32(weight)})
}

func (d *Document) addField(f Field) {
	plain := analyze.EachPlain(f.Text, func(word, stem string) {
		d.Length++
		d.add(stem, f.Weight)
		d.addForm(word, stem)
	})
	if plain {
		return
	}
	terms := analyze.Terms(f.Text)
	d.Length += len(terms)
	for _, t := range terms {
		d.add(t, f.Weight)
	}
	for _, g := range analyze.Glued(f.Text) {
		d.add(analyze.Stem(g), f.Weight)
	}
	words, runs := analyze.Split(f.Text)
	for _, w := range words {
		d.addForm(w, analyze.Stem(w))
	}
	for _, run := range runs {
		for n := range 2 {
			for _, part := range analyze.Grams(run, n+1) {
				d.add(pairMark+part, f.Weight)
			}
		}
	}
}

// addForm adds a word as it was written where its term is another.
func (d *Document) addForm(word, stem string) {
	if stem != word {
		d.add(formMark+word, 1)
	}
}

// sum sorts the terms and leaves each once. It adds up the weights of equal terms, except
// for facets and forms, which only count as present.
func (d *Document) sum() {
	slices.SortFunc(d.Terms, func(a, b Term) int { return strings.Compare(a.Text, b.Text) })
	terms := d.Terms[:0]
	for _, t := range d.Terms {
		last := len(terms) - 1
		if last < 0 || terms[last].Text != t.Text {
			terms = append(terms, Term{t.Text, min(t.Weight, maxWeight)})
			continue
		}
		if mark := t.Text[:min(len(t.Text), 1)]; mark != facetMark && mark != formMark {
			terms[last].Weight = min(terms[last].Weight+t.Weight, maxWeight)
		}
	}
	d.Terms = slices.Clone(terms)
}

// A document that is in no segment yet is one row:
//
//	uvarint  length
//	uvarint  number of terms, then each: text as below, uvarint weight
//
// A text is the number of bytes it begins with like the one before, the number of
// those that follow, and these.

// Marshal returns the bytes of the document without its row.
func (d Document) Marshal() []byte {
	b := binary.AppendUvarint(nil, uint64(d.Length))
	b = binary.AppendUvarint(b, uint64(len(d.Terms)))
	last := ""
	for _, t := range d.Terms {
		b = appendText(b, &last, t.Text)
		b = binary.AppendUvarint(b, uint64(t.Weight))
	}
	return b
}

// UnmarshalDocument reads a document of a row.
func UnmarshalDocument(row int64, b []byte) (Document, error) {
	r := varints{b: b}
	d := Document{Row: row, Length: int(min(r.next(), maxLength))}
	n := r.next()
	if n > uint64(len(b)) {
		return d, errList
	}
	d.Terms = make([]Term, 0, n)
	last := ""
	for range n {
		text := r.text(&last)
		weight := r.next()
		if weight > maxWeight {
			return d, errList
		}
		d.Terms = append(d.Terms, Term{text, uint32(weight)})
	}
	if r.bad || r.at != len(b) {
		return d, errList
	}
	return d, nil
}

func appendText(b []byte, last *string, text string) []byte {
	same := 0
	for same < len(text) && same < len(*last) && text[same] == (*last)[same] {
		same++
	}
	b = binary.AppendUvarint(b, uint64(same))
	b = binary.AppendUvarint(b, uint64(len(text)-same))
	*last = text
	return append(b, text[same:]...)
}

func marshalTexts(texts []string) (b []byte) {
	b = binary.AppendUvarint(b, uint64(len(texts)))
	last := ""
	for _, t := range texts {
		b = appendText(b, &last, t)
	}
	return b
}

// text reads a text that may begin like the last one.
func (r *varints) text(last *string) string {
	same, n := r.next(), r.next()
	if r.bad || same > uint64(len(*last)) || n > uint64(len(r.b)-r.at) {
		r.bad = true
		return ""
	}
	*last = (*last)[:same] + string(r.b[r.at:r.at+int(n)])
	r.at += int(n)
	return *last
}

// maxTexts is how many bytes a list of texts may have: each may begin like the one before, so
// that few stored bytes can make many.
const maxTexts = 1 << 28

// texts reads a list of texts of at most so many bytes. They are parts of one string: a
// vocabulary has 100 000 of them.
func (r *varints) texts(most uint64) []string {
	n := r.next()
	if n > uint64(len(r.b)) {
		r.bad = true
		return nil
	}
	var all strings.Builder
	all.Grow(2 * (len(r.b) - r.at))
	ends := make([]int, 0, n)
	last := 0 // where the last text begins
	for range n {
		same, own := r.next(), r.next()
		begin := all.Len()
		if r.bad || same > uint64(begin-last) || own > uint64(len(r.b)-r.at) || uint64(begin)+same+own > most {
			r.bad = true
			return nil
		}
		all.WriteString(all.String()[last : last+int(same)])
		all.Write(r.b[r.at : r.at+int(own)])
		r.at += int(own)
		last, ends = begin, append(ends, all.Len())
	}
	out, begin := make([]string, len(ends)), 0
	for i, end := range ends {
		out[i], begin = all.String()[begin:end], end
	}
	return out
}

// Word returns a term without the mark that says what it is.
func Word(term string) string {
	if term != "" && term[0] < ' ' {
		return term[1:]
	}
	return term
}

// EachTerm calls fn with the words of the terms of a segment.
func EachTerm(terms []byte, fn func(word string) error) error {
	all, err := openTexts(terms)
	if err != nil {
		return err
	}
	for _, t := range all {
		if err := fn(Word(t)); err != nil {
			return err
		}
	}
	return nil
}
