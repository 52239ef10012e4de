package foreign

import (
	"bytes"
	"encoding/json"
)

// Members calls fn with the name and the value of each member of a JSON object, and reports whether the object is whole.
// It is for long lines of which little is needed: only where values begin and end is looked at, and fn reads what it
// wants. Values are parts of b.
func Members(b []byte, fn func(name string, value []byte)) (whole bool) {
	b = bytes.TrimSpace(b)
	if len(b) < 2 || b[0] != '{' {
		return false
	}
	for at := skipSpace(b, 1); at < len(b); {
		if b[at] == '}' {
			return skipSpace(b, at+1) == len(b)
		}
		end := valueEnd(b, at)
		colon := skipSpace(b, end)
		if b[at] != '"' || end == at || colon >= len(b) || b[colon] != ':' {
			return false
		}
		name := StringOf(b[at:end])
		at = skipSpace(b, colon+1)
		if end = valueEnd(b, at); end == at {
			return false
		}
		fn(name, b[at:end])
		if at = skipSpace(b, end); at < len(b) && b[at] == ',' {
			at = skipSpace(b, at+1)
		} else if at < len(b) && b[at] != '}' {
			return false
		}
	}
	return false
}

// StringOf returns a JSON string; "" for anything else.
func StringOf(raw []byte) (s string) {
	_ = json.Unmarshal(raw, &s) // which leaves s as it is
	return s
}

func skipSpace(b []byte, at int) int {
	for at < len(b) && isSpace(b[at]) {
		at++
	}
	return at
}

// valueEnd returns where the value ends that begins at at; at itself where none begins or it does not end.
func valueEnd(b []byte, at int) int {
	depth := 0
	for i := at; i < len(b); i++ {
		switch b[i] {
		case '"':
			n := stringEnd(b[i:])
			if n == 0 {
				return at
			}
			i += n - 1
		case '{', '[':
			depth++
			continue
		case '}', ']':
			if depth--; depth < 0 {
				return i // a number or a word ends with the object
			}
		case ',', ':', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return i
			}
			continue
		default:
			continue
		}
		if depth == 0 {
			return i + 1
		}
	}
	return at
}

// stringEnd returns the length of the string that b begins with; 0 where it does not end.
func stringEnd(b []byte) int {
	for at := 1; ; {
		n := bytes.IndexByte(b[at:], '"')
		if n < 0 {
			return 0
		}
		at += n
		slashes := 0
		for b[at-1-slashes] == '\\' {
			slashes++
		}
		if at++; slashes%2 == 0 {
			return at
		}
	}
}
