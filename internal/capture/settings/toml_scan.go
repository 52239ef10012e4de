package settings

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// scanner reads one TOML document from left to right.
type scanner struct {
	src   []byte
	at    int
	depth int
}

func (s *scanner) fail(at int, format string, args ...any) error {
	return syntaxError(s.src, at, format, args...)
}

func (s *scanner) peek(text string) bool { return bytes.HasPrefix(s.src[s.at:], []byte(text)) }

// blanks skips spaces and tabs.
func (s *scanner) blanks() {
	for s.at < len(s.src) && (s.src[s.at] == ' ' || s.src[s.at] == '\t') {
		s.at++
	}
}

// space skips white space, line breaks and comments.
func (s *scanner) space() error {
	for {
		s.blanks()
		switch {
		case s.peek("\n"):
			s.at++
		case s.peek("\r\n"):
			s.at += 2
		case s.peek("#"):
			if err := s.comment(); err != nil {
				return err
			}
		default:
			return nil
		}
	}
}

// comment skips a comment up to its line break.
func (s *scanner) comment() error {
	for ; s.at < len(s.src) && !s.peek("\n") && !s.peek("\r\n"); s.at++ {
		if c := s.src[s.at]; c < ' ' && c != '\t' || c == 0x7f {
			return s.fail(s.at, "a control character inside a comment")
		}
	}
	return nil
}

// endOfLine skips the rest of a line that must hold nothing more than a
// comment.
func (s *scanner) endOfLine() error {
	s.blanks()
	if s.peek("#") {
		if err := s.comment(); err != nil {
			return err
		}
	}
	switch {
	case s.at == len(s.src):
	case s.peek("\n"):
		s.at++
	case s.peek("\r\n"):
		s.at += 2
	default:
		return s.fail(s.at, "expected the end of the line, found %q", s.src[s.at])
	}
	return nil
}

func (s *scanner) document() ([]Table, error) {
	tables := []Table{{}}
	seen := map[string]bool{} // headers, and keys with the number of their table
	for {
		if err := s.space(); err != nil {
			return nil, err
		}
		if s.at == len(s.src) {
			return tables, nil
		}
		table := &tables[len(tables)-1]
		if s.peek("[") {
			next, err := s.header()
			if err != nil {
				return nil, err
			}
			if !next.Array && !first(seen, nil, next.Path) {
				return nil, s.fail(next.start, "the table [%s] is there twice", strings.Join(next.Path, "."))
			}
			tables = append(tables, next)
			continue
		}
		pair, err := s.pair()
		if err != nil {
			return nil, err
		}
		if !first(seen, []string{strconv.Itoa(len(tables))}, pair.Path) {
			return nil, s.fail(pair.Value.start, "the key %s is there twice", strings.Join(pair.Path, "."))
		}
		table.Keys = append(table.Keys, pair)
		if err := s.endOfLine(); err != nil {
			return nil, err
		}
		table.end = s.at
	}
}

// first notes a path and reports whether it had not been seen.
func first(seen map[string]bool, prefix, path []string) bool {
	id := strings.Join(prefix, "") + "\x00" + strings.Join(path, "\x00")
	was := seen[id]
	seen[id] = true
	return !was
}

func (s *scanner) header() (Table, error) {
	t := Table{start: bytes.LastIndexByte(s.src[:s.at], '\n') + 1}
	if t.start == 0 && bytes.HasPrefix(s.src, []byte(mark)) {
		t.start = len(mark)
	}
	closing := "]"
	if s.peek("[[") {
		t.Array, closing = true, "]]"
	}
	s.at += len(closing)
	var err error
	if t.Path, err = s.key(); err != nil {
		return t, err
	}
	if !s.peek(closing) {
		return t, s.fail(s.at, "expected %q", closing)
	}
	s.at += len(closing)
	if err := s.endOfLine(); err != nil {
		return t, err
	}
	t.end = s.at
	return t, nil
}

// key reads a dotted key and the blanks around it.
func (s *scanner) key() (path []string, err error) {
	for {
		s.blanks()
		part, err := s.keyPart()
		if err != nil {
			return nil, err
		}
		path = append(path, part)
		if len(path) > MaxDepth {
			return nil, s.fail(s.at, "nested deeper than %d", MaxDepth)
		}
		s.blanks()
		if !s.peek(".") {
			return path, nil
		}
		s.at++
	}
}

func (s *scanner) keyPart() (string, error) {
	if s.peek(`"`) || s.peek(`'`) {
		if s.peek(`"""`) || s.peek(`'''`) {
			return "", s.fail(s.at, "a key must be on one line")
		}
		v, err := s.string()
		if err != nil {
			return "", err
		}
		return v.Text, nil
	}
	from := s.at
	for s.at < len(s.src) && bare(s.src[s.at]) {
		s.at++
	}
	if from == s.at {
		return "", s.fail(from, "expected a key")
	}
	return string(s.src[from:s.at]), nil
}

func bare(c byte) bool {
	return c == '_' || c == '-' || '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
}

