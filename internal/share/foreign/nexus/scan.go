package nexus

import (
	"errors"
	"io"
	"strings"
)

// scanner walks through a JSON file that may be cut off or damaged. It holds
// one value at a time.
type scanner struct {
	r    io.Reader
	b    []byte // read, and not let go
	at   int    // where in b
	gone int64  // bytes before b
	eof  bool
	work int64 // bytes that were looked at in vain
}

// fill reads more and reports whether anything came.
func (s *scanner) fill() (bool, error) {
	const chunk = 64 << 10
	for !s.eof {
		if s.at > chunk { // let go of what was passed
			s.gone += int64(s.at)
			s.b = append(s.b[:0], s.b[s.at:]...)
			s.at = 0
		}
		have := len(s.b)
		if cap(s.b)-have < chunk {
			s.b = append(make([]byte, 0, 2*have+chunk), s.b...)
		}
		got, err := s.r.Read(s.b[have : have+chunk])
		s.b = s.b[:have+got]
		s.eof = errors.Is(err, io.EOF)
		if err != nil && !s.eof {
			return false, err
		}
		if got > 0 {
			return true, nil
		}
	}
	return false, nil
}

// has reports whether the byte i behind the place is there.
func (s *scanner) has(i int) (bool, error) {
	for s.at+i >= len(s.b) {
		if more, err := s.fill(); !more || err != nil {
			return false, err
		}
	}
	return true, nil
}

func (s *scanner) advance(n int) { s.at += n }

// next returns the next n bytes, which are there. They are valid until
// anything is read.
func (s *scanner) next(n int) []byte { return s.b[s.at : s.at+n] }

// behind returns how far from here the first byte is that is not of a set, or
// the end of the file, not looking at the first i bytes.
func (s *scanner) behind(i int, set string) (int, error) {
	for {
		ok, err := s.has(i)
		if !ok || err != nil || strings.IndexByte(set, s.b[s.at+i]) < 0 {
			return i, err
		}
		i++
	}
}

// follows reports whether the first thing behind i bytes, white space aside, is
// a byte of a set. The end of the file can be anything.
func (s *scanner) follows(i int, set string) (bool, error) {
	i, err := s.behind(i, " \t\r\n")
	if err != nil {
		return false, err
	}
	ok, err := s.has(i)
	return !ok || strings.IndexByte(set, s.b[s.at+i]) >= 0, err
}

// skip passes over bytes of a set. The end of the file is errNexusEnd.
func (s *scanner) skip(set string) error {
	for {
		ok, err := s.has(0)
		if err != nil {
			return err
		}
		if !ok {
			return errNexusEnd
		}
		if strings.IndexByte(set, s.b[s.at]) < 0 {
			return nil
		}
		s.at++
	}
}

// take passes over c and reports whether it was there.
func (s *scanner) take(c byte) (bool, error) {
	ok, err := s.has(0)
	if !ok || err != nil || s.b[s.at] != c {
		return false, err
	}
	s.at++
	return true, nil
}

// drain reads to the end and returns how many bytes there were.
func (s *scanner) drain() (int64, error) {
	var n int64
	for {
		n += int64(len(s.b) - s.at)
		s.at = len(s.b)
		if more, err := s.fill(); !more || err != nil {
			return n, err
		}
	}
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
// passing over it. It is valid until the next call. Only brackets, quotes and
// bytes that are in no JSON are looked at.
func (s *scanner) value(from, most int) ([]byte, verdict, error) {
	depth, quoted, escaped := 0, false, false
	for i := 0; ; i++ {
		if s.at+from+i >= len(s.b) {
			ok, err := s.has(from + i)
			if err != nil {
				return nil, nexusBroken, err
			}
			if !ok {
				return s.b[s.at+from:][:i], nexusTorn, nil
			}
		}
		raw := s.b[s.at+from:]
		c := raw[i]
		if i == most || quoted && c < ' ' || !quoted && !nexusPlain[c] {
			return raw[:i], nexusBroken, nil
		}
		switch {
		case escaped:
			escaped = false
		case quoted && c == '\\':
			escaped = true
		case c == '"':
			quoted = !quoted
			if !quoted && depth == 0 {
				return raw[:i+1], nexusWhole, nil
			}
		case quoted:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth == 0 {
				return raw[:i], nexusWhole, nil
			}
			if depth--; depth == 0 {
				return raw[:i+1], nexusWhole, nil
			}
		case depth == 0 && strings.IndexByte(" \t\r\n,:", c) >= 0:
			return raw[:i], nexusWhole, nil
		}
	}
}
