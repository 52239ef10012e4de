package hook

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/amber-memory/amber/internal/recall/contextblock"
)

// kind is what a JSON value is.
type kind uint8

const (
	absent kind = iota // no value
	null
	boolean
	number
	text
	array
	object
)

// value is a JSON value within bounds. It is not changed once made.
type value struct {
	kind kind
	cut  bool     // the text goes on in the payload
	text string   // of a text; of a number or boolean, as written
	list []value  // elements; of an object, the values of its keys
	keys []string // of an object, sorted
}

// get returns the value of a key, an absent one when there is none.
func (v value) get(key string) value {
	if i, ok := slices.BinarySearch(v.keys, key); ok {
		return v.list[i]
	}
	return value{}
}

// first returns the value of the first of the keys that has one and is not null.
func (v value) first(keys ...string) value {
	for _, k := range keys {
		if m := v.get(k); m.kind > null {
			return m
		}
	}
	return value{}
}

// str returns the text of a text, "" for anything else.
func (v value) str() string {
	if v.kind == text {
		return v.text
	}
	return ""
}

// scalar returns the first of the named members that is a text or a number, as
// text.
func (v value) scalar(keys ...string) string {
	for _, k := range keys {
		if m := v.get(k); m.kind == text || m.kind == number {
			return m.text
		}
	}
	return ""
}

func (v value) isTrue() bool { return v.kind == boolean && v.text == "true" }

func (v value) isFalse() bool { return v.kind == boolean && v.text == "false" }

func textValue(s string) value { return value{kind: text, text: s} }

// newObject returns an object. Among equal keys the last one counts.
func newObject(keys []string, list []value) value {
	order := make([]int, len(keys))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return strings.Compare(keys[a], keys[b]) })
	out := value{kind: object}
	for n, i := range order {
		if n+1 < len(order) && keys[order[n+1]] == keys[i] {
			continue
		}
		out.keys = append(out.keys, keys[i])
		out.list = append(out.list, list[i])
	}
	return out
}

// without returns an object without the named members.
func (v value) without(named func(key string) bool) value {
	out := value{kind: object}
	for i, k := range v.keys {
		if !named(k) {
			out.keys = append(out.keys, k)
			out.list = append(out.list, v.list[i])
		}
	}
	return out
}

// appendJSON appends the value, its keys sorted and without white space, so that
// equal values are equal bytes.
func (v value) appendJSON(b []byte) []byte {
	switch v.kind {
	case text:
		return appendString(b, v.text)
	case number, boolean:
		return append(b, v.text...)
	case array:
		b = append(b, '[')
		for i, e := range v.list {
			if i > 0 {
				b = append(b, ',')
			}
			b = e.appendJSON(b)
		}
		return append(b, ']')
	case object:
		b = append(b, '{')
		for i, k := range v.keys {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(appendString(b, k), ':')
			b = v.list[i].appendJSON(b)
		}
		return append(b, '}')
	}
	return append(b, "null"...)
}

// appendString appends s as a JSON string. Bytes that are no UTF-8 become U+FFFD.
func appendString(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\n':
			b = append(b, '\\', 'n')
		case r == '\t':
			b = append(b, '\\', 't')
		case r == '\r':
			b = append(b, '\\', 'r')
		case r < ' ':
			b = append(b, '\\', 'u', '0', '0', hex[r>>4], hex[r&15])
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return append(b, '"')
}

// promptFields are the members of payloads that hold what the user said.
var promptFields = []string{"prompt", "input-messages", "task"}

// cutContext returns a payload without the context that Amber gave to the host:
// a host may hand it back inside a prompt. It comes before secrets are removed,
// which may change a block.
func cutContext(v value) value {
	for _, name := range promptFields {
		if i, ok := slices.BinarySearch(v.keys, name); ok {
			v.list = slices.Clone(v.list)
			v.list[i] = v.list[i].withoutContext()
		}
	}
	return v
}

// withoutContext cuts context out of a text, or out of the texts of a list.
func (v value) withoutContext() value {
	switch v.kind {
	case text:
		v.text = contextblock.Cut(v.text)
	case array:
		list := make([]value, len(v.list))
		for i, e := range v.list {
			list[i] = e.withoutContext()
		}
		v.list = list
	}
	return v
}
