// Package tagged does something to every text of a record, by what the tags of its fields say.
//
// A field says in its tag redact what it may hold:
//
//	redact:"text"       a text, a list of texts, or texts by name: secrets are taken out
//	redact:"raw"        JSON, or a text that may be JSON: secrets are taken out of the document
//	redact:"id,task id" an id: one that holds a secret is refused under this name
//	redact:"-"          a word of a fixed list, or an id that the store itself has to know: it stays as it is
//
// A struct, a list or a pointer without a tag holds fields that have tags.
package tagged

import (
	"encoding/json"
	"reflect"
	"strings"
	"sync"

	"github.com/amber-memory/amber"
)

const tag = "redact"

// Change is what becomes of the texts of a record. Fields for which the function is nil stay as they are.
type Change struct {
	Text      func(string) string
	Pairs     func(map[string]string) map[string]string // texts by name
	Document  func(string) string                       // JSON, or a text that may be JSON
	Documents func(map[string]json.RawMessage) map[string]json.RawMessage
	ID        func(name, id string) // looks at an id, which cannot be changed
}

// Apply changes the record that v points to. Lists, maps and what pointers lead to are copied first: they belong to the
// caller. The digest of a recorded memory becomes that of its new content. A wrong digest stays, so that the store
// refuses the memory.
func (c Change) Apply(v any) { c.value(reflect.ValueOf(v).Elem()) }

// field is a field that may hold a text.
type field struct {
	index int
	how   string // text, raw or id; "": its own fields have tags
	name  string // of an id, in errors
}

// fieldsOf are the fields of each type of record, made when a value of the type is first changed.
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

func (c Change) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		c.record(v)
	case reflect.Slice:
		copied := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(copied, v)
		for i := range v.Len() {
			c.value(copied.Index(i))
		}
		if !v.IsNil() {
			v.Set(copied)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			copied := reflect.New(v.Type().Elem())
			copied.Elem().Set(v.Elem())
			c.value(copied.Elem())
			v.Set(copied)
		}
	}
}

func (c Change) record(v reflect.Value) {
	r, isWrite := v.Addr().Interface().(*amber.WriteRequest)
	was := ""
	if isWrite {
		was = r.Content
	}
	for _, f := range fields(v.Type()) {
		c.field(f, v.Field(f.index))
	}
	if isWrite && r.ContentDigest != "" && r.Content != was && r.ContentDigest == amber.ContentDigest(was) {
		r.ContentDigest = amber.ContentDigest(r.Content)
	}
}

func (c Change) field(f field, v reflect.Value) {
	switch f.how {
	case "id":
		if c.ID != nil {
			c.id(f.name, v)
		}
	case "raw":
		c.raw(v)
	case "text":
		c.text(v)
	default:
		c.value(v)
	}
}

func (c Change) id(name string, v reflect.Value) {
	if v.Kind() == reflect.String {
		c.ID(name, v.String())
		return
	}
	for i := range v.Len() {
		c.ID(name, v.Index(i).String())
	}
}

func (c Change) raw(v reflect.Value) {
	switch doc := v.Addr().Interface().(type) {
	case *map[string]json.RawMessage:
		if c.Documents != nil {
			*doc = c.Documents(*doc)
		}
	case *json.RawMessage:
		if c.Document != nil && len(*doc) > 0 {
			*doc = json.RawMessage(c.Document(string(*doc)))
		}
	case *string:
		if c.Document != nil {
			*doc = c.Document(*doc)
		}
	}
}

func (c Change) text(v reflect.Value) {
	switch text := v.Addr().Interface().(type) {
	case *map[string]string:
		c.pairs(text)
		return
	case **map[string]string:
		if *text != nil {
			*text = new(**text)
			c.pairs(*text)
		}
		return
	}
	if c.Text != nil {
		c.strings(v)
	}
}

func (c Change) pairs(m *map[string]string) {
	if c.Pairs != nil {
		*m = c.Pairs(*m)
	}
}

// strings changes a text, a list of texts, or what a pointer to either leads to.
func (c Change) strings(v reflect.Value) {
	switch text := v.Addr().Interface().(type) {
	case *[]string:
		*text = c.List(*text)
	case **string:
		if *text != nil {
			*text = new(c.Text(**text))
		}
	case **[]string:
		if *text != nil {
			*text = new(c.List(**text))
		}
	default: // of a type of its own, such as an id that is kept as a text
		v.SetString(c.Text(v.String()))
	}
}

// List returns a list with its texts changed; nil stays nil.
func (c Change) List(list []string) []string {
	if list == nil {
		return nil
	}
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = c.Text(s)
	}
	return out
}
