package eval

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
)

// The parameters of the baseline.
const (
	bm25K1 = 1.2
	bm25B  = .75
)

// bm25 ranks texts by plain BM25 over lower-case words: what any search engine can do.
type bm25 struct {
	docs []bm25Doc
	df   map[string]int
	mean float64 // words of a text
}

type bm25Doc struct {
	key   string // orders equals: owners of memories differ from run to run
	hit   Hit
	tf    map[string]int
	words int
}

// newBM25 indexes what is loaded into an agent. Owners holds the owner of each memory
// by its key.
func newBM25(c *Case, owners map[string]string) *bm25 {
	b := &bm25{df: map[string]int{}}
	for _, m := range c.Memories {
		b.add(m.Key, Hit{Owner: owners[m.Key]}, m.Title+" "+m.Content)
	}
	for _, s := range c.Sessions {
		for _, t := range s.Turns {
			b.add(string(t.ID), Hit{Owner: string(t.ID), Session: string(s.ID)}, t.Content)
		}
	}
	total := 0
	for _, d := range b.docs {
		total += d.words
	}
	b.mean = float64(total) / float64(max(len(b.docs), 1))
	return b
}

func (b *bm25) add(key string, h Hit, text string) {
	d := bm25Doc{key: key, hit: h, tf: map[string]int{}}
	for _, w := range wordsOf(text) {
		if d.words++; d.tf[w] == 0 {
			b.df[w]++
		}
		d.tf[w]++
	}
	b.docs = append(b.docs, d)
}

// ask returns the texts that share a word with the question, best first, equals in the
// order of their keys.
func (b *bm25) ask(text string, limit int) (hits []Hit) {
	asked := wordsOf(text)
	var found []bm25Doc
	for _, d := range b.docs {
		for _, w := range asked {
			d.hit.Score += b.weight(w) * d.part(w, b.mean)
		}
		if d.hit.Score > 0 {
			found = append(found, d)
		}
	}
	slices.SortFunc(found, func(x, y bm25Doc) int {
		return cmp.Or(cmp.Compare(y.hit.Score, x.hit.Score), strings.Compare(x.key, y.key))
	})
	for _, d := range found[:min(len(found), limit)] {
		hits = append(hits, d.hit)
	}
	return hits
}

// weight is how much a word says.
func (b *bm25) weight(word string) float64 {
	df := float64(b.df[word])
	return math.Log(1 + (float64(len(b.docs))-df+.5)/(df+.5))
}

// part is how much a text is about a word.
func (d bm25Doc) part(word string, mean float64) float64 {
	tf := float64(d.tf[word])
	if tf == 0 {
		return 0
	}
	return tf * (bm25K1 + 1) / (tf + bm25K1*(1-bm25B+bm25B*float64(d.words)/mean))
}

// wordsOf returns the words of a text in lower case.
func wordsOf(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !isWord(r) })
}

// isWord reports whether a character is part of a word, as \w of Python has it.
func isWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r) }
