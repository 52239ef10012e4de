package strictjson

import (
	"encoding"
	"encoding/json"
	"reflect"
	"strings"

	"github.com/amber-memory/amber/internal/base/names"
)

// Shape is what JSON must look like to become a value of a Go type. A nil shape, and one without fields and elements,
// allows anything.
type Shape struct {
	fields map[string]field // of an object that has these and no others
	folded map[string]field // the same by folded name
	elem   *Shape           // of a list, or of an object with any names
	isMap  bool             // an object with any names, which count as they are spelled
	null   bool             // null is allowed
	opaque bool             // it is kept as it is
}

// field is a field of an object.
type field struct {
	bit   uint64 // tells it from the others; 0 beyond the first 64
	shape *Shape
}

var (
	anything   = &Shape{null: true}
	rawMessage = reflect.TypeFor[json.RawMessage]()
	jsonReader = reflect.TypeFor[json.Unmarshaler]()
	textReader = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// Of returns the shape of a Go type.
func Of(t reflect.Type) *Shape { return shapes{}.of(t) }

// shapes are those of structs that are being made: a type may hold itself.
type shapes map[reflect.Type]*Shape

func (m shapes) of(t reflect.Type) *Shape {
	switch p := reflect.PointerTo(t); {
	case t == rawMessage:
		return &Shape{null: true, opaque: true}
	case p.Implements(jsonReader): // a time, or fields of another tool
		return anything
	case p.Implements(textReader):
		return &Shape{}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return m.of(t.Elem())
	case reflect.Slice, reflect.Map:
		return &Shape{elem: m.of(t.Elem()), null: true, isMap: t.Kind() == reflect.Map}
	case reflect.Struct:
		if s, ok := m[t]; ok {
			return s
		}
		s := &Shape{fields: map[string]field{}, folded: map[string]field{}}
		m[t] = s
		m.fill(s, t)
		return s
	}
	return &Shape{}
}

func (m shapes) fill(s *Shape, t reflect.Type) {
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-", !f.IsExported(), name == "" && f.Anonymous: // fields of an embedded struct are among those of t
			continue
		case name == "":
			name = f.Name
		}
		known := field{shape: m.of(f.Type)}
		if n := len(s.fields); n < 64 {
			known.bit = 1 << n
		}
		s.fields[name], s.folded[names.Fold(name)] = known, known
	}
}
