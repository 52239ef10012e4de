package redact

import (
	"strings"
	"unicode/utf8"
)

// spelling is what stands at a place of a text in another way.
type spelling struct {
	size int  // bytes of the text; 0: nothing is spelled otherwise
	b    byte // what they read; 0: nothing, they are not seen
}

// foldLead are the first bytes of spellings.
var foldLead = func() (lead [256]bool) {
	for _, b := range []byte{'\\', '%', '&', 0xc2, 0xcc, 0xcd, 0xd8, 0xe1, 0xe2, 0xe3, 0xef, 0xf0, 0xf3} {
		lead[b] = true
	}
	return lead
}()

// folded finds secrets in lines that spell letters otherwise. The line before is read with
// them: it may hold the name of what they hold.
func (r *Redactor) folded(text string, lo, hi, depth int, found []span) []span {
	for at := lo; at < hi; {
		i, ok := nextSpelling(text, at, hi)
		if !ok {
			return found
		}
		start := lineStart(text, lineStart(text, i, at)-1, at)
		end := lineEnd(text, i, hi)
		for end < hi { // lines that follow with spellings of their own, a blank one between them
			next := lineEnd(text, end+1, hi)
			if next-end <= 2 {
				next = lineEnd(text, next+1, hi)
			}
			if _, ok := nextSpelling(text, end, next); !ok {
				break
			}
			end = next
		}
		start, end = armourAround(text, at, start, end, hi)
		found = r.read(fold(text, start, end), depth, found)
		at = end
	}
	return found
}

// armourAround widens start and end to the whole armour of a key that the lines between them are inside of.
func armourAround(text string, lo, start, end, hi int) (int, int) {
	const (
		longest     = 512     // of its first line and its headers
		longestBody = 8 << 10 // behind the lines
	)
	before := text[max(lo, start-longest):start]
	begin := strings.LastIndex(before, "---- BEGIN ")
	if begin < 0 || strings.Contains(before[begin:], "---- END ") {
		return start, end
	}
	last := end
	if n := strings.Index(text[end:min(hi, end+longestBody)], "---- END "); n >= 0 {
		last = lineEnd(text, end+n, hi)
	}
	return lineStart(text, start-len(before)+begin, lo), last
}

// read adds what the rules find in a reading.
func (r *Redactor) read(reading *reading, depth int, found []span) []span {
	for _, s := range r.deep(string(reading.text), nil, depth+1) {
		found = append(found, reading.place(s))
	}
	return found
}

// lineStart returns where the line begins that at stands in, at the earliest lo.
func lineStart(text string, at, lo int) int {
	if at <= lo {
		return lo
	}
	return lo + strings.LastIndexByte(text[lo:at], '\n') + 1
}

// lineEnd returns where the line ends that at stands in, at the latest hi.
func lineEnd(text string, at, hi int) int {
	if at >= hi {
		return hi
	}
	if n := strings.IndexByte(text[at:hi], '\n'); n >= 0 {
		return at + n
	}
	return hi
}

// nextSpelling returns the first place from at on that spells a letter of a key otherwise.
func nextSpelling(text string, at, hi int) (int, bool) {
	for i := at; i < hi; i++ {
		if !foldLead[text[i]] {
			continue
		}
		s := spelled(text, i, hi)
		if s.size > 0 && s.hides(text, i, hi) {
			return i, true
		}
		i += max(s.size, 1) - 1
	}
	return 0, false
}

// hides reports whether a spelling at at may be part of a secret. An invisible character is
// where one stands between two that are seen.
func (s spelling) hides(text string, at, hi int) bool {
	before, after := at > 0 && isGraph(text[at-1]), at+s.size < hi && (isGraph(text[at+s.size]) || foldLead[text[at+s.size]])
	switch s.b {
	case 0, '\n':
		return before && after
	case ':', '=', '"', '.':
		return before && alnum.has[text[at-1]]
	}
	return base64Pad.has[s.b] || s.b == '-' || s.b == '_' || s.b == '%' || s.b == '\\' || s.b == '&'
}

func isGraph(b byte) bool { return b > ' ' && b < 0x7f }

// fold returns the text from start up to end as it reads.
func fold(text string, start, end int) *reading {
	r := &reading{text: make([]byte, 0, end-start), from: make([]source, 0, end-start)}
	for i := start; i < end; {
		s := spelling{}
		if foldLead[text[i]] {
			s = spelled(text, i, end)
		}
		switch {
		case s.size == 0:
			r.add(text[i], i, i+1)
		case s.b != 0:
			r.add(s.b, i, i+s.size)
		}
		i += max(s.size, 1)
	}
	return r
}

// spelled returns how the text at at spells a byte otherwise. Square brackets are never spelled
// so: a marker has them.
func spelled(text string, at, hi int) spelling {
	var s spelling
	switch b := text[at]; {
	case b == '\\':
		s = backslashed(text, at, hi)
	case b == '%':
		if n, ok := hexValue(text, at+1, at+3, hi); ok {
			s = spells(n, 3)
		} else if at+1 < hi && text[at+1] == 'u' { // as JavaScript's escape() writes it
			if n, ok = hexValue(text, at+2, at+6, hi); ok {
				s = spells(n, 6)
			}
		}
	case b == '&':
		s = entity(text, at, hi)
	case b >= 0x80:
		c, size := utf8.DecodeRuneInString(text[at:hi])
		s = spells(c, size)
	}
	if s.b == '[' || s.b == ']' {
		return spelling{}
	}
	return s
}