func (s *scanner) pair() (Pair, error) {
	path, err := s.key()
	if err != nil {
		return Pair{}, err
	}
	if !s.peek("=") {
		return Pair{}, s.fail(s.at, "expected %q after the key %s", '=', strings.Join(path, "."))
	}
	s.at++
	s.blanks()
	v, err := s.value()
	return Pair{path, v}, err
}

func (s *scanner) value() (*Value, error) {
	switch {
	case s.peek(`"`) || s.peek(`'`):
		return s.string()
	case s.peek("["):
		return s.container(Array, "]")
	case s.peek("{"):
		return s.container(Object, "}")
	}
	return s.scalar()
}

// container reads a list or an inline table.
func (s *scanner) container(kind Kind, closing string) (*Value, error) {
	if s.depth++; s.depth > MaxDepth {
		return nil, s.fail(s.at, "nested deeper than %d", MaxDepth)
	}
	defer func() { s.depth-- }()
	v := &Value{Kind: kind, start: s.at}
	s.at++
	for more := true; ; {
		if err := s.space(); err != nil {
			return nil, err
		}
		if s.peek(closing) {
			s.at++
			v.end = s.at
			return v, nil
		}
		if !more || s.at == len(s.src) {
			return nil, s.fail(s.at, "expected %q", closing)
		}
		if err := s.element(v); err != nil {
			return nil, err
		}
		if err := s.space(); err != nil {
			return nil, err
		}
		if more = s.peek(","); more {
			s.at++
		}
	}
}

// element reads one element of a list or one pair of an inline table.
func (s *scanner) element(v *Value) error {
	if v.Kind == Object {
		pair, err := s.pair()
		v.Keys = append(v.Keys, pair)
		return err
	}
	item, err := s.value()
	v.Items = append(v.Items, item)
	return err
}

var scalar = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([A-Za-z0-9+\-_.:]+)( [0-9]{2}:[0-9:.+\-Z]*)?`)
})

// scalar reads a number, a boolean or a time, without asking which.
func (s *scanner) scalar() (*Value, error) {
	text := scalar().Find(s.src[s.at:min(len(s.src), s.at+200)])
	if len(text) == 0 {
		return nil, s.fail(s.at, "expected a value")
	}
	v := &Value{start: s.at, end: s.at + len(text)}
	s.at = v.end
	return v, nil
}

// string reads a string of any of the four sorts.
func (s *scanner) string() (*Value, error) {
	v := &Value{Kind: String, start: s.at}
	quote := string(s.src[s.at])
	long := s.peek(strings.Repeat(quote, 3))
	if long {
		quote = strings.Repeat(quote, 3)
	}
	s.at += len(quote)
	from := s.at
	for ; s.at < len(s.src); s.at++ {
		switch c := s.src[s.at]; {
		case s.peek(quote):
			s.at += len(quote)
			// Up to two quotes may stand before the closing three.
			for extra := 0; long && extra < 2 && s.at < len(s.src) && s.src[s.at] == quote[0]; extra++ {
				s.at++
			}
			v.end = s.at
			return v, s.decode(v, quote, from)
		case c == '\\' && quote[0] == '"':
			s.at++
		case c < ' ' && c != '\t' && (!long || c != '\n' && c != '\r') || c == 0x7f:
			return nil, s.fail(s.at, "a control character inside a string")
		}
	}
	return nil, s.fail(v.start, "this string does not end")
}

// decode sets the text of a string.
func (s *scanner) decode(v *Value, quote string, from int) error {
	text := string(s.src[from : v.end-len(quote)])
	if len(quote) == 3 {
		text = strings.TrimPrefix(strings.TrimPrefix(text, "\r"), "\n")
	}
	if quote[0] == '\'' || !strings.Contains(text, `\`) {
		v.Text = text
		return nil
	}
	var b strings.Builder
	for text != "" {
		plain, rest, found := strings.Cut(text, `\`)
		b.WriteString(plain)
		if !found {
			break
		}
		r, n := unescape(rest, len(quote) == 3)
		if n < 0 {
			return s.fail(v.start, "unknown escape in this string")
		}
		b.WriteString(r)
		text = rest[n:]
	}
	v.Text = b.String()
	return nil
}

var escapes = map[byte]string{'b': "\b", 't': "\t", 'n': "\n", 'f': "\f", 'r': "\r", 'e': "\x1b", '"': `"`, '\\': `\`}

// unescape returns the character that the text behind a backslash represents
// and how long that text is, -1 when it is no escape.
func unescape(text string, long bool) (string, int) {
	if text == "" {
		return "", -1
	}
	if r, ok := escapes[text[0]]; ok {
		return r, 1
	}
	if digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[text[0]]; digits > 0 && len(text) > digits {
		code, err := strconv.ParseUint(text[1:1+digits], 16, 32)
		if err != nil || code > 0x10ffff || 0xd800 <= code && code < 0xe000 {
			return "", -1
		}
		return string(rune(code)), 1 + digits
	}
	// A backslash at the end of a line swallows the white space after it.
	trimmed := strings.TrimLeft(text, " \t\r\n")
	if swallowed := text[:len(text)-len(trimmed)]; long && strings.Contains(swallowed, "\n") {
		return "", len(swallowed)
	}
	return "", -1
}
