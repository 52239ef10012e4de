package search

import (
	"cmp"
	"math/bits"
	"slices"
)

// Scores of words are BM25: how rare a term is, times how much of it a document has,
// less what a long document has by chance. They are whole numbers, so that a sum is the
// same in whatever order it is made, on every platform.
const (
	k1 = 1.2
	b  = 0.3
	// scoreUnit is the score 1.
	scoreUnit = 1 << 20
)

// worth is what a term adds to the score of a document.
type worth struct {
	idf     float64
	average float64 // length of a document
}

func (w worth) of(weight uint32, length uint16) int64 {
	// Each product is rounded on its own: some platforms would not.
	norm := float64(k1 * (1 - b + float64(b*float64(length)/w.average)))
	share := float64(float64(weight)*(k1+1)) / (float64(weight) + norm)
	return int64(float64(w.idf*share) * scoreUnit)
}

// cursor walks the list of a term in the order of documents, block by block; a block
// that cannot matter is never decoded.
type cursor struct {
	list   list
	worth  worth
	bounds []int64 // no document of each block scores more
	bound  int64   // of all blocks
	at     int     // block
	loaded bool    // buf holds block at
	i, n   int     // in buf
	buf    [blockSize]posting
	doc    int // current document, or the first it can be while not loaded; end when there is none
	err    error
}

const end = int(^uint(0) >> 1)

func newCursor(l list, w worth) *cursor {
	c := &cursor{list: l, worth: w, bounds: make([]int64, len(l.blocks))}
	for i := range l.blocks {
		k := &l.blocks[i]
		c.bounds[i] = w.of(k.most, k.shortest)
		c.bound = max(c.bound, c.bounds[i])
	}
	c.enter(0)
	c.load()
	return c
}

// enter goes to a block without reading it.
func (c *cursor) enter(i int) {
	c.at, c.loaded = i, false
	if i >= len(c.list.blocks) {
		c.doc = end
		return
	}
	c.doc = c.list.blocks[i].before + 1
}

// load reads the current block, and stands at its first document.
func (c *cursor) load() {
	if c.doc == end || c.loaded {
		return
	}
	c.n, c.err = c.list.decode(c.at, &c.buf)
	c.i, c.loaded = 0, true
	if c.err != nil {
		c.doc = end
		return
	}
	c.doc = int(c.buf[0].doc)
}

// shallow moves to the block that would hold a document, without reading it.
func (c *cursor) shallow(doc int) {
	if c.doc == end || c.list.blocks[c.at].last >= doc {
		return
	}
	i, _ := slices.BinarySearchFunc(c.list.blocks[c.at:], doc, func(k block, doc int) int { return cmp.Compare(k.last, doc) })
	c.enter(c.at + i)
}

// seek moves to the first document that is not before doc.
func (c *cursor) seek(doc int) {
	if c.doc >= doc && c.loaded {
		return
	}
	c.shallow(doc)
	c.load()
	if c.doc >= doc {
		return
	}
	for c.i++; int(c.buf[c.i].doc) < doc; c.i++ {
	}
	c.doc = int(c.buf[c.i].doc)
}

func (c *cursor) score(length uint16) int64 { return c.worth.of(c.buf[c.i].weight, length) }

// scored is the row of a document with its score.
type scored struct{ row, score int64 }

// best keeps the n best documents that are offered. Among equals the one with the higher
// row is better: it is newer.
type best struct {
	n    int
	heap []scored // the worst first
}

func worse(a, b scored) bool {
	return a.score < b.score || a.score == b.score && a.row < b.row
}

// floor is the score that a document must have to get in; one with exactly this score
// gets in where it is newer.
func (t *best) floor() int64 {
	if len(t.heap) < t.n {
		return -1
	}
	return t.heap[0].score
}

func (t *best) offer(s scored) {
	h := t.heap
	if len(h) < t.n {
		h = append(h, s)
		for i := len(h) - 1; i > 0 && worse(h[i], h[(i-1)/2]); i = (i - 1) / 2 {
			h[i], h[(i-1)/2] = h[(i-1)/2], h[i]
		}
		t.heap = h
		return
	}
	if !worse(h[0], s) {
		return
	}
	h[0] = s
	for i := 0; ; {
		least := i
		for k := 2*i + 1; k <= 2*i+2 && k < len(h); k++ {
			if worse(h[k], h[least]) {
				least = k
			}
		}
		if least == i {
			return
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
}

// sorted returns the documents, best first.
func (t *best) sorted() []scored {
	slices.SortFunc(t.heap, func(a, b scored) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.row, a.row))
	})
	return t.heap
}

