package mcpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/strictjson"
)

// decode reads the arguments of a call. The names and types of the first level are
// checked against the schema, the rest against the Go type. Null means absent:
// models send null for arguments that they leave out. The error is of kind invalid
// and names the argument.
func decode(raw json.RawMessage, schema *jsonschema.Schema, into any) error {
	if len(bytes.TrimSpace(raw)) == 0 || bytes.Equal(bytes.TrimSpace(raw), []byte("null")) {
		raw = json.RawMessage("{}")
	}
	if !utf8.Valid(raw) { // the decoder would replace what is not
		return badArgs("arguments are not valid UTF-8")
	}
	var given map[string]json.RawMessage
	if err := json.Unmarshal(raw, &given); err != nil {
		return badArgs(strictjson.Words(err))
	}
	for name, v := range given {
		if bytes.Equal(bytes.TrimSpace(v), []byte("null")) {
			delete(given, name)
		}
	}
	if err := checkNames(given, schema); err != nil {
		return err
	}
	// Without the names that only differ in case, which the decoder takes too.
	known, err := marshal(given)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(known, into); err != nil {
		return badArgs(strictjson.Words(err))
	}
	return nil
}

func checkNames(given map[string]json.RawMessage, schema *jsonschema.Schema) error {
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if _, ok := schema.Properties[name]; !ok {
			return badArgs(fmt.Sprintf("there is no %q; there are: %s", clip(name, 40), strings.Join(schema.PropertyOrder, ", ")))
		}
	}
	for _, name := range schema.Required {
		if _, ok := given[name]; !ok {
			return badArgs(name + " is missing")
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
	if whole := got == "integer" && schema.Type == "number"; schema.Type != "" && got != schema.Type && !whole {
		return badArgs(fmt.Sprintf("%s is %s where %s is wanted", name, article[got], wantedArticle(schema.Type)))
	}
	var word string
	if len(schema.Enum) == 0 || json.Unmarshal(v, &word) != nil || word == "" || slices.Contains(schema.Enum, any(word)) {
		return nil
	}
	if name == "kind" && slices.Contains(schema.Enum, any(string(amber.MemoryKind(word).Canonical()))) {
		return nil // a common name of one
	}
	return badArgs(fmt.Sprintf("%s is %q, not one of %s", name, clip(word, 40), joinAny(schema.Enum)))
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
	var i integer
	if i.UnmarshalJSON(v) == nil {
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

func badArgs(why string) error {
	return amber.Errorf(amber.KindInvalid, "read arguments", "", "%s", why)
}

// integer is a whole number however it is written: models send 5.0 for 5.
type integer int64

// UnmarshalJSON implements [json.Unmarshaler].
func (i *integer) UnmarshalJSON(b []byte) error {
	var f float64
	if err := json.Unmarshal(b, &f); err != nil {
		return errors.New(clip(string(b), 20) + " is not a whole number")
	}
	if f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return errors.New(clip(string(b), 20) + " is not a whole number")
	}
	*i = integer(f)
	return nil
}

// within returns i, or def where it is 0. The error is of kind invalid.
func (i integer) within(name string, def, least, most int) (int, error) {
	if i == 0 {
		return def, nil
	}
	if int64(i) < int64(least) || int64(i) > int64(most) {
		return 0, badArgs(fmt.Sprintf("%s is %d, not %d to %d", name, i, least, most))
	}
	return int(i), nil
}
