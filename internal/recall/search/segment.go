package search

import (
	"encoding/binary"
	"maps"
	"slices"
)

// A segment is many documents that do not change any more: their rows and lengths in
// one place, a list for each term, and the terms.
//
// The documents of a segment:
//
//	uvarint  number of documents
//	then for each: uvarint distance of its row from the one before (from 0)
//	then for each: length in two bytes, little-endian
//
// Its terms are their number, and each as a text of a document is.

// Segment is what a store knows of a segment without reading it.
type Segment struct {
	ID          int64
	Edition     int64 // counts up when its content changes
	First, Last int64 // rows
	Docs        int
	Words       int64 // of all its documents
	Level       int   // how often its documents were merged; building while it is being made
}

// building is the level of a segment that others are being merged into.
const building = -1

// Content is what a segment holds beside its lists.
type Content struct {
	Docs  []byte
	Terms []byte
}

// maxDocs bounds the documents of a segment.
const maxDocs = 1 << 26

// documents are the documents of a segment.
type documents struct {
	rows    []int64
	lengths []uint16
	words   int64 // of all of them; 0 while they are being collected
}

func (d *documents) marshal() []byte {
	b := binary.AppendUvarint(nil, uint64(len(d.rows)))
	last := int64(0)
	for _, r := range d.rows {
		b = binary.AppendUvarint(b, uint64(r-last))
		last = r
	}
	for _, n := range d.lengths {
		b = binary.LittleEndian.AppendUint16(b, n)
	}
	return b
}

func openDocuments(b []byte) (documents, error) {
	r := varints{b: b}
	n := r.next()
	if r.bad || n > maxDocs || n > uint64(len(b)) {
		return documents{}, errList
	}
	d := documents{rows: make([]int64, n), lengths: make([]uint16, n)}
	last := int64(0)
	for i := range d.rows {
		step := r.next()
		if step == 0 || step > 1<<62 || last > 1<<62 {
			return documents{}, errList
		}
		last += int64(step)
		d.rows[i] = last
	}
	if r.bad || len(b)-r.at != 2*len(d.lengths) {
		return documents{}, errList
	}
	for i := range d.lengths {
		d.lengths[i] = binary.LittleEndian.Uint16(b[r.at+2*i:])
		d.words += int64(d.lengths[i])
	}
	return d, nil
}

// segment describes the documents.
func (d *documents) segment(level int) Segment {
	s := Segment{Docs: len(d.rows), Level: level}
	if s.Docs > 0 {
		s.First, s.Last = d.rows[0], d.rows[s.Docs-1]
	}
	for _, n := range d.lengths {
		s.Words += int64(n)
	}
	return s
}

// find returns the document with a row.
func (d *documents) find(row int64) (doc uint32, ok bool) {
	i, ok := slices.BinarySearch(d.rows, row)
	return uint32(i), ok
}

// builder collects documents that become a segment, in the order of their rows.
type builder struct {
	documents
	lists    map[string][]posting
	postings int
}

func newBuilder() *builder { return &builder{lists: map[string][]posting{}} }

func (b *builder) add(d Document) {
	doc := uint32(len(b.rows))
	b.rows, b.lengths = append(b.rows, d.Row), append(b.lengths, uint16(min(d.Length, maxLength)))
	for _, t := range d.Terms {
		b.lists[t.Text] = append(b.lists[t.Text], posting{doc, t.Weight})
	}
	b.postings += len(d.Terms)
}

// terms returns the terms of the documents, sorted.
func (b *builder) terms() []string { return slices.Sorted(maps.Keys(b.lists)) }

func (b *builder) list(term string) []byte { return marshalList(b.lists[term], b.lengths) }

// Entry is a list with its term.
type Entry struct {
	Term string
	List []byte
}
