package colony

import (
	"slices"
	"unicode/utf16"
	"unicode/utf8"
)

// Canonical returns the one spelling of v that is hashed and signed: members by
// the code points of their names, no spaces, nothing escaped but the quote, the
// backslash and what is below U+0020. Numbers stay as they were written.
func (v value) Canonical() []byte { return v.appendCanonical(nil) }

// Plain returns v as Python's json.dumps writes it: members in their order,
// a space after each comma and colon, nothing but ASCII.
func (v value) Plain() []byte { return v.appendPlain(nil) }

func (v value) appendCanonical(b []byte) []byte {
	order := make([]int, len(v.list))
	for i := range order {
		order[i] = i
	}
	if v.kind == kindObject {
		// The order of the bytes of UTF-8 is that of the code points.
		slices.SortFunc(order, func(i, j int) int {
			if v.names[i] < v.names[j] {
				return -1
			}
			return 1 // no two are equal
		})
	}
	return v.append(b, spelling{order: order, comma: ",", colon: ":", text: appendRaw, value: value.appendCanonical})
}

func (v value) appendPlain(b []byte) []byte {
	return v.append(b, spelling{comma: ", ", colon: ": ", text: appendASCII, value: value.appendPlain})
}

// spelling is what the two encodings differ in.
type spelling struct {
	order        []int // of the members; nil: as they are
	comma, colon string
	text         func([]byte, string) []byte
	value        func(value, []byte) []byte
}

func (v value) append(b []byte, s spelling) []byte {
	switch v.kind {
	case kindFalse:
		return append(b, "false"...)
	case kindTrue:
		return append(b, "true"...)
	case kindNumber:
		return append(b, v.text...)
	case kindString:
		return s.text(b, v.text)
	case kindArray, kindObject:
		return v.appendList(b, s)
	default:
		return append(b, "null"...)
	}
}

func (v value) appendList(b []byte, s spelling) []byte {
	brackets := "[]"
	if v.kind == kindObject {
		brackets = "{}"
	}
	b = append(b, brackets[0])
	for n := range v.list {
		i := n
		if s.order != nil {
			i = s.order[n]
		}
		if n > 0 {
			b = append(b, s.comma...)
		}
		if v.kind == kindObject {
			b = append(s.text(b, v.names[i]), s.colon...)
		}
		b = s.value(v.list[i], b)
	}
	return append(b, brackets[1])
}

const hexDigits = "0123456789abcdef"

// appendRaw writes a string with what is not ASCII as it is.
func appendRaw(b []byte, s string) []byte {
	b = append(b, '"')
	done := 0
	for i := range len(s) {
		if c := s[i]; c < 0x20 || c == '"' || c == '\\' {
			b = appendEscape(append(b, s[done:i]...), rune(c))
			done = i + 1
		}
	}
	return append(append(b, s[done:]...), '"')
}

// appendASCII writes a string with what is not printable ASCII escaped.
func appendASCII(b []byte, s string) []byte {
	b = append(b, '"')
	done := 0
	for i, r := range s {
		if r >= 0x20 && r < 0x7f && r != '"' && r != '\\' {
			continue
		}
		b = append(b, s[done:i]...)
		done = i + utf8.RuneLen(r)
		if high, low := utf16.EncodeRune(r); high != utf8.RuneError {
			b = appendEscape(appendEscape(b, high), low)
		} else {
			b = appendEscape(b, r)
		}
	}
	return append(append(b, s[done:]...), '"')
}

// appendEscape escapes one code unit of UTF-16.
func appendEscape(b []byte, r rune) []byte {
	switch r {
	case '"', '\\':
		return append(b, '\\', byte(r))
	case '\b':
		return append(b, '\\', 'b')
	case '\f':
		return append(b, '\\', 'f')
	case '\n':
		return append(b, '\\', 'n')
	case '\r':
		return append(b, '\\', 'r')
	case '\t':
		return append(b, '\\', 't')
	}
	return append(b, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
}