// spells returns the spelling of a character that is not written as itself.
func spells(c rune, size int) spelling {
	switch {
	case c >= ' ' && c < 0x7f, c == '\n', c == '\r', c == '\t':
		return spelling{size, byte(c)}
	case c == 0x3000: // a blank of full width
		return spelling{size, ' '}
	case c >= 0xff01 && c <= 0xff5e: // full width
		return spelling{size, byte(c - 0xff01 + '!')}
	case c >= 0x1d400 && c < 0x1d6a4: // letters of mathematics, in thirteen styles
		n := byte((c - 0x1d400) % 52)
		if n < 26 {
			return spelling{size, 'A' + n}
		}
		return spelling{size, 'a' + n - 26}
	case c >= 0x24b6 && c <= 0x24cf: // in circles
		return spelling{size, byte(c - 0x24b6 + 'A')}
	case c >= 0x24d0 && c <= 0x24e9:
		return spelling{size, byte(c - 0x24d0 + 'a')}
	case c >= 0x2460 && c <= 0x2468:
		return spelling{size, byte(c - 0x2460 + '1')}
	case c == 0x24ea:
		return spelling{size, '0'}
	case c == 0x2028, c == 0x2029: // the end of a line or paragraph
		return spelling{size, '\n'}
	case c >= 0x1d7ce && c <= 0x1d7ff:
		return spelling{size, '0' + byte((c-0x1d7ce)%10)}
	case c > 0xe0020 && c < 0xe007f: // tags: letters that are not seen
		return spelling{size, byte(c - 0xe0000)}
	case isUnseen(c):
		return spelling{size, 0}
	}
	return spelling{}
}

// isUnseen reports whether a character is not seen, or only as part of the one before it.
func isUnseen(c rune) bool {
	switch {
	case c == 0xad, c >= 0x300 && c <= 0x36f, c == 0x61c, c == 0x115f, c == 0x1160, c == 0x17b4, c == 0x17b5,
		c >= 0x180b && c <= 0x180f, c >= 0x200b && c <= 0x200f, c >= 0x202a && c <= 0x202e, c >= 0x2060 && c <= 0x206f,
		c == 0x2800, c == 0x3164, c >= 0xfe00 && c <= 0xfe0f, c == 0xfeff, c == 0xffa0, c >= 0xfff9 && c <= 0xfffb,
		c >= 0xe0000 && c <= 0xe0fff:
		return true
	}
	return false
}

// backslashed reads \u0067, \u{67}, \U00000067, \x67 and \147. Any number of backslashes may stand
// before the letter: JSON in JSON doubles them.
func backslashed(text string, at, hi int) spelling {
	if at > 0 && text[at-1] == '\\' {
		return spelling{} // read with the first of them
	}
	i := at
	for i < hi && text[i] == '\\' {
		i++
	}
	if i+2 > hi {
		return spelling{}
	}
	end := 0
	switch text[i] {
	case 'u':
		if end = i + 5; text[i+1] == '{' {
			return braced(text, at, i+2, hi)
		}
	case 'U':
		end = i + 9
	case 'x':
		end = i + 3
	case '0', '1':
		return octal(text, at, i, hi)
	default:
		return spelling{}
	}
	n, ok := hexValue(text, i+1, end, hi)
	if !ok {
		return spelling{}
	}
	return spells(n, end-at)
}

// octal reads \147.
func octal(text string, at, digits, hi int) spelling {
	n, end := rune(0), digits
	for ; end < min(hi, digits+3) && text[end] >= '0' && text[end] <= '7'; end++ {
		n = 8*n + rune(text[end]-'0')
	}
	if end < digits+3 {
		return spelling{}
	}
	return spells(n, end-at)
}

func braced(text string, at, digits, hi int) spelling {
	const longest = 6
	end := hexAny.run(text, digits, min(hi, digits+longest))
	n, ok := hexValue(text, digits, end, hi)
	if !ok || end >= hi || text[end] != '}' {
		return spelling{}
	}
	return spells(n, end+1-at)
}

// entity reads &#103; and &#x67;.
func entity(text string, at, hi int) spelling {
	const longest = 7
	if at+4 > hi || text[at+1] != '#' {
		return spelling{}
	}
	start, n, ok := at+2, rune(0), false
	end := start
	if text[start] == 'x' || text[start] == 'X' {
		start++
		end = hexAny.run(text, start, min(hi, start+longest))
		n, ok = hexValue(text, start, end, hi)
	} else {
		for ; end < min(hi, start+longest) && digits.has[text[end]]; end++ {
			n, ok = 10*n+rune(text[end]-'0'), true
		}
	}
	if !ok || end >= hi || text[end] != ';' {
		return spelling{}
	}
	return spells(n, end+1-at)
}

// hexValue reads hexadecimal digits from start up to end; it is not ok when there are others, or
// none.
func hexValue(text string, start, end, hi int) (n rune, ok bool) {
	if end > hi || start >= end || end-start > 8 {
		return 0, false
	}
	for _, b := range []byte(text[start:end]) {
		d := strings.IndexByte("0123456789abcdef", lower(b))
		if d < 0 || n > 0xfffffff {
			return 0, false
		}
		n = n<<4 | rune(d)
	}
	return n, n >= 0
}
