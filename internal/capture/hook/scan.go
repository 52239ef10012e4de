package hook

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// Bounds of what is read. A payload of any size costs no more memory than this
// and a little.
const (
	maxText     = 64 << 10 // of one string; a longer one is cut
	margin      = 4 << 10  // read beyond maxText, see cleaner.trim; longer than a secret
	maxKey      = 1 << 10  // a member with a longer key is left out
	maxKept     = 2 << 20  // of all strings and keys, and valueCost for each value
	valueCost   = 16
	maxValues   = 20_000
	moreValues  = 1000     // in the outermost object beyond maxValues
	reserve     = 64 << 10 // for members of the outermost object beyond maxKept
	reserveText = 4 << 10  // of one string there
	maxDepth    = 32
	maxLiteral  = 64       // of a number
	maxRead     = 1 << 30  // of the payload
	maxNonsense = 64 << 20 // of a payload that is no JSON
	bufferSize  = 64 << 10
)

// payload is what was read.
type payload struct {
	value  value // absent when there was nothing
	broken bool  // it is no JSON; value is what could be read of it
	head   []byte
	cut    bool  // there was more than head; only asked when broken
	lost   int64 // bytes left out
}

var (
	errSyntax = errors.New("not valid JSON")
	errFull   = errors.New("no room")
)

// scanner reads one JSON value with bounds. It is lenient where that loses
// nothing: it keeps control characters and unknown escapes in strings as they are.
type scanner struct {
	r        io.Reader
	buf      []byte
	pos, end int
	read     int64  // bytes that were in buf so far
	head     []byte // the first of them
	kept     int
	values   int
	lost     int64
	scratch  []byte
}

// scan reads the value in r. Nothing but white space is an absent value.
func scan(r io.Reader) payload {
	if r == nil {
		return payload{}
	}
	return scanWith(r, bufferSize)
}

// scanWith is scan with a buffer of a size.
func scanWith(r io.Reader, size int) payload {
	s := &scanner{r: r, buf: make([]byte, size)}
	s.byteOrderMark()
	if _, ok := s.peekToken(); !ok {
		return payload{}
	}
	v, err := s.value(0)
	if err == nil {
		return payload{value: v, lost: s.lost}
	}
	for s.read < maxNonsense && s.fill() {
	}
	n := int64(min(len(s.head), maxText+margin))
	return payload{value: v, broken: true, head: s.head[:n], cut: s.read > n, lost: s.read - n}
}

// scanText reads the value in a text; it is not ok when there is none.
func scanText(t string) (v value, lost int64, ok bool) {
	p := scanWith(strings.NewReader(t), max(16, min(len(t), bufferSize)))
	return p.value, p.lost, !p.broken && p.value.kind != absent
}

// fill reads more and reports whether there is any. The caller must have used up
// everything in buf; only scan, at its end, need not.
func (s *scanner) fill() bool {
	s.pos, s.end = 0, 0
	const empty = 100 // reads without a byte or an error are not endured forever
	for range empty {
		if s.read >= maxRead {
			return false
		}
		n, err := s.r.Read(s.buf)
		if n > 0 {
			s.end = n
			s.read += int64(n)
			if len(s.head) < maxText+margin {
				s.head = append(s.head, s.buf[:n]...)
			}
			return true
		}
		if err != nil {
			return false
		}
	}
	return false
}

func (s *scanner) byteOrderMark() {
	if s.fill() && bytes.HasPrefix(s.buf[:s.end], []byte("\xef\xbb\xbf")) {
		s.pos = 3
	}
}

func (s *scanner) next() (byte, bool) {
	if s.pos == s.end && !s.fill() {
		return 0, false
	}
	s.pos++
	return s.buf[s.pos-1], true
}

// peekToken returns the next byte that is no white space and leaves it there.
func (s *scanner) peekToken() (byte, bool) {
	for {
		for ; s.pos < s.end; s.pos++ {
			switch c := s.buf[s.pos]; c {
			case ' ', '\t', '\r', '\n':
			default:
				return c, true
			}
		}
		if !s.fill() {
			return 0, false
		}
	}
}

