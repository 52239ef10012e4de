package redact

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"math/bits"
	"slices"
	"strings"
	"sync"
)

// The key of a needle is eight bytes near its middle: secrets of one kind begin
// alike, and some end alike. They are varied, so that no text is full of them
// and a search takes time in proportion to its text. A bit per hash of a key says whether there
// may be one at a place; for most places there is none, and that bit is all
// the search looks at.
const keyBytes = 8

// keySpread is 2⁶⁴ by the golden ratio.
const keySpread = 0x9e3779b97f4a7c15

// caseFold is what a byte of a key is or'ed with. It parts the cases of letters
// and joins a few other bytes, which the comparison then parts.
const caseFold = 0x20

// keyAt returns where the key of a text begins: the first place behind its
// middle, or else before it, with enough different bytes.
func keyAt(text string) (at int, ok bool) {
	middle := (len(text) - keyBytes) / 2
	for at := middle; at+keyBytes <= len(text); at++ {
		if isVaried(text[at : at+keyBytes]) {
			return at, true
		}
	}
	for at := middle - 1; at >= 0; at-- {
		if isVaried(text[at : at+keyBytes]) {
			return at, true
		}
	}
	return 0, false
}

func isVaried(key string) bool {
	const enough = 5
	different := 0
	for i := range len(key) {
		if strings.IndexByte(key[:i], key[i]) < 0 {
			different++
		}
	}
	return different >= enough
}

// Seal ends the adding. It may be called again after more was added.
func (s *Secrets) Seal() {
	if s.filter != nil && s.sealed == len(s.needles) {
		return
	}
	s.sealed = len(s.needles)
	size := bits.Len(uint(len(s.needles))) + 6
	s.shift = 64 - max(size, 12)
	s.filter = make([]uint64, 1<<(64-s.shift)/64)
	s.index = make(map[uint64][]int32, len(s.needles))
	for i := range s.needles {
		n := &s.needles[i]
		key, ok := s.room(n)
		if !ok {
			if !n.allowed && n.with != "" {
				s.dropped++
			}
			n.allowed = true
			continue
		}
		h := key * keySpread >> s.shift
		s.filter[h>>6] |= 1 << (h & 63)
		s.index[key] = append(s.index[key], int32(i))
	}
}

// room returns a key of a needle that not too many others have: its own, or
// that at another place of it.
func (s *Secrets) room(n *needle) (key uint64, ok bool) {
	if key = keyOf(n.text[n.key:]); len(s.index[key]) < maxAlike {
		return key, true
	}
	for at := range len(n.text) - keyBytes + 1 {
		if !isVaried(n.text[at : at+keyBytes]) {
			continue
		}
		if key = keyOf(n.text[at:]); len(s.index[key]) < maxAlike {
			n.key = at
			return key, true
		}
	}
	return 0, false
}

// keyOf returns the key that a text begins with.
func keyOf(text string) (key uint64) {
	for i := range keyBytes {
		key = key>>8 | uint64(text[i]|caseFold)<<56
	}
	return key
}

// scan calls fn for every needle that stands in text, in the order of their
// keys.
func scan[T ~string | ~[]byte](s *Secrets, text T, fn func(at int, n *needle)) {
	if len(s.needles) == 0 || len(text) < keyBytes {
		return
	}
	var key uint64
	for i := range keyBytes - 1 {
		key = key>>8 | uint64(text[i]|caseFold)<<56
	}
	filter, shift := s.filter, s.shift
	for i := keyBytes - 1; i < len(text); i++ {
		key = key>>8 | uint64(text[i]|caseFold)<<56
		h := key * keySpread >> shift
		if filter[h>>6]&(1<<(h&63)) == 0 {
			continue
		}
		for _, k := range s.index[key] {
			n := &s.needles[k]
			if at := i + 1 - keyBytes - n.key; at >= 0 && !n.allowed && stands(text, at, n.text) {
				fn(at, n)
			}
		}
	}
}

// stands reports whether want, which is in lower case, stands at at.
func stands[T ~string | ~[]byte](text T, at int, want string) bool {
	if len(text)-at < len(want) {
		return false
	}
	for i := len(want) - 1; i >= 0; i-- { // texts that begin alike are commoner than texts that end so
		c := text[at+i]
		if c >= 'A' && c <= 'Z' {
			c |= caseFold
		}
		if c != want[i] {
			return false
		}
	}
	return true
}

// Remove returns text with the replacement for each secret in it, and how often
// each rule's was there. Where secrets overlap, one replacement, that of the
// first, takes the place of all.
func (s *Secrets) Remove(text string) (string, Report) {
	hits := s.whole(text)
	if len(hits) == 0 {
		return text, Report{}
	}
	var out strings.Builder
	at := 0
	for _, h := range hits {
		out.WriteString(text[at:h.start])
		out.WriteString(h.with)
		at = h.end
	}
	out.WriteString(text[at:])
	return out.String(), reportOfHits(hits)
}

