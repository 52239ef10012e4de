package httpapi

import (
	"encoding/json"
	"reflect"
	"strings"
	"unicode"
)

// onceEach refuses a JSON document in which an object has one name twice: two
// readers would take two different values for it. A field is found by its name
// whatever its case, so names of fields that differ in nothing else are one;
// those of a map are not. What is stored without looking inside is not looked
// at. B is a document that was read without error. The error is of kind
// invalid.
func onceEach(b []byte, n fieldNames) error {
	var open []level // objects and lists that are open
	name := false    // the next string is a name
	last := ""       // the name of the value that comes
	closed := 0      // how many were open where an opaque value began; 0: it is over
	for i := 0; i < len(b); i++ {
		if len(open) == closed && (b[i] == ',' || b[i] == '}') {
			closed = 0
		}
		switch b[i] {
		case '{':
			open, name = append(open, level{known: map[string]bool{}, exact: n.maps[last]}), true
		case '[':
			open, name = append(open, level{}), false
		case '}', ']':
			open, name, last = open[:len(open)-1], false, ""
		case ',':
			name = open[len(open)-1].known != nil
		case '"':
			end := stringEnd(b, i)
			if name && closed == 0 {
				var err error
				if last, err = open[len(open)-1].add(b[i:end]); err != nil {
					return err
				}
				if n.opaque[last] && !open[len(open)-1].exact {
					closed = len(open)
				}
			}
			i, name = end-1, false
		}
	}
	return nil
}

// level is an object that is open, or a list, which has no names.
type level struct {
	known map[string]bool
	exact bool // it is a map: names that differ in case are two
}

// add remembers a name. The error is of kind invalid, when it is known.
func (l level) add(quoted []byte) (string, error) {
	var s string
	if err := json.Unmarshal(quoted, &s); err != nil {
		return "", invalid("a name cannot be read: %v", err)
	}
	folded := s
	if !l.exact {
		folded = fold(s)
	}
	if l.known[folded] {
		return "", invalid("%q is there twice", clip(s))
	}
	l.known[folded] = true
	return folded, nil
}

// fold is the same for all names that encoding/json takes for one field: of the
// runes that differ in case only it has the smallest.
func fold(name string) string {
	return strings.Map(func(r rune) rune {
		for {
			next := unicode.SimpleFold(r)
			if next <= r {
				return next
			}
			r = next
		}
	}, name)
}

// stringEnd returns where the string that begins at i is over.
func stringEnd(b []byte, i int) int {
	for i++; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(b)
}

// fieldNames are the names under which a type keeps documents as they are, and
// maps, all folded.
type fieldNames struct{ opaque, maps map[string]bool }

func fieldNamesOf(t reflect.Type) fieldNames {
	n := fieldNames{map[string]bool{}, map[string]bool{}}
	n.add(t, map[reflect.Type]bool{})
	return n
}

func (n fieldNames) add(t reflect.Type, seen map[reflect.Type]bool) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || seen[t] {
		return
	}
	seen[t] = true
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		held := f.Type
		for held.Kind() == reflect.Pointer {
			held = held.Elem()
		}
		switch {
		case held == reflect.TypeFor[json.RawMessage]():
			n.opaque[fold(name)] = true
		case held.Kind() == reflect.Map:
			n.maps[fold(name)] = true
		}
		n.add(f.Type, seen)
	}
}
