package chunk

import (
	"bytes"
	"encoding/json"
	"strconv"
	"unicode/utf8"
)

// strict reads one line of JSON into a value. [encoding/json] alone is too kind:
// it takes names of fields in any case, the last of two fields with one name,
// null for everything, and puts U+FFFD where a character is broken. Here a field
// that is not known is too_new, and all the rest is damaged.
func strict(b []byte, s *shape, into any) error {
	if !utf8.Valid(b) {
		return damaged("it is not valid UTF-8")
	}
	w := walker{b: b}
	if err := w.value(s, 0); err != nil {
		return err
	}
	if w.i != len(b) {
		return w.unexpected()
	}
	// The walk has left to this whether numbers and names are spelled right.
	if err := json.Unmarshal(b, into); err != nil {
		return damaged("it is not the JSON it should be: %v", err)
	}
	return nil
}

// walker goes over JSON without white space. It finds out what [encoding/json]
// does not tell, and trusts it with the rest.
type walker struct {
	b []byte
	i int
}

func (w *walker) unexpected() error {
	return damaged("it is not the JSON it should be: byte %d is not expected", w.i)
}

// peek returns the next byte, 0 at the end.
func (w *walker) peek() byte {
	if w.i < len(w.b) {
		return w.b[w.i]
	}
	return 0
}

// take steps over the byte c and reports whether it was there.
func (w *walker) take(c byte) bool {
	if w.peek() != c {
		return false
	}
	w.i++
	return true
}

func (w *walker) value(s *shape, depth int) error {
	if s == nil {
		s = anything
	}
	c := w.peek()
	if depth++; depth > maxDepth {
		return damaged("it is nested more than %d deep", maxDepth)
	}
	switch {
	case c == '{':
		return w.object(s, depth)
	case c == '[':
		return w.list(s, depth)
	case c == '"':
		_, err := w.text()
		return err
	case c == 'n' && !s.null:
		return damaged("byte %d: null where there must be a value", w.i)
	}
	return w.word()
}

// word steps over a number, true, false or null.
func (w *walker) word() error {
	begin := w.i
	for c := w.peek(); c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c == 'E' || c == '-' || c == '+' || c == '.'; c = w.peek() {
		w.i++
	}
	if w.i == begin {
		return w.unexpected()
	}
	return nil
}

func (w *walker) list(s *shape, depth int) error {
	w.take('[')
	if w.take(']') {
		return nil
	}
	for n := 1; ; n++ {
		if s.elem != nil && n > maxElements {
			return overQuota("the length of a list", n, maxElements)
		}
		if err := w.value(s.elem, depth); err != nil {
			return err
		}
		switch {
		case w.take(']'):
			return nil
		case !w.take(','):
			return w.unexpected()
		}
	}
}

func (w *walker) object(s *shape, depth int) error {
	w.take('{')
	if w.take('}') {
		return nil
	}
	names := names{of: s}
	for {
		name, err := w.text()
		if err != nil {
			return err
		}
		of, err := names.add(name)
		if err != nil {
			return err
		}
		if !w.take(':') {
			return w.unexpected()
		}
		if err := w.value(of, depth); err != nil {
			return err
		}
		switch {
		case w.take('}'):
			return nil
		case !w.take(','):
			return w.unexpected()
		}
	}
}

// names are those of one object.
type names struct {
	of    *shape
	known uint64          // fields of the shape
	seen  map[string]bool // where any name may be
}

// add returns what the value of a name must look like. The name is as it is
// between its quotes.
func (n *names) add(name []byte) (*shape, error) {
	if n.of.fields != nil {
		f, found := n.of.fields[string(name)]
		switch {
		case !found:
			return nil, tooNew("it has the field %q, which this amber does not know", clip(string(name)))
		case n.known&f.bit != 0:
			return nil, damaged("it has the field %q twice", name)
		}
		n.known |= f.bit
		return f.shape, nil
	}
	plain, err := unescape(name)
	if err != nil {
		return nil, err
	}
	switch {
	case n.seen[plain]:
		return nil, damaged("it has the name %q twice", clip(plain))
	case len(n.seen) == maxElements:
		return nil, overQuota("the number of names", maxElements+1, maxElements)
	case n.seen == nil:
		n.seen = map[string]bool{}
	}
	n.seen[plain] = true
	return n.of.elem, nil
}

// unescape returns the one spelling of a name.
func unescape(name []byte) (plain string, err error) {
	if bytes.IndexByte(name, '\\') < 0 {
		return string(name), nil
	}
	if err := json.Unmarshal([]byte(`"`+string(name)+`"`), &plain); err != nil {
		return "", damaged("a name is no text: %v", err)
	}
	return plain, nil
}

// text steps over a string and returns what is between its quotes. Halves of
// characters are refused, other escapes are left to [encoding/json].
func (w *walker) text() ([]byte, error) {
	if !w.take('"') {
		return nil, w.unexpected()
	}
	begin := w.i
	for w.i < len(w.b) {
		switch c := w.b[w.i]; c {
		case '"':
			w.i++
			return w.b[begin : w.i-1], nil
		case '\\':
			if err := w.escape(); err != nil {
				return nil, err
			}
		default:
			w.i++
		}
	}
	return nil, w.unexpected()
}

// escape steps over an escaped character.
func (w *walker) escape() error {
	if u, ok := w.unit(); ok {
		w.i += 6
		if u < 0xd800 || u > 0xdfff {
			return nil
		}
		low, ok := w.unit()
		if u > 0xdbff || !ok || low < 0xdc00 || low > 0xdfff {
			return damaged("byte %d: half of a character", w.i)
		}
		w.i += 6
		return nil
	}
	w.i += 2
	return nil
}

// unit reads \uXXXX.
func (w *walker) unit() (uint64, bool) {
	rest := w.b[w.i:]
	if len(rest) < 6 || rest[0] != '\\' || rest[1] != 'u' {
		return 0, false
	}
	u, err := strconv.ParseUint(string(rest[2:6]), 16, 16)
	return u, err == nil
}
