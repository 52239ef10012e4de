package colony

import (
	"strconv"
)

// value is a JSON value as it was written: the members of objects in their order, numbers as literals, and every member
// that Amber does not know. The zero value is null.
type value struct {
	kind       valueKind
	duplicates bool
	text       string   // of a string; the literal of a number
	names      []string // of an object, each once, in the order of their first appearance
	list       []value  // the values of an object in the order of names, or of an array
}

type valueKind byte

const (
	kindNull valueKind = iota
	kindFalse
	kindTrue
	kindNumber
	kindString
	kindArray
	kindObject
)

// Duplicates reports whether an object in v had a member twice. The last one
// counts, in the place of the first.
func (v value) Duplicates() bool { return v.duplicates }

// member returns a member of an object.
func (v value) member(name string) (value, bool) {
	for i, n := range v.names {
		if n == name {
			return v.list[i], true
		}
	}
	return value{}, false
}

// without returns an object without a member.
func (v value) without(name string) value {
	out := value{kind: v.kind, duplicates: v.duplicates}
	for i, n := range v.names {
		if n != name {
			out.add(n, v.list[i])
		}
	}
	return out
}

// add adds a member that is not there yet.
func (v *value) add(name string, m value) {
	v.names = append(v.names, name)
	v.list = append(v.list, m)
}

// str returns the text of a string.
func (v value) str() (string, bool) { return v.text, v.kind == kindString }

// count returns a number that counts something: an integer that is not below
// zero, in its one spelling.
func (v value) count() (int64, bool) {
	if v.kind != kindNumber {
		return 0, false
	}
	n, err := strconv.ParseInt(v.text, 10, 64)
	return n, err == nil && n >= 0 && strconv.FormatInt(n, 10) == v.text
}

// strings returns the texts of an array of strings.
func (v value) strings() ([]string, bool) {
	if v.kind != kindArray {
		return nil, false
	}
	out := make([]string, len(v.list))
	for i, e := range v.list {
		if e.kind != kindString {
			return nil, false
		}
		out[i] = e.text
	}
	return out, true
}

func newObject() value { return value{kind: kindObject} }

func newString(s string) value { return value{kind: kindString, text: s} }

func newCount(n int64) value { return value{kind: kindNumber, text: strconv.FormatInt(n, 10)} }

func newStrings(list []string) value {
	v := value{kind: kindArray, list: make([]value, len(list))}
	for i, s := range list {
		v.list[i] = newString(s)
	}
	return v
}
