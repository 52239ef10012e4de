package search

import (
	"errors"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// Rows is an index as a store keeps it, seen inside one transaction.
type Rows interface {
	// Segments returns every segment in the order of their rows.
	Segments() ([]Segment, error)
	// Docs and Terms return what a segment holds beside its lists.
	Docs(segment int64) ([]byte, error)
	Terms(segment int64) ([]byte, error)
	// ListTerms returns the terms that have a list in a segment, in their order.
	ListTerms(segment int64) ([]string, error)
	// Lists returns the lists of a segment for those of the terms that it has.
	Lists(segment int64, terms []string) (map[string][]byte, error)
	// Dead returns the rows of a segment that are deleted.
	Dead(segment int64) ([]int64, error)
	// Tail returns the first n documents behind a row that are in no segment yet, in the
	// order of their rows; 0 returns all of them. A row never gets another document.
	Tail(after int64, n int) ([]Document, error)
	// TailRows returns the rows of all of these documents.
	TailRows() ([]int64, error)
	// HasTail reports whether there are at least n of these documents.
	HasTail(n int) (bool, error)
}

// Filter says which documents are asked for: those that have one facet of each group.
type Filter [][]string

// Asked is a term of a question: documents that have one of its variants have it.
type Asked struct {
	Word     string // of the question
	Variants []Variant
}

// Variant is a term that a word of the question may have meant, and how much it is
// worth in place of that word.
type Variant struct {
	Term  string
	Share float64
}

// Match is a document and what it has of the words of a question.
type Match struct {
	Row int64
	// Words is how much of the question its words answer: its BM25 score over that of
	// a document of usual length that has every word of the question once.
	Words float64
	// Has has a bit for each word of the question, in their order, that it has.
	Has uint64
}

// reader is an index that is being asked.
type reader struct {
	rows  Rows
	cache *Cache
	parts []*opened
	docs  int64 // documents that live
	words int64 // of them
}

// opened is a segment, or the tail.
type opened struct {
	documents
	segment Segment // zero for the tail
	tail    []Document
	lists   map[string]list
	dead    []uint32
	passing set // what lives and passes the filter; nil: all
}

// open reads what every question needs.
func open(rows Rows, cache *Cache) (*reader, error) {
	r := &reader{rows: rows, cache: cache}
	segments, err := rows.Segments()
	if err != nil {
		return nil, err
	}
	cache.keep(segments)
	for _, s := range segments {
		if s.Level == building {
			continue
		}
		o, err := r.segment(s)
		if err != nil {
			return nil, err
		}
		r.parts = append(r.parts, o)
	}
	tail, err := cache.documentsOfTail(rows)
	if err != nil {
		return nil, err
	}
	o := &opened{tail: tail, lists: map[string]list{}}
	for _, d := range tail {
		o.rows, o.lengths = append(o.rows, d.Row), append(o.lengths, uint16(min(d.Length, maxLength)))
		o.words += int64(o.lengths[len(o.lengths)-1])
	}
	r.parts = append(r.parts, o)
	for _, o := range r.parts {
		r.docs += int64(len(o.rows) - len(o.dead))
		r.words += o.words
		for _, doc := range o.dead {
			r.words -= int64(o.lengths[doc])
		}
	}
	return r, nil
}

func (r *reader) segment(s Segment) (*opened, error) {
	d, err := r.cache.documents(r.rows, s)
	if err != nil {
		return nil, err
	}
	o := &opened{documents: d, segment: s, lists: map[string]list{}}
	dead, err := r.rows.Dead(s.ID)
	if err != nil {
		return nil, err
	}
	for _, row := range slices.Sorted(slices.Values(dead)) {
		if doc, ok := d.find(row); ok {
			o.dead = append(o.dead, doc)
		}
	}
	return o, nil
}

// fetch reads the lists of terms that are not read yet.
func (r *reader) fetch(terms []string) error {
	terms = slices.Compact(slices.Sorted(slices.Values(terms)))
	for _, o := range r.parts {
		if err := r.fetchOf(o, terms); err != nil {
			return err
		}
	}
	return nil
}

// fetchOf is fetch for a segment, or the tail.
func (r *reader) fetchOf(o *opened, terms []string) error {
	missing := make([]string, 0, len(terms))
	for _, t := range terms {
		if _, ok := o.lists[t]; !ok {
			missing = append(missing, t)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	if o.segment.ID != 0 {
		return o.fetchSegment(r.rows, r.cache, missing)
	}
	for _, t := range missing {
		o.lists[t] = list{} // none, unless one is found
	}
	return o.fetchTail(missing)
}

func (o *opened) fetchSegment(rows Rows, cache *Cache, terms []string) error {
	unread := terms[:0]
	for _, t := range terms {
		l, ok := cache.list(o.segment, t)
		if o.lists[t] = l; !ok {
			unread = append(unread, t)
		}
	}
	if len(unread) == 0 {
		return nil
	}
	raw, err := rows.Lists(o.segment.ID, unread)
	if err != nil {
		return err
	}
	for _, t := range unread {
		var l list
		if b, ok := raw[t]; ok {
			if l, err = openList(b, len(o.rows)); err != nil {
				return err
			}
		}
		o.lists[t] = l
		cache.putList(o.segment, t, l)
	}
	return nil
}

// fetchTail makes the lists of some terms of documents that are in no segment.
func (o *opened) fetchTail(terms []string) error {
	postings := map[string][]posting{}
	for i, d := range o.tail {
		at := 0
		for _, t := range terms {
			k, ok := slices.BinarySearchFunc(d.Terms[at:], t, func(x Term, t string) int { return strings.Compare(x.Text, t) })
			if at += k; ok {
				postings[t] = append(postings[t], posting{uint32(i), d.Terms[at].Weight})
			}
		}
	}
	for term, p := range postings {
		l, err := openList(marshalList(p, o.lengths), len(o.rows))
		if err != nil {
			return err
		}
		o.lists[term] = l
	}
	return nil
}

// living is how many of the documents of a list live.
func (o *opened) living(term string) (n int64, err error) {
	l := o.lists[term]
	if l.n == 0 || len(o.dead) == 0 {
		return int64(l.n), nil
	}
	c := newCursor(l, worth{})
	n = int64(l.n)
	for _, doc := range o.dead {
		if c.seek(int(doc)); c.doc == int(doc) {
			n--
		}
	}
	return n, c.err
}

// filter leaves what lives and has a facet of each group.
func (r *reader) filter(o *opened, f Filter) error {
	if len(o.dead) == 0 && len(f) == 0 {
		return nil
	}
	o.passing = fullSet(len(o.rows))
	for _, doc := range o.dead {
		o.passing.remove(doc)
	}
	for _, group := range f {
		one := newSet(len(o.rows))
		for _, facet := range group {
			has, err := r.having(o, facet)
			if err != nil {
				return err
			}
			one.or(has)
		}
		o.passing.and(one)
	}
	return nil
}

// having returns the documents that have a facet.
func (r *reader) having(o *opened, facet string) (set, error) {
	if s, ok := r.cache.set(o.segment, facet); ok && o.segment.ID != 0 {
		return s, nil
	}
	if err := r.fetchOf(o, []string{facet}); err != nil {
		return nil, err
	}
	s, l := newSet(len(o.rows)), o.lists[facet]
	if err := s.addList(&l); err != nil {
		return nil, err
	}
	if o.segment.ID != 0 {
		r.cache.putSet(o.segment, facet, s)
	}
	return s, nil
}

// any reports whether a document that passes has a term.
func (o *opened) any(term string) (bool, error) {
	l := o.lists[term]
	if l.n == 0 || o.passing == nil {
		return l.n > 0, nil
	}
	var buf [blockSize]posting
	for k := range l.blocks {
		n, err := l.decode(k, &buf)
		if err != nil {
			return false, err
		}
		for _, p := range buf[:n] {
			if o.passing.has(p.doc) {
				return true, nil
			}
		}
	}
	return false, nil
}

// rarity is the weight of a term that df of n documents have.
func rarity(n, df int64) float64 {
	return math.Log1p((float64(n-df) + 0.5) / (float64(df) + 0.5))
}

// Asking is a question that is being answered.
type Asking struct {
	*reader
	worths []map[string]worth // by word of the question
	// Rarity is how rare each word of the question is, and Whole their sum.
	Rarity []float64
	Whole  float64
}

// maxAsked bounds the words of a question.
const maxAsked = 64

// Ask begins to answer questions about the documents that pass a filter. A cache that goes
// with the rows may be nil.
func Ask(rows Rows, cache *Cache, filter Filter) (*Asking, error) {
	r, err := open(rows, cache)
	if err != nil {
		return nil, err
	}
	for _, o := range r.parts {
		if err := r.filter(o, filter); err != nil {
			return nil, err
		}
	}
	return &Asking{reader: r}, nil
}

// Has reports whether a document that passes the filter has a term.
func (a *Asking) Has(term string) (bool, error) {
	if err := a.fetch([]string{term}); err != nil {
		return false, err
	}
	for _, o := range a.parts {
		if has, err := o.any(term); err != nil || has {
			return has, err
		}
	}
	return false, nil
}

// For says which words are asked for, and finds out what each is worth.
func (a *Asking) For(asked []Asked) error {
	asked = asked[:min(len(asked), maxAsked)]
	var terms []string
	for _, one := range asked {
		for _, v := range one.Variants {
			terms = append(terms, v.Term)
		}
	}
	if err := a.fetch(terms); err != nil {
		return err
	}
	a.worths, a.Rarity, a.Whole = nil, nil, 0
	average := max(1, float64(a.words)/float64(max(a.docs, 1)))
	for _, one := range asked {
		df := int64(0)
		for _, v := range one.Variants {
			for _, o := range a.parts {
				n, err := o.living(v.Term)
				if err != nil {
					return err
				}
				df += n
			}
		}
		idf := rarity(a.docs, min(df, a.docs))
		worths := map[string]worth{}
		for _, v := range one.Variants {
			worths[v.Term] = worth{idf: float64(idf * v.Share), average: average}
		}
		a.Rarity, a.worths = append(a.Rarity, idf), append(a.worths, worths)
		a.Whole += idf
	}
	return nil
}

// Best returns the rows of the n best documents.
func (a *Asking) Best(n int) ([]int64, error) {
	workers := 1
	if a.docs >= manyDocs {
		workers = min(runtime.GOMAXPROCS(0), len(a.parts))
	}
	top, err := a.best(n, workers)
	if err != nil {
		return nil, err
	}
	out := make([]int64, 0, len(top))
	for _, s := range top {
		out = append(out, s.row)
	}
	return out, nil
}

// manyDocs are so many that several processors look for the best.
const manyDocs = 200_000

// best returns the n best documents, best first. Workers share the parts.
func (a *Asking) best(n, workers int) ([]scored, error) {
	together := a.together()
	if workers <= 1 {
		top, err := a.bestOf(together, n, 0, 1)
		return top.sorted(), err
	}
	tops, errs, panics := make([]*best, workers), make([]error, workers), make([]any, workers)
	var all sync.WaitGroup
	for i := range workers {
		all.Go(func() {
			defer func() { panics[i] = recover() }()
			tops[i], errs[i] = a.bestOf(together, n, i, workers)
		})
	}
	all.Wait()
	whole := &best{n: n}
	for i, top := range tops {
		if panics[i] != nil {
			panic(panics[i]) // where the caller can catch it
		}
		for _, s := range top.heap {
			whole.offer(s)
		}
	}
	return whole.sorted(), errors.Join(errs...)
}

// bestOf returns the n best documents of one part in every so many.
func (a *Asking) bestOf(together map[string]worth, n, worker, workers int) (*best, error) {
	top := &best{n: n}
	// The newest first: of equals they are better, and what they score the others have
	// to beat.
	for i, o := range slices.Backward(a.parts) {
		if i%workers != worker {
			continue
		}
		var cursors []*cursor
		for term, w := range together {
			if l := o.lists[term]; l.n > 0 {
				cursors = append(cursors, newCursor(l, w))
			}
		}
		if err := maxScore(cursors, &o.documents, o.passing, top); err != nil {
			return top, err
		}
	}
	return top, nil
}

// Passes reports whether a row is there and passes the filter.
func (a *Asking) Passes(row int64) bool {
	for _, o := range a.parts {
		if n := len(o.rows); n == 0 || row < o.rows[0] || row > o.rows[n-1] {
			continue
		}
		if doc, ok := o.find(row); ok {
			return o.passing == nil || o.passing.has(doc)
		}
	}
	return false
}

// together returns the terms of all words, each with the most it is worth to one.
func (a *Asking) together() map[string]worth {
	out := map[string]worth{}
	for _, worths := range a.worths {
		for term, w := range worths {
			if w.idf > out[term].idf {
				out[term] = w
			}
		}
	}
	return out
}

// Look returns what some documents have of the words. Rows that the index does not
// have, or that do not pass the filter, are left out.
func (a *Asking) Look(rows []int64) ([]Match, error) {
	rows = slices.Compact(slices.Sorted(slices.Values(rows)))
	var out []Match
	for _, o := range a.parts {
		if len(o.rows) == 0 {
			continue
		}
		from, _ := slices.BinarySearch(rows, o.rows[0])
		to, _ := slices.BinarySearch(rows, o.rows[len(o.rows)-1]+1)
		var docs []uint32
		for _, row := range rows[from:to] {
			if doc, ok := o.find(row); ok && (o.passing == nil || o.passing.has(doc)) {
				docs = append(docs, doc)
			}
		}
		if len(docs) == 0 {
			continue
		}
		found, err := a.lookIn(o, docs)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

// Having returns which of some rows have a term.
func (a *Asking) Having(term string, rows []int64) (map[int64]bool, error) {
	if err := a.fetch([]string{term}); err != nil {
		return nil, err
	}
	rows = slices.Compact(slices.Sorted(slices.Values(rows)))
	out := map[int64]bool{}
	for _, o := range a.parts {
		if o.lists[term].n == 0 {
			continue
		}
		c := newCursor(o.lists[term], worth{})
		for _, row := range rows {
			doc, ok := o.find(row)
			if !ok {
				continue
			}
			if c.seek(int(doc)); c.doc == int(doc) {
				out[row] = true
			}
		}
		if c.err != nil {
			return nil, c.err
		}
	}
	return out, nil
}

// lookIn is Look for documents of one segment, in order. The best variant of a word
// counts.
func (a *Asking) lookIn(o *opened, docs []uint32) ([]Match, error) {
	out := make([]Match, len(docs))
	scores := make([]int64, len(docs))
	for i, doc := range docs {
		out[i].Row = o.rows[doc]
	}
	for k, worths := range a.worths {
		word := make([]int64, len(docs))
		for term, w := range worths {
			l, ok := o.lists[term]
			if !ok || l.n == 0 {
				continue
			}
			c := newCursor(l, w)
			for i, doc := range docs {
				if c.seek(int(doc)); c.doc == int(doc) {
					word[i] = max(word[i], c.score(o.lengths[doc]))
					out[i].Has |= 1 << k
				}
			}
			if c.err != nil {
				return nil, c.err
			}
		}
		for i := range docs {
			scores[i] += word[i]
		}
	}
	for i := range out {
		if a.Whole > 0 {
			out[i].Words = float64(scores[i]) / scoreUnit / a.Whole
		}
	}
	return out, nil
}
