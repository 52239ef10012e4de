package settings

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// TOML is a parsed document, which does not change. It knows tables, keys,
// strings and lists; of other values it only knows where they end. The zero value
// is not usable.
type TOML struct {
	src    []byte
	Tables []Table // the first has no header and holds the keys before any
}

// Table is a header and the keys below it.
type Table struct {
	Path  []string
	Array bool // its header has two brackets
	Keys  []Pair

	start, end int // whole lines; the end is behind the last line break
}

// Key returns the value of a key of one part, or nil.
func (t Table) Key(key string) *Value {
	for _, p := range t.Keys {
		if len(p.Path) == 1 && p.Path[0] == key {
			return p.Value
		}
	}
	return nil
}

// Pair is a key and its value.
type Pair struct {
	Path  []string // the parts of a dotted key
	Value *Value
}

// Value is a value of a TOML document.
type Value struct {
	Kind  Kind // String, Array, Object for an inline table, "" for anything else
	Text  string
	Items []*Value // of a list
	Keys  []Pair   // of an inline table

	start, end int
}

// ParseTOML parses a document. The text is not kept. The error is a
// *[SyntaxError], or says that there is too much.
func ParseTOML(src []byte) (*TOML, error) {
	if err := checkText(src); err != nil {
		return nil, err
	}
	s := scanner{src: slices.Clone(src)}
	if bytes.HasPrefix(src, []byte(mark)) {
		s.at = len(mark)
	}
	tables, err := s.document()
	if err != nil {
		return nil, err
	}
	return &TOML{src: s.src, Tables: tables}, nil
}

// Bytes returns the text, which the caller owns.
func (t *TOML) Bytes() []byte { return slices.Clone(t.src) }

// Find returns the indexes of the tables with a header of this path.
func (t *TOML) Find(path ...string) (found []int) {
	for i, table := range t.Tables {
		if i > 0 && slices.Equal(table.Path, path) {
			found = append(found, i)
		}
	}
	return found
}

// Names reports whether a header or a key says anything about path: names it
// or something below it.
func (t *TOML) Names(path ...string) bool {
	for i, table := range t.Tables {
		if i > 0 && below(table.Path, path) || pairsName(table.Keys, table.Path, path) {
			return true
		}
	}
	return false
}

func pairsName(pairs []Pair, prefix, path []string) bool {
	for _, p := range pairs {
		full := slices.Concat(prefix, p.Path)
		if below(full, path) || p.Value.Kind == Object && below(path, full) && pairsName(p.Value.Keys, full, path) {
			return true
		}
	}
	return false
}

// Sealed reports whether path, or something above it, is given as one value,
// so that no table can be added below it.
func (t *TOML) Sealed(path ...string) bool {
	for _, table := range t.Tables {
		for _, p := range table.Keys {
			if below(path, slices.Concat(table.Path, p.Path)) {
				return true
			}
		}
	}
	return false
}

// below reports whether path is prefix or lies below it.
func below(path, prefix []string) bool {
	return len(path) >= len(prefix) && slices.Equal(path[:len(prefix)], prefix)
}

// Append puts a block, whole lines without the last line break, behind
// everything else. Removing its tables gives the text back.
func (t *TOML) Append(block string) (*TOML, error) {
	nl := newline(t.src)
	block = strings.ReplaceAll(block, "\n", nl)
	switch text := bytes.TrimPrefix(t.src, []byte(mark)); {
	case len(text) == 0:
		block += nl
	case text[len(text)-1] == '\n':
		block = nl + block + nl
	default:
		block = nl + nl + block // the last line stays without a line break
	}
	return ParseTOML(append(t.Bytes(), block...))
}

// Remove removes a table: its header, its keys and one blank line before it.
func (t *TOML) Remove(table int) (*TOML, error) {
	if table < 1 || table >= len(t.Tables) {
		return nil, fmt.Errorf("table %d does not exist", table)
	}
	from, to := t.Tables[table].start, t.Tables[table].end
	breaks := 1
	if t.src[to-1] != '\n' {
		breaks = 2
	}
	for range breaks {
		if before, cut := cutBreak(t.src[:from]); cut && (breaks == 2 || endsLine(before)) {
			from = len(before)
		}
	}
	return ParseTOML(apply(t.src, splice{from, to, ""}))
}

// endsLine reports whether what follows text begins a line.
func endsLine(text []byte) bool {
	return len(text) == 0 || text[len(text)-1] == '\n' || string(text) == mark
}

// cutBreak cuts a line break off the end.
func cutBreak(text []byte) ([]byte, bool) {
	before, cut := bytes.CutSuffix(text, []byte("\n"))
	return bytes.TrimSuffix(before, []byte("\r")), cut
}

// Replace puts text in the place of a value.
func (t *TOML) Replace(v *Value, text string) (*TOML, error) {
	return ParseTOML(apply(t.src, splice{v.start, v.end, text}))
}

// Quote returns a string as TOML writes it.
func Quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String() + `"`
}

// QuoteList returns a list of strings as TOML writes it.
func QuoteList(list []string) string {
	quoted := make([]string, len(list))
	for i, s := range list {
		quoted[i] = Quote(s)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// Text returns a value as it stands in the text.
func (t *TOML) Text(v *Value) string { return string(t.src[v.start:v.end]) }
