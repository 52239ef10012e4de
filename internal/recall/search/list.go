package search

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// A list says which documents of a segment contain a term, and how much:
//
//	uvarint  number of postings
//	then for each block of at most 128 postings
//	  uvarint  last document, as the distance from the last one of the block before
//	  uvarint  highest weight
//	  uvarint  length of the shortest document
//	  uvarint  bytes of the block
//	then the blocks; each posting is
//	  uvarint  distance from the document before, doubled, plus 1 when a weight follows
//	  uvarint  weight, where it is not 1
//
// The distance of the first posting counts from -1. Highest weight and shortest
// document bound what any document of the block can score.
const blockSize = 128

// posting is a document of a segment and how much of a term it has.
type posting struct{ doc, weight uint32 }

var errList = errors.New("a value of the index is damaged")

// IsDamaged reports whether an error says that a value of the index is not what Amber writes.
func IsDamaged(err error) bool { return errors.Is(err, errList) }

// Damaged is an error that says so of a value that a store keeps for the index.
func Damaged(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{errList}, args...)...)
}

// marshalList returns a list of postings in the order of their documents.
func marshalList(postings []posting, lengths []uint16) (b []byte) {
	b = binary.AppendUvarint(b, uint64(len(postings)))
	var body []byte
	last := -1 // document before
	end := -1  // of the block before
	for rest := postings; len(rest) > 0; {
		block := rest[:min(len(rest), blockSize)]
		rest = rest[len(block):]
		begin := len(body)
		most, shortest := uint32(0), uint16(1<<16-1)
		for _, p := range block {
			distance := uint64(int(p.doc)-last) << 1
			if p.weight == 1 {
				body = binary.AppendUvarint(body, distance)
			} else {
				body = binary.AppendUvarint(body, distance|1)
				body = binary.AppendUvarint(body, uint64(p.weight))
			}
			last = int(p.doc)
			most, shortest = max(most, p.weight), min(shortest, lengths[p.doc])
		}
		b = binary.AppendUvarint(b, uint64(last-end))
		b = binary.AppendUvarint(b, uint64(most))
		b = binary.AppendUvarint(b, uint64(shortest))
		b = binary.AppendUvarint(b, uint64(len(body)-begin))
		end = last
	}
	return append(b, body...)
}

// block is one line of the directory of a list.
type block struct {
	last     int // document
	before   int // last document of the block before, -1 for the first
	most     uint32
	shortest uint16
	begin    int // in the list's bytes
	size     int
	count    int
}

// list is a list that was opened: its directory is read, its blocks are not.
type list struct {
	n      int
	blocks []block
	data   []byte
}

// openList reads the directory of a list over a segment of docs documents.
func openList(b []byte, docs int) (list, error) {
	r := varints{b: b}
	n := r.next()
	if n > uint64(docs) {
		return list{}, errList
	}
	l := list{n: int(n), data: b, blocks: make([]block, 0, (n+blockSize-1)/blockSize)}
	end, at := -1, 0
	for left := l.n; left > 0; left -= blockSize {
		d, most, shortest, size := r.next(), r.next(), r.next(), r.next()
		if r.bad || d == 0 || d > uint64(docs) || most > maxWeight || shortest > maxLength || size > uint64(len(b)) {
			return list{}, errList
		}
		k := block{
			last: end + int(d), before: end, most: uint32(most), shortest: uint16(shortest), begin: at, size: int(size), count: min(left, blockSize),
		}
		end, at = k.last, at+k.size
		l.blocks = append(l.blocks, k)
	}
	if r.bad || end >= docs || len(b)-r.at != at {
		return list{}, errList
	}
	for i := range l.blocks {
		l.blocks[i].begin += r.at
	}
	return l, nil
}

// maxWeight and maxLength bound a posting and a document.
const (
	maxWeight = 1 << 20
	maxLength = 1<<16 - 1
)

// decode reads the postings of a block into out. Most numbers are one byte: the others are
// read apart.
func (l *list) decode(k int, out *[blockSize]posting) (n int, err error) {
	b := &l.blocks[k]
	data := l.data[b.begin : b.begin+b.size]
	doc, at := b.before, 0
	for i := range out[:b.count] {
		if at >= len(data) {
			return 0, errList
		}
		v, weight := uint64(data[at]), uint64(1)
		if at++; v >= 0x80 {
			v, at = number(data, at-1)
		}
		if v&1 != 0 {
			if at >= len(data) {
				return 0, errList
			}
			weight = uint64(data[at])
			if at++; weight >= 0x80 {
				weight, at = number(data, at-1)
			}
		}
		if v >>= 1; v == 0 || v > uint64(b.last-doc) || weight > uint64(b.most) {
			return 0, errList
		}
		doc += int(v)
		out[i] = posting{uint32(doc), uint32(weight)}
	}
	if doc != b.last || at != len(data) {
		return 0, errList
	}
	return b.count, nil
}

// number reads a number, and returns where the next one begins; 0 and the end where it is cut
// off, which no list has.
func number(data []byte, at int) (v uint64, next int) {
	v, n := binary.Uvarint(data[at:])
	if n <= 0 {
		return 0, len(data) + 1
	}
	return v, at + n
}

// postings reads a whole list.
func (l *list) postings() ([]posting, error) {
	out := make([]posting, 0, l.n)
	var buf [blockSize]posting
	for k := range l.blocks {
		n, err := l.decode(k, &buf)
		if err != nil {
			return nil, err
		}
		out = append(out, buf[:n]...)
	}
	return out, nil
}

// varints reads numbers. After the first that is cut off it is bad, and gives zeros.
type varints struct {
	b   []byte
	at  int
	bad bool
}

func (r *varints) next() uint64 {
	if r.at < len(r.b) && r.b[r.at] < 0x80 {
		r.at++
		return uint64(r.b[r.at-1])
	}
	v, n := binary.Uvarint(r.b[min(r.at, len(r.b)):])
	if n <= 0 {
		r.bad = true
		return 0
	}
	r.at += n
	return v
}

// set is a set of documents of a segment.
type set []uint64

func newSet(docs int) set { return make(set, (docs+63)/64) }

func (s set) add(doc uint32)      { s[doc>>6] |= 1 << (doc & 63) }
func (s set) remove(doc uint32)   { s[doc>>6] &^= 1 << (doc & 63) }
func (s set) has(doc uint32) bool { return s[doc>>6]&(1<<(doc&63)) != 0 }

// fullSet is the set of all documents.
func fullSet(docs int) set {
	s := newSet(docs)
	for i := range s {
		s[i] = ^uint64(0)
	}
	if rest := docs & 63; rest != 0 {
		s[len(s)-1] = 1<<rest - 1
	}
	return s
}

// or adds what is in the other.
func (s set) or(o set) {
	for i := range s {
		s[i] |= o[i]
	}
}

// and keeps what is in both.
func (s set) and(o set) {
	for i := range s {
		s[i] &= o[i]
	}
}

// addList adds the documents of a list.
func (s set) addList(l *list) error {
	var buf [blockSize]posting
	for k := range l.blocks {
		n, err := l.decode(k, &buf)
		if err != nil {
			return err
		}
		for _, p := range buf[:n] {
			s.add(p.doc)
		}
	}
	return nil
}
