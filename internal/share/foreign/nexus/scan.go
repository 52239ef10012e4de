package nexus

import "strings"

// scanner walks through a JSON text that may be cut off or damaged.
type scanner struct {
	b    []byte
	at   int // the place in b
	work int // bytes that were looked at in vain
}

// rest returns what was not passed yet.
func (s *scanner) rest() []byte { return s.b[s.at:] }

// peek returns the byte i behind the place, and false behind the end.
func (s *scanner) peek(i int) (c byte, there bool) {
	if s.at+i >= len(s.b) {
		return 0, false
	}
	return s.b[s.at+i], true
}

// behind returns how far from here the first byte is that is not of a set, or
// the end of the file, not looking at the first i bytes.
func (s *scanner) behind(i int, set string) int {
	for {
		if c, there := s.peek(i); !there || strings.IndexByte(set, c) < 0 {
			return i
		}
		i++
	}
}

// follows reports whether the first thing behind i bytes, white space aside, is
// a byte of a set. The end of the file can be anything.
func (s *scanner) follows(i int, set string) bool {
	c, there := s.peek(s.behind(i, " \t\r\n"))
	return !there || strings.IndexByte(set, c) >= 0
}

// skip passes over bytes of a set and reports whether more follows.
func (s *scanner) skip(set string) bool {
	s.at += s.behind(0, set)
	return s.at < len(s.b)
}

// take passes over c and reports whether it was there.
func (s *scanner) take(c byte) bool {
	if next, there := s.peek(0); !there || next != c {
		return false
	}
	s.at++
	return true
}

// verdict is what a value turned out to be.
type verdict int

const (
	nexusWhole  verdict = iota // its brackets and quotes are even
	nexusTorn                  // the file ends in it
	nexusBroken                // no value looks like that, or it is too long
)

// nexusPlain are the bytes of JSON outside of strings: brackets, what separates,
// numbers, and the letters of true, false and null.
var nexusPlain = byteSet("{}[]:, \t\r\n\"0123456789+-.eEtrufalsn")

func byteSet(s string) (set [256]bool) {
	for _, c := range []byte(s) {
		set[c] = true
	}
	return set
}

// value returns the value that begins from bytes behind the place, without
// passing over it. Only brackets, quotes and bytes that are in no JSON are
// looked at.
func (s *scanner) value(from, most int) ([]byte, verdict) {
	depth, quoted, escaped := 0, false, false
	raw := s.rest()[from:]
	for i, c := range raw {
		if i == most || quoted && c < ' ' || !quoted && !nexusPlain[c] {
			return raw[:i], nexusBroken
		}
		switch {
		case escaped:
			escaped = false
		case quoted && c == '\\':
			escaped = true
		case c == '"':
			quoted = !quoted
			if !quoted && depth == 0 {
				return raw[:i+1], nexusWhole
			}
		case quoted:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth == 0 {
				return raw[:i], nexusWhole
			}
			if depth--; depth == 0 {
				return raw[:i+1], nexusWhole
			}
		case depth == 0 && strings.IndexByte(" \t\r\n,:", c) >= 0:
			return raw[:i], nexusWhole
		}
	}
	return raw, nexusTorn
}