// expect takes the next byte that is no white space.
func (s *scanner) expect(c byte) error {
	if got, ok := s.peekToken(); !ok || got != c {
		return errSyntax
	}
	s.pos++
	return nil
}

// value reads a value at a depth that is not full. errFull means that it was
// read and left out. With errSyntax an object is what could be read of it.
func (s *scanner) value(depth int) (value, error) {
	c, ok := s.peekToken()
	if !ok {
		return value{}, errSyntax
	}
	s.values++
	s.kept += valueCost
	switch c {
	case '"':
		return s.textValue(depth)
	case '[':
		return s.array(depth)
	case '{':
		return s.object(depth)
	}
	return s.literal()
}

// isFull reports whether no value at a depth is kept any more.
func (s *scanner) isFull(depth int) bool {
	most := maxValues
	if depth <= 1 {
		most += moreValues
	}
	return depth > maxDepth || s.values >= most || s.room(depth) < valueCost
}

// room returns how many bytes a value at a depth may take.
func (s *scanner) room(depth int) int {
	if depth <= 1 {
		return max(maxKept-s.kept, min(reserveText, maxKept+reserve-s.kept))
	}
	return maxKept - s.kept
}

func (s *scanner) textValue(depth int) (value, error) {
	s.pos++
	t, lost, err := s.str(min(maxText+margin, s.room(depth)))
	s.kept += len(t)
	s.lost += lost
	return value{kind: text, text: t, cut: lost > 0}, err
}

func (s *scanner) array(depth int) (value, error) {
	s.pos++
	v := value{kind: array}
	if c, _ := s.peekToken(); c == ']' {
		s.pos++
		return v, nil
	}
	for {
		if s.isFull(depth + 1) {
			return v, s.skipRest()
		}
		e, err := s.value(depth + 1)
		switch err {
		case nil:
			v.list = append(v.list, e)
		case errSyntax:
			return v, err
		}
		more, err := s.more(']')
		if err != nil || !more {
			return v, err
		}
	}
}

func (s *scanner) object(depth int) (value, error) {
	s.pos++
	var keys []string
	var list []value
	if c, _ := s.peekToken(); c == '}' {
		s.pos++
		return value{kind: object}, nil
	}
	for {
		if s.isFull(depth + 1) {
			return newObject(keys, list), s.skipRest()
		}
		key, e, err := s.member(depth + 1)
		switch err {
		case nil:
			keys, list = append(keys, key), append(list, e)
		case errSyntax:
			return newObject(keys, list), err
		}
		more, err := s.more('}')
		if err != nil || !more {
			return newObject(keys, list), err
		}
	}
}

func (s *scanner) member(depth int) (string, value, error) {
	if err := s.expect('"'); err != nil {
		return "", value{}, err
	}
	key, long, err := s.str(maxKey)
	if err == nil {
		err = s.expect(':')
	}
	if err != nil {
		return "", value{}, err
	}
	if long > 0 {
		s.lost += long + int64(len(key))
		if _, ok := s.peekToken(); !ok {
			return "", value{}, errSyntax
		}
		return "", value{}, s.skip()
	}
	v, err := s.value(depth)
	if err == nil {
		s.kept += len(key)
	}
	return key, v, err
}

// more reports whether another element follows, or else the end of the list.
func (s *scanner) more(end byte) (bool, error) {
	c, ok := s.peekToken()
	if !ok || c != ',' && c != end {
		return false, errSyntax
	}
	s.pos++
	return c == ',', nil
}

// literal reads a number, a boolean or null.
func (s *scanner) literal() (value, error) {
	var b []byte
	for {
		for ; s.pos < s.end; s.pos++ {
			if c := s.buf[s.pos]; delimits[c] {
				return literalValue(b)
			}
			if len(b) > maxLiteral {
				return value{}, s.skip()
			}
			b = append(b, s.buf[s.pos])
		}
		if !s.fill() {
			return literalValue(b)
		}
	}
}

func literalValue(b []byte) (value, error) {
	switch {
	case string(b) == "null":
		return value{kind: null}, nil
	case string(b) == "true", string(b) == "false":
		return value{kind: boolean, text: string(b)}, nil
	case json.Valid(b):
		return value{kind: number, text: string(b)}, nil
	}
	return value{}, errSyntax
}
