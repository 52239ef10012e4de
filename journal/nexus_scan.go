package journal

import (
	"bytes"
	"errors"
	"io"
	"strings"
)

// nexusScan walks through a JSON file that may be cut off or damaged. It holds
// one value at a time.
type nexusScan struct {
	r    io.Reader
	b    []byte // read, and not let go
	at   int    // where in b
	gone int64  // bytes before b
	eof  bool

	// mark is what a line looks like that begins an entry, where entries have
	// lines of their own. JSON has no line feed inside a string, so such a line
	// is never text.
	mark []byte
	work int64 // bytes that were looked at in vain
}

// maxNexusWork bounds how many bytes are looked at in vain: a hostile file
// could begin an entry with every line and end none.
const maxNexusWork = 64 << 20

// fill reads more and reports whether anything came.
func (s *nexusScan) fill() (bool, error) {
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
func (s *nexusScan) has(i int) (bool, error) {
	for s.at+i >= len(s.b) {
		if more, err := s.fill(); !more || err != nil {
			return false, err
		}
	}
	return true, nil
}

func (s *nexusScan) advance(n int) { s.at += n }

// skip passes over bytes of a set. The end of the file is errNexusEnd.
func (s *nexusScan) skip(set string) error {
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
func (s *nexusScan) take(c byte) (bool, error) {
	ok, err := s.has(0)
	if !ok || err != nil || s.b[s.at] != c {
		return false, err
	}
	s.at++
	return true, nil
}

// drain reads to the end and returns how many bytes there were.
func (s *nexusScan) drain() (int64, error) {
	var n int64
	for {
		n += int64(len(s.b) - s.at)
		s.at = len(s.b)
		if more, err := s.fill(); !more || err != nil {
			return n, err
		}
	}
}

// nexusVerdict is what a value turned out to be.
type nexusVerdict int

const (
	nexusWhole  nexusVerdict = iota // its brackets and quotes are even
	nexusTorn                       // the file ends in it
	nexusBroken                     // no value looks like that, or it is too long
)

// value returns the value that begins here, without passing over it. It is
// valid until the next call. Only brackets and quotes are looked at.
func (s *nexusScan) value(most int) ([]byte, nexusVerdict, error) {
	depth, quoted, escaped := 0, false, false
	for i := 0; ; i++ {
		ok, err := s.has(i)
		if err != nil {
			return nil, nexusBroken, err
		}
		raw := s.b[s.at:]
		if !ok {
			return raw[:i], nexusTorn, nil
		}
		if i == most {
			return raw[:i], nexusBroken, nil
		}
		switch c := raw[i]; {
		case escaped:
			escaped = false
		case quoted && c == '\\':
			escaped = true
		case quoted && c == '\n':
			return raw[:i], nexusBroken, nil
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

// learn remembers how the line of an entry begins, from the first one.
func (s *nexusScan) learn() {
	if s.mark != nil {
		return
	}
	s.mark = []byte{}
	before := s.b[:s.at]
	line := bytes.LastIndexByte(before, '\n')
	if ok, err := s.has(0); line < 0 || !ok || err != nil {
		return
	}
	indent := bytes.Clone(before[line:])
	if ok, err := s.has(1); !ok || err != nil || len(bytes.TrimSpace(indent)) > 0 || s.b[s.at] != '{' {
		return
	}
	s.mark = append(indent, '{', s.b[s.at+1]) // a line feed, as a rule
}

// resync goes to the next entry behind one that cannot be read, of which
// looked bytes were looked at. It reports how many bytes it passed over and
// whether it found any. Where the bytes that were looked at have an end,
// whatever comes behind them is taken for the next entry.
func (s *nexusScan) resync(looked int, ended bool) (skipped int64, found bool, err error) {
	if s.work += int64(looked); s.work > maxNexusWork {
		return 0, false, nil
	}
	if len(s.mark) > 0 {
		if i := bytes.Index(s.b[s.at:s.at+looked], s.mark); i >= 0 {
			s.advance(i + len(s.mark) - 2)
			return int64(i + len(s.mark) - 2), true, nil
		}
	}
	if ended {
		s.advance(looked)
		return int64(looked), true, nil
	}
	if len(s.mark) == 0 {
		return 0, false, nil
	}
	return s.seek()
}

// seek passes over everything up to the next entry, or up to the end.
func (s *nexusScan) seek() (skipped int64, found bool, err error) {
	for {
		if at := bytes.Index(s.b[s.at:], s.mark); at >= 0 {
			n := at + len(s.mark) - 2
			s.advance(n)
			return skipped + int64(n), true, nil
		}
		passed := max(0, len(s.b)-s.at-len(s.mark)+1)
		s.advance(passed)
		skipped += int64(passed)
		if more, err := s.fill(); !more || err != nil {
			return skipped, false, err
		}
	}
}

// closeTorn closes what is left of an entry behind the last thing in it that
// is whole: a field of the entry or of its context, or an item of a list.
func closeTorn(raw []byte) ([]byte, bool) {
	const deepest = 3 // entry, context, list
	var open, safe []byte
	end, quoted, escaped := 0, false, false
	for i, c := range raw {
		switch {
		case escaped:
			escaped = false
		case quoted && c == '\\':
			escaped = true
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			open = append(open, c+2) // the closing bracket
		case c == '}' || c == ']':
			open = open[:max(0, len(open)-1)]
		case c != ',':
			continue
		}
		if quoted || strings.IndexByte("{}[],", c) < 0 || len(open) > deepest {
			continue
		}
		end, safe = i, append(safe[:0], open...)
		if c != ',' {
			end++
		}
	}
	if len(safe) == 0 {
		return nil, false
	}
	whole := bytes.Clone(raw[:end])
	for i := len(safe) - 1; i >= 0; i-- {
		whole = append(whole, safe[i])
	}
	return whole, true
}
