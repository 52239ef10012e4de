package hook

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Bytes at which a scan stops.
var (
	delimits = table(" \t\r\n,:]}[{\"") // ends a literal
	inText   = table("\"\\")            // ends a run of a string
	brackets = table("\"[]{}")          // counts in a value that is skipped
)

func table(stops string) (t [256]bool) {
	for i := range len(stops) {
		t[stops[i]] = true
	}
	return t
}

// until moves to the next byte in stops and reports whether there is one.
// Each run of other bytes is passed to keep, which may be nil.
func (s *scanner) until(stops *[256]bool, keep func(run []byte)) bool {
	for {
		from := s.pos
		for s.pos < s.end && !stops[s.buf[s.pos]] {
			s.pos++
		}
		if keep != nil && s.pos > from {
			keep(s.buf[from:s.pos])
		}
		if s.pos < s.end {
			return true
		}
		if !s.fill() {
			return false
		}
	}
}

// str reads the rest of a string, behind its first quote, and returns at most
// limit bytes of it, and how many more there were. It is UTF-8.
func (s *scanner) str(limit int) (t string, lost int64, err error) {
	out := s.scratch[:0]
	var high rune // the first half of a pair
	keep := func(run []byte) {
		if high != 0 {
			out, high = utf8.AppendRune(out, utf8.RuneError), 0
		}
		n := min(len(run), max(0, limit-len(out)))
		out = append(out, run[:n]...)
		lost += int64(len(run) - n)
	}
	var few [utf8.UTFMax]byte
	for {
		if !s.until(&inText, keep) {
			return "", 0, errSyntax
		}
		if len(out) >= limit && s.buf[s.pos] != '"' {
			from := s.offset()
			if !s.skipOver(true, 0) {
				return "", 0, errSyntax
			}
			lost += s.offset() - from - 1
			break
		}
		s.pos++
		if s.buf[s.pos-1] == '"' {
			break
		}
		r, ok := s.escape()
		switch {
		case !ok:
			return "", 0, errSyntax
		case high != 0 && utf16.IsSurrogate(r) && utf16.DecodeRune(high, r) != utf8.RuneError:
			r, high = utf16.DecodeRune(high, r), 0
		case 0xd800 <= r && r < 0xdc00:
			keep(nil)
			high = r
			continue
		}
		keep(utf8.AppendRune(few[:0], r))
	}
	keep(nil)
	s.scratch = out
	return strings.ToValidUTF8(string(out), "\uFFFD"), lost, nil
}

// escape reads what follows a backslash.
func (s *scanner) escape() (rune, bool) {
	c, ok := s.next()
	if !ok {
		return 0, false
	}
	switch c {
	case 'n':
		return '\n', true
	case 't':
		return '\t', true
	case 'r':
		return '\r', true
	case 'b':
		return '\b', true
	case 'f':
		return '\f', true
	case 'u':
		return s.hex4()
	}
	return rune(c), true
}

func (s *scanner) hex4() (rune, bool) {
	var r rune
	for range 4 {
		c, ok := s.next()
		if !ok {
			return 0, false
		}
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// offset returns how many bytes of the payload were used.
func (s *scanner) offset() int64 { return s.read - int64(s.end-s.pos) }

// skip reads a value, of which there is a next byte, and keeps nothing. It
// returns errFull, or errSyntax when the payload ends in it.
func (s *scanner) skip() error {
	from, ok := s.offset(), true
	if brackets[s.buf[s.pos]] {
		ok = s.skipOver(false, 0)
	} else {
		s.until(&delimits, nil)
	}
	s.lost += s.offset() - from
	if !ok {
		return errSyntax
	}
	return errFull
}

// skipRest reads to the end of the list or object that the next byte is in, once
// nothing at its depth is kept any more.
func (s *scanner) skipRest() error {
	from := s.offset()
	ok := s.skipOver(false, 1)
	s.lost += s.offset() - from
	if !ok {
		return errSyntax
	}
	return nil
}

// skipOver reads to the end of a value, or of the string that it is in, or up to
// where a bracket closes depth others, and reports whether there is such an end.
// Brackets are counted, not matched.
func (s *scanner) skipOver(inString bool, depth int) bool {
	escaped := false
	for s.pos < s.end || s.fill() {
		for i, c := range s.buf[s.pos:s.end] {
			ended := false
			switch {
			case escaped:
				escaped = false
			case inString:
				escaped = c == '\\'
				inString = c != '"'
				ended = !inString && depth == 0
			case !brackets[c]:
			case c == '"':
				inString = true
			case c == '{', c == '[':
				depth++
			default:
				depth--
				ended = depth <= 0
			}
			if ended {
				s.pos += i + 1
				return true
			}
		}
		s.pos = s.end
	}
	return false
}
