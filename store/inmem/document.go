package inmem

import (
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/analyze"
)

// fieldWeights say how much a match in each field counts, in the order hits
// explain themselves in.
var fieldWeights = []struct {
	name   string
	weight float64
}{{"title", 6}, {"topic", 6}, {"tags", 3}, {"summary", 2}, {"content", 1}, {"concepts", 1}}

// document is the text of a memory, analysed.
type document struct {
	fields []field // as fieldWeights
	length int     // in terms
}

type field struct {
	text   string
	folded string
	terms  map[string]int // how often each occurs
}

// analysed returns the document of the record's newest revision.
func (r *record) analysed() *document {
	if r.document == nil {
		r.document = newDocument(r.present(), r.concepts)
	}
	return r.document
}

func newDocument(m amber.Memory, concepts []string) *document {
	d := &document{}
	for _, text := range []string{m.Title, m.Topic, strings.Join(m.Tags, " "), m.Summary, m.Content} {
		f := field{text: text, folded: analyze.Fold(text), terms: map[string]int{}}
		for _, t := range analyze.Terms(text) {
			f.terms[t]++
			d.length++
		}
		for _, w := range analyze.Glued(text) {
			f.terms[analyze.Stem(w)]++
			d.length++
		}
		d.fields = append(d.fields, f)
	}
	// Of concepts only whole words are found.
	f := field{terms: map[string]int{}}
	for _, t := range analyze.Terms(strings.Join(concepts, "\n")) {
		f.terms[t]++
		d.length++
	}
	d.fields = append(d.fields, f)
	return d
}

// frequency adds up the weighted matches of a term in all fields.
func (d *document) frequency(t term) float64 {
	sum := 0.0
	for i, f := range d.fields {
		sum += fieldWeights[i].weight * float64(t.in(f))
	}
	return sum
}

// fieldsWith names the fields in which a term occurs.
func (d *document) fieldsWith(t term) []string {
	var names []string
	for i, f := range d.fields {
		if t.in(f) > 0 {
			names = append(names, fieldWeights[i].name)
		}
	}
	return names
}