// windowSize is how many documents are scored at a time.
const windowSize = 2048

// window collects the scores of documents next to each other.
type window struct {
	begin  int // document
	scores [windowSize]int64
	hit    [windowSize / 64]uint64
}

// maxScore offers the documents of a segment that contain a term, and are allowed, to
// top; nil allows all. It is MaxScore with bounds of blocks: terms too common to lift a
// document over the floor alone are only looked up. The others are added up one after
// the other, for a window of documents at a time; windows whose blocks cannot reach the
// floor are passed over.
func maxScore(cursors []*cursor, docs *documents, allowed set, top *best) error {
	slices.SortFunc(cursors, func(a, b *cursor) int { return cmp.Compare(a.bound, b.bound) })
	reach := make([]int64, len(cursors)+1) // bound of the first i together
	for i, c := range cursors {
		reach[i+1] = reach[i] + c.bound
	}
	first := 0 // those before it cannot reach the floor together
	var w window
	for {
		for first < len(cursors) && reach[first+1] < top.floor() {
			first++
		}
		w.begin = end
		for _, c := range cursors[first:] {
			w.begin = min(w.begin, c.doc)
		}
		if w.begin == end {
			break
		}
		if skip := skipTo(cursors[first:], w.begin, top.floor()-reach[first]); skip > w.begin {
			for _, c := range cursors[first:] {
				c.seek(skip)
			}
			continue
		}
		for _, c := range cursors[first:] {
			w.add(c, docs, allowed)
		}
		w.offer(cursors[:first], reach, docs, top)
	}
	for _, c := range cursors {
		if c.err != nil {
			return c.err
		}
	}
	return nil
}

// add adds the scores of a term, and moves its cursor behind the window.
func (w *window) add(c *cursor, docs *documents, allowed set) {
	for stop := w.begin + windowSize; c.doc < stop; {
		for ; c.i < c.n && int(c.buf[c.i].doc) < stop; c.i++ {
			p := c.buf[c.i]
			if allowed != nil && !allowed.has(p.doc) {
				continue
			}
			at := int(p.doc) - w.begin
			w.scores[at] += c.worth.of(p.weight, docs.lengths[p.doc])
			w.hit[at>>6] |= 1 << (at & 63)
		}
		if c.i < c.n {
			c.doc = int(c.buf[c.i].doc)
			return
		}
		c.enter(c.at + 1)
		c.load()
	}
}

// offer adds what the common terms are worth to each document that may get in with them,
// offers it, and empties the window.
func (w *window) offer(common []*cursor, reach []int64, docs *documents, top *best) {
	for k := range w.hit {
		for left := w.hit[k]; left != 0; left &= left - 1 {
			at := k<<6 + bits.TrailingZeros64(left)
			doc, score := w.begin+at, w.scores[at]
			w.scores[at] = 0
			for i := len(common) - 1; i >= 0 && score+reach[i+1] >= top.floor(); i-- {
				c := common[i]
				if c.shallow(doc); c.doc == end || score+reach[i]+c.bounds[c.at] < top.floor() {
					continue
				}
				if c.seek(doc); c.doc == doc {
					score += c.score(docs.lengths[doc])
				}
			}
			if score >= top.floor() {
				top.offer(scored{docs.rows[doc], score})
			}
		}
		w.hit[k] = 0
	}
}

// skipTo returns the first document behind doc that may reach the floor, or doc itself:
// no document up to the end of the nearest block does when the blocks together do not.
func skipTo(cursors []*cursor, doc int, floor int64) int {
	sum, nearest := int64(0), end
	for _, c := range cursors {
		if c.doc == end {
			continue
		}
		k := &c.list.blocks[c.at]
		if c.doc > doc { // it begins behind doc: nothing of it before that
			nearest = min(nearest, c.doc-1)
			continue
		}
		sum += c.bounds[c.at]
		nearest = min(nearest, k.last)
	}
	if sum >= floor {
		return doc
	}
	return nearest + 1
}
