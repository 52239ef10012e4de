package foreign

import (
	"bytes"
	"io"
)

// scanner finds where the values of a JSON text begin and end. It does not check them.
type scanner struct {
	r    io.Reader
	err  error // of r
	buf  []byte
	at   int // of the next byte in buf
	line int64
	last byte   // the byte before
	item []byte // of the last value
	// indent is the line break and the spaces before the elements of a list, and their first byte; nil where they do not
	// begin on lines of their own.
	indent []byte
	spaces []byte // since the last line break; nil if anything else was there
	reread int64  // bytes that were read again
}

const scanBuffer = 256 << 10

// fill reads more. It reports false at the end.
func (s *scanner) fill() bool {
	if s.err != nil {
		return false
	}
	if s.at > 0 {
		s.buf = s.buf[:copy(s.buf, s.buf[s.at:])]
		s.at = 0
	}
	if cap(s.buf)-len(s.buf) < scanBuffer {
		s.buf = append(make([]byte, 0, len(s.buf)+2*scanBuffer), s.buf...)
	}
	n, err := s.r.Read(s.buf[len(s.buf):cap(s.buf)])
	s.buf, s.err = s.buf[:len(s.buf)+n], err
	return n > 0 || s.fill()
}

// next returns the next byte that is no space, and leaves it there.
func (s *scanner) next() (byte, error) {
	for {
		for s.at < len(s.buf) {
			c := s.buf[s.at]
			switch c {
			case '\n':
				s.line++
				s.spaces = append(s.spaces[:0], '\n')
			case ' ', '\t', '\r':
				if s.spaces != nil {
					s.spaces = append(s.spaces, c)
				}
			case 0xef, 0xbb, 0xbf: // a byte order mark
			default:
				return c, nil
			}
			s.at++
		}
		if !s.fill() {
			return 0, io.ErrUnexpectedEOF
		}
	}
}

// take passes the byte that next returned.
func (s *scanner) take() {
	s.at++
	s.spaces = nil
}

// mark notes how the first element of a list is indented.
func (s *scanner) mark() {
	s.indent = nil
	if c, err := s.next(); err == nil && len(s.spaces) > 0 && (c == '{' || c == '[' || c == '"') {
		s.indent = append(bytes.Clone(s.spaces), c)
	}
}

// findElement goes to the next line that begins as the elements of the list do, or to the end of the list.
func (s *scanner) findElement() bool {
	if s.indent == nil {
		return false
	}
	if s.at < len(s.buf) && bytes.Equal(append(s.spaces, s.buf[s.at]), s.indent) {
		return true // it lacks the comma before it, and is there
	}
	for {
		if at := bytes.Index(s.buf[s.at:], s.indent); at >= 0 {
			s.line += int64(bytes.Count(s.buf[s.at:s.at+at+len(s.indent)], []byte("\n")))
			s.at += at + len(s.indent) - 1
			return true
		}
		keep := min(len(s.indent), len(s.buf)-s.at)
		s.line += int64(bytes.Count(s.buf[s.at:len(s.buf)-keep], []byte("\n")))
		s.at = len(s.buf) - keep
		if !s.fill() {
			return false
		}
	}
}

// value returns the next value and its length; of one that is too long, nothing. Strings and brackets decide where it
// ends. A line break ends a string that lacks its quote, so that the damage stays small.
func (s *scanner) value() (raw []byte, size int64) {
	if cap(s.item) > 8<<20 {
		s.item = nil
	}
	s.item, s.spaces = s.item[:0], nil
	v := extent{}
	for {
		n, done := v.scan(s.buf[s.at:])
		part := s.buf[s.at : s.at+n]
		s.line += int64(bytes.Count(part, []byte("\n")))
		s.at += n
		size += int64(n)
		if size <= MaxItemBytes {
			s.item = append(s.item, part...)
		}
		if done || !s.fill() {
			return bytes.TrimSpace(s.item), size
		}
	}
}

// extent finds the end of a value in pieces.
type extent struct {
	depth          int
	inString, skip bool
	begun          bool
}

// scan returns how many bytes belong to the value, and whether it has ended.
func (v *extent) scan(b []byte) (n int, done bool) {
	for i := 0; i < len(b); i++ {
		c := b[i]
		switch {
		case v.skip:
			v.skip = false
		case v.inString:
			for c != '"' && c != '\\' && c != '\n' && i+1 < len(b) {
				i++
				c = b[i]
			}
			if v.text(c) && v.depth == 0 {
				if c == '\n' {
					return i, true // the next element may begin with it
				}
				return i + 1, true
			}
		case c == '"':
			v.inString, v.begun = true, true
		case c == '{', c == '[':
			v.depth++
			v.begun = true
		case c == '}', c == ']':
			if v.depth == 0 {
				return i, true
			}
			if v.depth--; v.depth == 0 {
				return i + 1, true
			}
		case v.depth == 0 && (c == ',' || v.begun && isSpace(c)):
			return i, true
		case !isSpace(c):
			v.begun = true
		}
	}
	return len(b), false
}

// text passes a byte of a string and reports whether that has ended.
func (v *extent) text(c byte) (ended bool) {
	switch c {
	case '\\':
		v.skip = true
	case '"', '\n':
		v.inString = false
		return true
	}
	return false
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func (s *scanner) broken(reason string) error { return &brokenError{s.line, reason} }
