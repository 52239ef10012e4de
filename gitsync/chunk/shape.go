package chunk

import (
	"encoding"
	"encoding/json"
	"reflect"
	"strings"
	"sync"
)

// shape is what JSON must look like to become a value of a Go type. A nil shape,
// and one without fields and elements, stands for anything.
type shape struct {
	fields map[string]field // of an object that has these and no others
	elem   *shape           // of a list, or of an object with any names
	null   bool             // null may stand for it
}

// field is a field of an object.
type field struct {
	bit   uint64 // tells it from the others
	shape *shape
}

var (
	anything    = &shape{null: true}
	headerShape = sync.OnceValue(func() *shape { return shapeOf(reflect.TypeFor[Header]()) })
	lineShape   = sync.OnceValue(func() *shape { return shapeOf(reflect.TypeFor[line]()) })
	indexShape  = sync.OnceValue(func() *shape { return shapeOf(reflect.TypeFor[index]()) })

	jsonReader = reflect.TypeFor[json.Unmarshaler]()
	textReader = reflect.TypeFor[encoding.TextUnmarshaler]()
)

func shapeOf(t reflect.Type) *shape {
	switch p := reflect.PointerTo(t); {
	case p.Implements(jsonReader): // a time, or fields of another tool
		return anything
	case p.Implements(textReader):
		return &shape{}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return shapeOf(t.Elem())
	case reflect.Slice, reflect.Map:
		return &shape{elem: shapeOf(t.Elem()), null: true}
	case reflect.Struct:
		return &shape{fields: fieldsOf(t)}
	}
	return &shape{}
}

func fieldsOf(t reflect.Type) map[string]field {
	fields := map[string]field{}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" { // embedded: its fields are among those of t
			continue
		}
		fields[name] = field{1 << len(fields), shapeOf(f.Type)}
	}
	if len(fields) > 64 {
		panic("chunk: more fields than bits in " + t.String())
	}
	return fields
}
