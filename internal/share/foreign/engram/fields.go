package engram

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/amber-memory/amber/internal/base/strictjson"
)

// field is a field of an object that this package knows, and where its value goes.
type field struct {
	name string
	into any
}

// fieldsOf returns the fields of a row by the names that their JSON tags give them. A field without a tag is no part of the
// row.
func fieldsOf(row any) (out []field) {
	v := reflect.ValueOf(row).Elem()
	for i := range v.NumField() {
		if name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ","); name != "" {
			out = append(out, field{name, v.Field(i).Addr().Interface()})
		}
	}
	return out
}

// decodeObject reads one object, in which no name may occur twice. It returns the fields that are not known as JSON
// members ("a":1,"b":2), and their names.
func decodeObject(raw []byte, known ...field) (extra string, unknown []string, err error) {
	var members strings.Builder
	err = strictjson.Members(raw, func(name string, value json.RawMessage) error {
		if at := slices.IndexFunc(known, func(f field) bool { return f.name == name }); at >= 0 {
			return known[at].put(value)
		}
		unknown = append(unknown, name)
		appendMember(&members, name, value)
		return nil
	})
	if err != nil {
		return "", nil, err
	}
	return members.String(), unknown, nil
}

// put stores a value where the field says.
func (f field) put(value json.RawMessage) error {
	if p, ok := f.into.(**string); ok {
		*p = nil // a text that it pointed to may be that of another value
	}
	if err := json.Unmarshal(value, f.into); err != nil {
		return fmt.Errorf("the field %q has the wrong type", f.name)
	}
	return nil
}

func appendMember(b *strings.Builder, name string, value json.RawMessage) {
	if b.Len() > 0 {
		b.WriteByte(',')
	}
	b.Write(marshal(name))
	b.WriteByte(':')
	var compact bytes.Buffer
	if err := json.Compact(&compact, value); err != nil {
		panic("engram: what was decoded is JSON: " + err.Error())
	}
	b.Write(compact.Bytes())
}

// marshal is json.Marshal for values that always marshal: the spelling of Engram is that of Go, with its escapes.
func marshal(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic("engram: strings and numbers always marshal: " + err.Error())
	}
	return b
}

// withExtra adds members to an object.
func withExtra(object []byte, extra string) []byte {
	if extra == "" {
		return object
	}
	object = object[:len(object)-1]
	if len(object) > 1 {
		object = append(object, ',')
	}
	return append(append(object, extra...), '}')
}