// hit is a whole secret in a text, or several that overlap.
type hit struct {
	span
	with string // what replaces it
}

// whole returns the whole secrets of a text, in order and without overlap.
func (s *Secrets) whole(text string) []hit {
	var hits []hit
	scan(s, text, func(at int, n *needle) {
		if n.with != "" {
			hits = append(hits, hit{span{at, at + len(n.text), n.rule}, n.with})
		}
	})
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(a.start, b.start) })
	apart := hits[:0]
	for _, h := range hits {
		if last := len(apart) - 1; last >= 0 && h.start < apart[last].end {
			apart[last].end = max(apart[last].end, h.end)
		} else {
			apart = append(apart, h)
		}
	}
	return apart
}

func reportOfHits(hits []hit) Report {
	spans := make([]span, len(hits))
	for i, h := range hits {
		spans[i] = h.span
	}
	return reportOf(spans)
}

// RemoveJSON is Remove for a JSON document, which stays one: only what its
// strings read is replaced.
func (s *Secrets) RemoveJSON(doc string) (string, Report) {
	plain, raw := s.Remove(doc)
	if raw.Total == 0 && !strings.Contains(doc, `\`) {
		return doc, raw
	}
	if !json.Valid([]byte(doc)) {
		return plain, raw
	}
	sign := `\` // other strings were looked at as they are
	if raw.Total > 0 {
		sign = ""
	}
	var report Report
	out := rewrite(doc, sign, func(text string) string {
		clean, found := s.Remove(text)
		report.Add(found)
		return clean
	})
	return out, report
}

// Excuse says that text stays: parts of secrets that stand in it, such as a
// word that is a password's as well, are no longer looked for.
func (s *Secrets) Excuse(text string) {
	scan(s, text, func(_ int, n *needle) { n.allowed = n.allowed || n.with == "" })
}

// Allow says that text stays and holds no secret, whatever it looks like: also
// whole secrets that stand in it are no longer looked for. It returns how many
// those are.
func (s *Secrets) Allow(text string) (whole int) {
	scan(s, text, func(_ int, n *needle) {
		if n.with != "" {
			whole++
		}
		n.allowed = true
	})
	return whole
}

// Leak is where a secret is that should not be there. It never says which.
type Leak struct {
	Rule   string
	Offset int64
}

// Search reads r to its end and returns the first secret in it, or part of one,
// nil where there is none. Read, if it is not nil, is called with the number of
// bytes read, and stops the search with an error.
func (s *Secrets) Search(r io.Reader, read func(bytes int) error) (*Leak, error) {
	return s.search(r, read, false)
}

// SearchWhole is [Secrets.Search] for whole secrets alone, in what breaks no text
// in two. A text may well have words that a secret has too.
func (s *Secrets) SearchWhole(r io.Reader, read func(bytes int) error) (*Leak, error) {
	return s.search(r, read, true)
}

var searchBuffers = sync.Pool{New: func() any { return new([1 << 20]byte) }}

func (s *Secrets) search(r io.Reader, read func(bytes int) error, whole bool) (*Leak, error) {
	pooled := searchBuffers.Get().(*[1 << 20]byte)
	defer searchBuffers.Put(pooled)
	buffer := pooled[:]
	kept, offset := 0, int64(0)
	for {
		n, err := io.ReadFull(r, buffer[kept:])
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, err
		}
		if read != nil {
			if err := read(n); err != nil {
				return nil, err
			}
		}
		text := buffer[:kept+n]
		if rule, at, found := s.first(text, whole); found {
			return &Leak{rule, offset + int64(at)}, nil
		}
		if err != nil {
			return nil, nil
		}
		tail := text[len(text)-(maxNeedle-1):]
		offset += int64(len(text) - len(tail))
		kept = copy(buffer, tail)
	}
}

// Holds reports whether a secret, or a part of one, stands in text.
func (s *Secrets) Holds(text []byte) bool {
	_, _, found := s.first(text, false)
	return found
}

func (s *Secrets) first(text []byte, whole bool) (rule string, at int, found bool) {
	scan(s, text, func(start int, n *needle) {
		if (!whole || n.with != "") && (!found || start < at) {
			rule, at, found = n.rule, start, true
		}
	})
	return rule, at, found
}

// Words calls fn with every word of a secret that is still looked for, in lower
// case, as a full-text index would hold it before it cuts its ending.
func (s *Secrets) Words(fn func(word string)) {
	for _, n := range s.needles {
		if !n.allowed && alnum.run(n.text, 0, len(n.text)) == len(n.text) {
			fn(n.text)
		}
	}
}
