package mcpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/internal/base/strictjson"
	"github.com/amber-memory/amber/op"
)

// decode reads the arguments of a call. The names and types of the first level are
// checked against the schema, the rest against the Go type. Null means absent:
// models send null for arguments that they leave out. The error is of kind invalid
// and names the argument.
func decode(raw json.RawMessage, schema *jsonschema.Schema, args reflect.Type) (any, error) {
	if len(bytes.TrimSpace(raw)) == 0 || bytes.Equal(bytes.TrimSpace(raw), []byte("null")) {
		raw = json.RawMessage("{}")
	}
	if !utf8.Valid(raw) { // the decoder would replace what is not
		return nil, op.BadArgs("arguments are not valid UTF-8")
	}
	var given map[string]json.RawMessage
	if err := json.Unmarshal(raw, &given); err != nil {
		return nil, op.BadArgs("%s", strictjson.Words(err))
	}
	for name, v := range given {
		if bytes.Equal(bytes.TrimSpace(v), []byte("null")) {
			delete(given, name)
		}
	}
	if err := checkNames(given, schema); err != nil {
		return nil, err
	}
	for name, v := range given {
		var err error
		if given[name], err = integers(v, schema.Properties[name]); err != nil {
			return nil, op.BadArgs("%s", err.Error())
		}
	}
	// Without the names that only differ in case, which the decoder takes too.
	known, err := marshal(given)
	if err != nil {
		return nil, err
	}
	into := reflect.New(args)
	if err := json.Unmarshal(known, into.Interface()); err != nil {
		return nil, op.BadArgs("%s", strictjson.Words(err))
	}
	err = limits(into.Elem())
	return into.Elem().Interface(), err
}

// integers writes the whole numbers in a value as integers: models send 5.0 for 5.
func integers(v json.RawMessage, schema *jsonschema.Schema) (json.RawMessage, error) {
	switch {
	case schema == nil || bytes.Equal(bytes.TrimSpace(v), []byte("null")):
	case schema.Type == "integer":
		i, err := whole(v)
		return strconv.AppendInt(nil, i, 10), err
	case schema.Type == "array" && schema.Items.Type != "string":
		var items []json.RawMessage
		if json.Unmarshal(v, &items) != nil {
			return v, nil // the decoder says what is wrong
		}
		for i := range items {
			var err error
			if items[i], err = integers(items[i], schema.Items); err != nil {
				return nil, err
			}
		}
		return marshal(items)
	case schema.Type == "object" && len(schema.Properties) > 0:
		var fields map[string]json.RawMessage
		if json.Unmarshal(v, &fields) != nil {
			return v, nil
		}
		for name := range fields {
			var err error
			if fields[name], err = integers(fields[name], schema.Properties[name]); err != nil {
				return nil, err
			}
		}
		return marshal(fields)
	}
	return v, nil
}

// limits gives numbers that were left out their default, and holds the others to the range that the tags of their field have. The
// error is of kind invalid.
func limits(args reflect.Value) error {
	for i := range args.NumField() {
		f, v := args.Type().Field(i), args.Field(i)
		if def := f.Tag.Get("default"); def != "" && v.IsZero() {
			n, _ := strconv.ParseInt(def, 10, 64)
			setNumber(v, n)
		}
		if span := f.Tag.Get("range"); span != "" && !v.IsZero() {
			var least, most int64
			_, _ = fmt.Sscan(span, &least, &most)
			if n := reflect.Indirect(v).Int(); n < least || n > most {
				return op.BadArgs("%s is %d, not %d to %d", f.Tag.Get("json"), n, least, most)
			}
		}
	}
	return nil
}

func setNumber(v reflect.Value, n int64) {
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	v.SetInt(n)
}

func checkNames(given map[string]json.RawMessage, schema *jsonschema.Schema) error {
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if _, ok := schema.Properties[name]; !ok {
			return op.BadArgs("there is no %q; there are: %s", clip.Marked(name, 40), strings.Join(schema.PropertyOrder, ", "))
		}
	}
	for _, name := range schema.Required {
		if _, ok := given[name]; !ok {
			return op.BadArgs("%s is missing", name)
		}
	}
	for _, name := range schema.PropertyOrder {
		if v, ok := given[name]; ok {
			if err := checkValue(name, v, schema.Properties[name]); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkValue checks the type of one argument, and that it is one of the words it
// may be. An empty word counts as absent.
func checkValue(name string, v json.RawMessage, schema *jsonschema.Schema) error {
	got := typeOf(v)
	if fits := got == "integer" && schema.Type == "number"; schema.Type != "" && got != schema.Type && !fits {
		return op.BadArgs("%s is %s where %s is wanted", name, article[got], wantedArticle(schema.Type))
	}
	var word string
	if len(schema.Enum) == 0 || json.Unmarshal(v, &word) != nil || word == "" || slices.Contains(schema.Enum, any(word)) {
		return nil
	}
	if name == "kind" && slices.Contains(schema.Enum, any(string(amber.MemoryKind(word).Canonical()))) {
		return nil // a common name of one
	}
	return op.BadArgs("%s is %q, not one of %s", name, clip.Marked(word, 40), joinAny(schema.Enum))
}

// article is how types are called in errors.
var article = map[string]string{
	"string": "a string", "integer": "a whole number", "number": "a number that is not whole", "boolean": "true or false",
	"array": "a list", "object": "an object",
}

// wantedArticle is how a type is called where another was given.
func wantedArticle(typ string) string {
	if typ == "number" {
		return "a number"
	}
	return article[typ]
}

// typeOf returns the type of a JSON value, as JSON Schema names them.
func typeOf(v json.RawMessage) string {
	v = bytes.TrimSpace(v)
	switch v[0] {
	case '"':
		return "string"
	case '[':
		return "array"
	case '{':
		return "object"
	case 't', 'f':
		return "boolean"
	}
	if _, err := whole(v); err == nil {
		return "integer"
	}
	return "number"
}

func joinAny(words []any) string {
	ss := make([]string, len(words))
	for i, w := range words {
		ss[i] = fmt.Sprint(w)
	}
	return strings.Join(ss, ", ")
}

// whole reads a whole number however it is written: models send 5.0 for 5.
func whole(b []byte) (int64, error) {
	var f float64
	if json.Unmarshal(b, &f) != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return 0, errors.New(clip.Marked(string(b), 20) + " is not a whole number")
	}
	return int64(f), nil
}
