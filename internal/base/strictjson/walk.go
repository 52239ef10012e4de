package strictjson

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/amber-memory/amber/internal/base/names"
)

// walker goes over JSON. It finds out what [encoding/json] does not tell, and trusts it with the rest.
type walker struct {
	b     []byte
	i     int
	rules Rules
	twice int // depth of opaque values, in which names may occur twice
}

func (w *walker) fail(r Reason) error { return &Error{Reason: r, Offset: w.i} }

func (w *walker) unexpected() error { return w.fail(Syntax) }

// peek returns the next byte, 0 at the end.
func (w *walker) peek() byte {
	if w.rules.Space {
		for w.i < len(w.b) && (w.b[w.i] == ' ' || w.b[w.i] == '\n' || w.b[w.i] == '\t' || w.b[w.i] == '\r') {
			w.i++
		}
	}
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

func (w *walker) value(s *Shape, depth int) error {
	if s == nil {
		s = anything
	}
	c := w.peek()
	if depth++; w.rules.MaxDepth > 0 && depth > w.rules.MaxDepth {
		return &Error{Reason: TooDeep, Limit: w.rules.MaxDepth}
	}
	if s.opaque && w.rules.Opaque {
		w.twice++
		defer func() { w.twice-- }()
	}
	switch {
	case c == '{':
		return w.object(s, depth)
	case c == '[':
		return w.list(s, depth)
	case c == '"':
		_, err := w.text()
		return err
	case c == 'n' && !s.null && !w.rules.Null:
		return w.fail(Null)
	}
	return w.word()
}

// word steps over a number, true, false or null.
func (w *walker) word() error {
	begin := w.i
	for w.i < len(w.b) && isWord(w.b[w.i]) {
		w.i++
	}
	if w.i == begin {
		return w.unexpected()
	}
	return nil
}

func isWord(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c == 'E' || c == '-' || c == '+' || c == '.'
}

func (w *walker) list(s *Shape, depth int) error {
	w.take('[')
	if w.take(']') {
		return nil
	}
	for n := 1; ; n++ {
		if most := w.rules.MaxElements; most > 0 && s.elem != nil && n > most {
			return &Error{Reason: TooLong, Limit: most}
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

func (w *walker) object(s *Shape, depth int) error {
	w.take('{')
	if w.take('}') {
		return nil
	}
	members := members{of: s, rules: w.rules}
	members.rules.Twice = w.rules.Twice || w.twice > 0
	for {
		name, err := w.text()
		if err != nil {
			return err
		}
		of, err := members.add(name)
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

// members are the names of one object.
type members struct {
	of    *Shape
	rules Rules
	known uint64          // fields of the shape
	seen  map[string]bool // where any name may be
}

// add returns what the value of a name must look like. The name is as it is between its quotes.
func (m *members) add(name []byte) (*Shape, error) {
	if m.of.fields != nil {
		f, found := m.of.fields[string(name)]
		if !found && (m.rules.AnyCase || m.rules.Unknown) {
			return m.other(name)
		}
		return m.field(f, found, string(name))
	}
	plain, err := unescape(name)
	if err != nil {
		return nil, err
	}
	if m.rules.AnyCase && !m.of.isMap {
		plain = names.Fold(plain)
	}
	return m.of.elem, m.note(plain)
}

// other is add for a name that is no field as it is spelled.
func (m *members) other(name []byte) (*Shape, error) {
	plain, err := unescape(name)
	if err != nil {
		return nil, err
	}
	folded := plain
	if m.rules.AnyCase {
		folded = names.Fold(plain)
	}
	f, found := m.of.folded[folded]
	if found && m.rules.AnyCase || !m.rules.Unknown {
		return m.field(f, found, plain)
	}
	return nil, m.note(folded)
}

// field notes a field of the shape.
func (m *members) field(f field, found bool, name string) (*Shape, error) {
	switch {
	case !found:
		return nil, &Error{Reason: UnknownField, Name: name}
	case f.bit == 0:
		return f.shape, m.note(names.Fold(name))
	case m.known&f.bit != 0 && !m.rules.Twice:
		return nil, &Error{Reason: Twice, Name: name}
	}
	m.known |= f.bit
	return f.shape, nil
}

// note notes a name that may be any.
func (m *members) note(name string) error {
	switch most := m.rules.MaxElements; {
	case m.rules.Twice:
		return nil
	case m.seen[name]:
		return &Error{Reason: Twice, Name: name}
	case most > 0 && len(m.seen) == most:
		return &Error{Reason: TooLong, Limit: most}
	case m.seen == nil:
		m.seen = map[string]bool{}
	}
	m.seen[name] = true
	return nil
}

// unescape returns the one spelling of a name.
func unescape(name []byte) (plain string, err error) {
	if bytes.IndexByte(name, '\\') < 0 {
		return string(name), nil
	}
	if err := json.Unmarshal([]byte(`"`+string(name)+`"`), &plain); err != nil {
		return "", &Error{Reason: Syntax}
	}
	return plain, nil
}

// text steps over a string and returns what is between its quotes. Halves of characters are refused, other escapes
// are left to [encoding/json].
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
	u, ok := w.unit()
	if !ok {
		w.i += 2
		return nil
	}
	w.i += 6
	if u < 0xd800 || u > 0xdfff || w.rules.Halves {
		return nil
	}
	low, ok := w.unit()
	if u > 0xdbff || !ok || low < 0xdc00 || low > 0xdfff {
		return w.fail(HalfPair)
	}
	w.i += 6
	return nil
}

// unit reads \uXXXX.
func (w *walker) unit() (uint64, bool) {
	rest := w.b[min(w.i, len(w.b)):]
	if len(rest) < 6 || rest[0] != '\\' || rest[1] != 'u' {
		return 0, false
	}
	u, err := strconv.ParseUint(string(rest[2:6]), 16, 16)
	return u, err == nil
}
