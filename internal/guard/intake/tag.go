package intake

import (
	"encoding/json"
	"reflect"
	"strings"
	"sync"

	"github.com/amber-memory/amber"
)

// A field of a request says in its tag redact what it may hold:
//
//	redact:"text"       a text, a list of texts, or texts by name: secrets are taken out
//	redact:"raw"        JSON, or a text that may be JSON: secrets are taken out of the document
//	redact:"id,task id" an id: one that holds a secret is refused under this name
//	redact:"-"          a word of a fixed list, or an id that the store itself has to know: it stays as it is
//
// A struct, a list or a pointer without a tag holds fields that have tags.
const tag = "redact"

// field is a field that may hold a secret.
type field struct {
	index int
	how   string // text, raw or id; "": its own fields have tags
	name  string // of an id, in errors
}

// fieldsOf are the fields of each type of request, made when a value of the type is first cleaned.
var fieldsOf sync.Map // reflect.Type: []field

func fields(t reflect.Type) []field {
	if known, ok := fieldsOf.Load(t); ok {
		return known.([]field)
	}
	var all []field
	for i := range t.NumField() {
		f := t.Field(i)
		how, name, _ := strings.Cut(f.Tag.Get(tag), ",")
		if f.IsExported() && how != "-" && (how != "" || holdsFields(f.Type)) {
			all = append(all, field{i, how, name})
		}
	}
	fieldsOf.Store(t, all)
	return all
}

// holdsFields reports whether a type is a struct, or lists of structs and pointers to them.
func holdsFields(t reflect.Type) bool {
	for t.Kind() == reflect.Slice || t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Kind() == reflect.Struct
}

// request cleans what v holds by the tags of its fields. Lists, maps and what pointers lead to are copied first: they
// belong to the caller.
func (c *cleaner) request(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		was, _ := v.Interface().(amber.WriteRequest)
		for _, f := range fields(v.Type()) {
			c.field(f, v.Field(f.index))
		}
		if r, ok := v.Addr().Interface().(*amber.WriteRequest); ok {
			digestAgain(r, was.Content)
		}
	case reflect.Slice:
		copied := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(copied, v)
		for i := range v.Len() {
			c.request(copied.Index(i))
		}
		if !v.IsNil() {
			v.Set(copied)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			copied := reflect.New(v.Type().Elem())
			copied.Elem().Set(v.Elem())
			c.request(copied.Elem())
			v.Set(copied)
		}
	}
}

// digestAgain makes the digest of a recorded memory that of its content without secrets. It leaves a wrong digest, so
// that the store refuses the memory.
func digestAgain(r *amber.WriteRequest, was string) {
	if r.ContentDigest != "" && r.Content != was && r.ContentDigest == amber.ContentDigest(was) {
		r.ContentDigest = amber.ContentDigest(r.Content)
	}
}

func (c *cleaner) field(f field, v reflect.Value) {
	switch f.how {
	case "id":
		c.idField(f.name, v)
	case "raw":
		c.rawField(v)
	case "text":
		c.textField(v)
	default:
		c.request(v)
	}
}

func (c *cleaner) idField(name string, v reflect.Value) {
	if v.Kind() == reflect.String {
		c.ids(name, v.String())
		return
	}
	for i := range v.Len() {
		c.ids(name, v.Index(i).String())
	}
}

func (c *cleaner) rawField(v reflect.Value) {
	switch doc := v.Addr().Interface().(type) {
	case *string:
		*doc = c.document(*doc)
	case *json.RawMessage:
		*doc = c.raw(*doc)
	case *map[string]json.RawMessage:
		*doc = c.fields(*doc)
	}
}

func (c *cleaner) textField(v reflect.Value) {
	switch text := v.Addr().Interface().(type) {
	case *[]string:
		*text = c.texts(*text)
	case *map[string]string:
		*text = c.pairs(*text)
	case **string:
		*text = c.change(*text)
	case **[]string:
		if *text != nil {
			*text = new(c.texts(**text))
		}
	case **map[string]string:
		if *text != nil {
			*text = new(c.pairs(**text))
		}
	default: // of a type of its own, such as an id that is kept as a text
		v.SetString(c.text(v.String()))
	}
}
