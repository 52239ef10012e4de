package mcpapi

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/op"
)

// Every byte of a schema is paid for with every prompt: descriptions are only
// where the name does not say it. Output schemas require nothing, because an
// answer that is an error has none of their properties and clients hold it
// against them nevertheless.

// inputOf makes the schema of arguments from the tags of their fields, see [op.Tool].
func inputOf(t reflect.Type) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}}
	for i := range t.NumField() {
		f := t.Field(i)
		name := f.Tag.Get("json")
		p := typed(f.Type, f.Tag.Get("type"))
		if doc := f.Tag.Get("doc"); doc != "" {
			p.Description = doc
		}
		for word := range strings.FieldsSeq(f.Tag.Get("enum")) {
			p.Enum = append(p.Enum, word)
		}
		s.Properties[name], s.PropertyOrder = p, append(s.PropertyOrder, name)
		if f.Tag.Get("need") != "" {
			s.Required = append(s.Required, name)
		}
	}
	return s
}

// typed is the schema of an argument of a Go type. As says what a document has to be.
func typed(t reflect.Type, as string) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: typeName(t), Enum: enums[t]}
	switch {
	case t.Kind() == reflect.Pointer:
		return typed(t.Elem(), as)
	case t == document && as != "":
		return &jsonschema.Schema{Type: as}
	case t == document:
		return &jsonschema.Schema{Description: "any JSON"}
	case s.Type == "array":
		s.Items = typed(t.Elem(), "")
	case s.Type == "object":
		return inputOf(t)
	}
	return s
}

// outputOf makes the schema of answers: the fields that are named, or all.
func outputOf(t reflect.Type, names string) *jsonschema.Schema {
	all := fieldsOf(t)
	if names == "" {
		for _, f := range all {
			names += " " + jsonName(f)
		}
	}
	s := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}}
	for name := range strings.FieldsSeq(names) {
		f := all[slices.IndexFunc(all, func(f reflect.StructField) bool { return jsonName(f) == name })]
		s.Properties[name], s.PropertyOrder = answered(f.Type, f.Tag.Get("shows")), append(s.PropertyOrder, name)
	}
	return s
}

// answered is the schema of a field of an answer. Without names of fields an object has none in it.
func answered(t reflect.Type, names string) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: typeName(t)}
	switch {
	case t.Kind() == reflect.Pointer:
		return answered(t.Elem(), names)
	case t == document:
		return &jsonschema.Schema{Description: "any JSON"}
	case s.Type == "array":
		s.Items = answered(t.Elem(), names)
	case s.Type == "object" && names == "*":
		return inputOf(t)
	case s.Type == "object" && names == "-":
		return outputOf(reflect.TypeFor[op.None](), "")
	case s.Type == "object" && names != "":
		return outputOf(t, names)
	}
	return s
}

// fieldsOf returns the fields of a struct, those of embedded ones in their place.
func fieldsOf(t reflect.Type) (fields []reflect.StructField) {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	for i := range t.NumField() {
		if f := t.Field(i); f.Anonymous {
			fields = append(fields, fieldsOf(f.Type)...)
		} else {
			fields = append(fields, f)
		}
	}
	return fields
}

func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

var document = reflect.TypeFor[json.RawMessage]()

// enums are the words of types that are one of a few.
var enums = map[reflect.Type][]any{
	reflect.TypeFor[amber.MemoryKind]():  texts(amber.MemoryKinds()),
	reflect.TypeFor[amber.Scope]():       texts(amber.Scopes()),
	reflect.TypeFor[amber.RecallLayer](): texts(amber.RecallLayers()),
	reflect.TypeFor[amber.TaskState]():   texts(amber.TaskStates()),
}

func texts[T ~string](list []T) (out []any) {
	for _, w := range list {
		out = append(out, string(w))
	}
	return out
}

// typeName is the type of a Go type in JSON.
func typeName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "boolean"
	case reflect.Int, reflect.Int64:
		return "integer"
	case reflect.Float64:
		return "number"
	case reflect.Slice:
		return "array"
	case reflect.Struct, reflect.Map, reflect.Interface:
		if t != reflect.TypeFor[amber.Time]() {
			return "object"
		}
	}
	return "string"
}
