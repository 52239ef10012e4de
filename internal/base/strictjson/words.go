package strictjson

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/amber-memory/amber/internal/base/clip"
)

// Words says in words of JSON why [encoding/json] could not read a value: its own errors name types of Go.
func Words(err error) string {
	wrong, ok := errors.AsType[*json.UnmarshalTypeError](err)
	if !ok {
		return strings.TrimPrefix(err.Error(), "json: ")
	}
	return fmt.Sprintf("%s is %s where %s is wanted", place(wrong.Field), found(wrong.Value), wanted(wrong.Type))
}

// place names a field without the structs of Go that it is embedded through, and without most of a long name.
func place(field string) string {
	const most = 100
	elements := strings.Split(field, ".")
	for len(elements) > 1 && strings.ToUpper(elements[0][:1]) == elements[0][:1] {
		elements = elements[1:]
	}
	at := strings.Join(elements, ".")
	switch {
	case at == "":
		return "the value"
	case len(at) > most:
		return clip.Marked(at, most)
	}
	return strings.ToLower(at[:1]) + at[1:] // Go's name where the field has no other
}

// found is how errors call what the decoder found.
func found(value string) string {
	switch value, _, _ = strings.Cut(value, " "); value { // the text for a number has its digits, too
	case "array":
		return "a list"
	case "object":
		return "an object"
	case "bool":
		return "true or false"
	}
	return "a " + value
}

// wanted is how errors call the values of a type.
func wanted(t reflect.Type) string {
	if p := reflect.PointerTo(t); p.Implements(jsonReader) || p.Implements(textReader) {
		return "a string"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return wanted(t.Elem())
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 { // bytes travel in base64
			return "a string"
		}
		return "a list"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "a whole number"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Map, reflect.Struct:
		return "an object"
	}
	return "a string"
}
