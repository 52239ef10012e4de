package httpapi

import (
	"encoding/json"
	"reflect"
	"strings"
)

// onceEach refuses a JSON document in which an object has one name twice: two
// readers would take two different values for it. What is stored without looking
// inside, under the opaque names, is not looked at. B is a document that was
// read without error. The error is of kind invalid.
func onceEach(b []byte, opaque map[string]bool) error {
	var open []map[string]bool // names of the objects that are open; nil for a list
	name := false              // the next string is a name
	closed := 0                // how many were open where an opaque value began; 0: it is over
	for i := 0; i < len(b); i++ {
		if len(open) == closed && (b[i] == ',' || b[i] == '}') {
			closed = 0
		}
		switch b[i] {
		case '{':
			open, name = append(open, map[string]bool{}), true
		case '[':
			open, name = append(open, nil), false
		case '}', ']':
			open, name = open[:len(open)-1], false
		case ',':
			name = open[len(open)-1] != nil
		case '"':
			end := stringEnd(b, i)
			if name && closed == 0 {
				s, err := onceNamed(open[len(open)-1], b[i:end])
				if err != nil {
					return err
				}
				if opaque[s] {
					closed = len(open)
				}
			}
			i, name = end-1, false
		}
	}
	return nil
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

func onceNamed(known map[string]bool, quoted []byte) (string, error) {
	var s string
	if err := json.Unmarshal(quoted, &s); err != nil {
		return "", invalid("a name cannot be read: %v", err)
	}
	if known[s] {
		return "", invalid("%q is there twice", clip(s))
	}
	known[s] = true
	return s, nil
}

// opaqueNames returns the names under which a type keeps documents as they are.
func opaqueNames(t reflect.Type) map[string]bool {
	names := map[string]bool{}
	addOpaque(t, names, map[reflect.Type]bool{})
	return names
}

func addOpaque(t reflect.Type, names map[string]bool, seen map[reflect.Type]bool) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || seen[t] {
		return
	}
	seen[t] = true
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Type == reflect.TypeFor[json.RawMessage]() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			names[name] = true
		}
		addOpaque(f.Type, names, seen)
	}
}
