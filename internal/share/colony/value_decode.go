package colony

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/amber-memory/amber"
)

// Bounds of a JSON text, which keep what a hostile one costs in proportion to
// its length.
const (
	maxDepth  = 64
	maxValues = 1 << 18 // more than a file of a vault can hold names
)

// decodeJSON reads one JSON value, with white space around it and nothing else.
// It must be UTF-8 without a byte order mark, with no half of a surrogate pair
// and not nested deeper than 64. The error is of kind damaged.
func decodeJSON(b []byte) (value, error) {
	s := scanner{in: string(b)}
	if !utf8.ValidString(s.in) {
		return value{}, notJSON(errors.New("the text is not UTF-8"))
	}
	v, err := s.value(0)
	if err == nil {
		err = s.end()
	}
	if err != nil {
		return value{}, notJSON(err)
	}
	return v, nil
}

func notJSON(err error) error {
	return &amber.Error{Op: "read JSON", Kind: amber.KindDamaged, Err: err}
}

// scanner reads a JSON text that is UTF-8.
type scanner struct {
	in     string
	at     int
	values int
}

func (s *scanner) fail(why string) error { return fmt.Errorf("%s at byte %d", why, s.at) }

// space skips white space and returns what is next, 0 at the end.
func (s *scanner) space() byte {
	for ; s.at < len(s.in); s.at++ {
		switch c := s.in[s.at]; c {
		case ' ', '\t', '\n', '\r':
		default:
			return c
		}
	}
	return 0
}

// take skips white space and c.
func (s *scanner) take(c byte) error {
	if s.space() != c || s.at == len(s.in) {
		return s.fail(fmt.Sprintf("want %q", c))
	}
	s.at++
	return nil
}

func (s *scanner) end() error {
	if s.space(); s.at < len(s.in) {
		return s.fail("unexpected text after the value")
	}
	return nil
}

func (s *scanner) value(depth int) (value, error) {
	if s.values++; s.values > maxValues {
		return value{}, s.fail("too many values")
	}
	if depth > maxDepth {
		return value{}, s.fail("nested too deep")
	}
	switch c := s.space(); {
	case c == '{':
		return s.object(depth)
	case c == '[':
		return s.array(depth)
	case c == '"':
		text, err := s.text()
		return newString(text), err
	case c == '-' || c >= '0' && c <= '9':
		return s.number()
	default:
		return s.word()
	}
}

func (s *scanner) word() (value, error) {
	for kind, word := range [...]string{kindNull: "null", kindFalse: "false", kindTrue: "true"} {
		if strings.HasPrefix(s.in[s.at:], word) {
			s.at += len(word)
			return value{kind: valueKind(kind)}, nil
		}
	}
	return value{}, s.fail("want a value")
}

// number reads a number and keeps its literal.
func (s *scanner) number() (value, error) {
	start := s.at
	digits := func() bool {
		from := s.at
		for s.at < len(s.in) && s.in[s.at] >= '0' && s.in[s.at] <= '9' {
			s.at++
		}
		return s.at > from
	}
	skip := func(set string) bool {
		for i := range len(set) {
			if s.at < len(s.in) && s.in[s.at] == set[i] {
				s.at++
				return true
			}
		}
		return false
	}
	skip("-")
	ok := skip("0") || digits()
	if ok && skip(".") {
		ok = digits()
	}
	if ok && skip("eE") {
		skip("+-")
		ok = digits()
	}
	if !ok {
		return value{}, s.fail("the number is cut off")
	}
	return value{kind: kindNumber, text: s.in[start:s.at]}, nil
}
