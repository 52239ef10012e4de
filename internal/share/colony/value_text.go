package colony

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// text reads a string; what is next is its first quote.
func (s *scanner) text() (string, error) {
	s.at++
	start := s.at
	for ; s.at < len(s.in); s.at++ {
		switch c := s.in[s.at]; {
		case c == '"':
			s.at++
			return s.in[start : s.at-1], nil
		case c == '\\':
			return s.escaped(start)
		case c < 0x20:
			return "", s.fail("control character in a string")
		}
	}
	return "", s.fail("the string has no end")
}

// escaped goes on with a string that began at start and has an escape here.
func (s *scanner) escaped(start int) (string, error) {
	var b strings.Builder
	for s.at < len(s.in) {
		switch c := s.in[s.at]; {
		case c == '"':
			b.WriteString(s.in[start:s.at])
			s.at++
			return b.String(), nil
		case c == '\\':
			b.WriteString(s.in[start:s.at])
			r, err := s.escape()
			if err != nil {
				return "", err
			}
			b.WriteRune(r)
			start = s.at
		case c < 0x20:
			return "", s.fail("control character in a string")
		default:
			s.at++
		}
	}
	return "", s.fail("the string has no end")
}

// escape reads one character that is escaped, which may be a surrogate pair.
func (s *scanner) escape() (rune, error) {
	if s.at+1 >= len(s.in) {
		return 0, s.fail("the string has no end")
	}
	c := s.in[s.at+1]
	if c != 'u' {
		i := strings.IndexByte(`"\/bfnrt`, c)
		if i < 0 {
			return 0, s.fail("unknown escape")
		}
		s.at += 2
		return rune("\"\\/\b\f\n\r\t"[i]), nil
	}
	r, err := s.unit()
	if err != nil || !utf16.IsSurrogate(r) {
		return r, err
	}
	if !strings.HasPrefix(s.in[s.at:], `\u`) {
		return 0, s.fail("the surrogate pair is cut off")
	}
	low, err := s.unit()
	if err != nil {
		return 0, err
	}
	pair := utf16.DecodeRune(r, low)
	if pair == utf8.RuneError {
		return 0, s.fail("the surrogate pair is cut off")
	}
	return pair, nil
}

// unit reads \uXXXX.
func (s *scanner) unit() (rune, error) {
	if s.at+6 > len(s.in) {
		return 0, s.fail("the escape is cut off")
	}
	var r rune
	for i := s.at + 2; i < s.at+6; i++ {
		digit := strings.IndexByte(hexDigits, s.in[i]|0x20)
		// Setting the bit makes letters lower-case, and others into digits.
		if digit < 0 || digit < 10 && s.in[i] < '0' {
			return 0, s.fail("the escape is cut off")
		}
		r = r<<4 | rune(digit)
	}
	s.at += 6
	return r, nil
}
