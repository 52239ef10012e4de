package httpapi

import (
	"cmp"
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/events"
	"github.com/amber-memory/amber/op"
	"github.com/amber-memory/amber/wire"
	"github.com/amber-memory/amber/wire/sign"
)

// schemas makes JSON schemas of Go types. Every struct and every list of words is
// described once, under a name, and referred to.
type schemas struct {
	known object
	words words
	// asked says that they are of what is asked: nothing unknown may be in it,
	// and the table says what may be left out.
	asked bool
}

// ofRequest returns what describes requests.
func (s *schemas) ofRequest() *schemas { return &schemas{known: s.known, words: s.words, asked: true} }

func ref(name string) object { return object{"$ref": "#/components/schemas/" + name} }

// enum is a type that is one of a few words, and its name in the document.
type enum struct {
	name   string
	values []string
}

// enums are the types that are one of a few words.
var enums = map[reflect.Type]enum{
	reflect.TypeFor[amber.MemoryKind]():     {"MemoryKind", texts(amber.MemoryKinds())},
	reflect.TypeFor[amber.Scope]():          {"Scope", texts(amber.Scopes())},
	reflect.TypeFor[amber.Kind]():           {"ErrorKind", texts(amber.Kinds())},
	reflect.TypeFor[amber.TaskState]():      {"TaskState", texts(amber.TaskStates())},
	reflect.TypeFor[wire.TokenScope]():      {"TokenScope", texts(wire.TokenScopes())},
	reflect.TypeFor[amber.Role]():           {"Role", texts([]amber.Role{amber.RoleUser, amber.RoleAssistant, amber.RoleSystem, amber.RoleTool})},
	reflect.TypeFor[amber.Trust]():          {"Trust", texts(amber.Trusts())},
	reflect.TypeFor[amber.ApprovalStatus](): {"ApprovalStatus", texts([]amber.ApprovalStatus{amber.ApprovalPending, amber.ApprovalApproved, amber.ApprovalRejected, amber.ApprovalCancelled})},
}

func texts[T ~string](list []T) (out []string) {
	for _, v := range list {
		out = append(out, string(v))
	}
	return out
}

// local are the structs of this package that travel, by the name they have in the document.
var local = map[reflect.Type]string{reflect.TypeFor[serverStatus](): "ServerStatus"}

// of returns the schema of a type; a struct without a name of its own is called by
// the given one.
func (s *schemas) of(t reflect.Type, name string) object {
	if e, ok := enums[t]; ok {
		return s.enum(e)
	}
	switch t {
	case reflect.TypeFor[amber.Time]():
		return object{"type": []string{"string", "null"}, "format": "date-time"}
	case reflect.TypeFor[amber.Stamp]():
		return object{"type": "string"}
	case reflect.TypeFor[json.RawMessage]():
		return object{} // any JSON
	}
	switch t.Kind() {
	case reflect.Pointer:
		return s.of(t.Elem(), name)
	case reflect.String:
		return object{"type": "string"}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Int, reflect.Int64, reflect.Uint64:
		return object{"type": "integer", "format": "int64"}
	case reflect.Int32, reflect.Uint32:
		return object{"type": "integer", "format": "int32"}
	case reflect.Float64, reflect.Float32:
		return object{"type": "number", "format": "double"}
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return object{"type": "string", "contentEncoding": "base64"}
		}
		return object{"type": "array", "items": s.of(t.Elem(), name)}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": s.of(t.Elem(), name)}
	case reflect.Interface:
		return object{}
	case reflect.Struct:
		return s.structure(t, name)
	}
	panic("httpapi: no schema for " + t.String())
}

// enum describes a list of words, with what each of them means.
func (s *schemas) enum(e enum) object {
	if _, ok := s.known[e.name]; ok {
		return ref(e.name)
	}
	about := []string{s.words(e.name), ""}
	var each []string
	for _, v := range e.values {
		text := s.words(e.name + "=" + v)
		each = append(each, text)
		about = append(about, "- `"+v+"`: "+text)
	}
	s.known[e.name] = object{"type": "string", "enum": e.values, "description": strings.Join(about, "\n"), "x-enum-descriptions": each}
	return ref(e.name)
}

// structure describes a struct, by reference.
func (s *schemas) structure(t reflect.Type, name string) object {
	if item, ok := pageOf(t); ok {
		return s.page(item, name)
	}
	name = cmp.Or(schemaName(t), name)
	shown := name
	if s.asked {
		shown += askedSuffix
	}
	if _, ok := s.known[shown]; !ok {
		s.known[shown] = object{} // it may hold itself
		s.known[shown] = s.fields(t, name, shown)
	}
	return ref(shown)
}

// askedSuffix ends the names of schemas of what is asked: they are not those of what is
// answered, since less of them is required and nothing else may be in them.
const askedSuffix = "Asked"

// page describes a page of a listing.
func (s *schemas) page(item reflect.Type, name string) object {
	name = itemName(item, name) + "Page"
	if _, ok := s.known[name]; ok {
		return ref(name)
	}
	p := s.fields(reflect.TypeFor[amber.Page[string]](), "Page", name)
	p["properties"].(object)["items"].(object)["items"] = s.of(item, name+"Item")
	s.known[name] = p
	return ref(name)
}

// itemName is what a listing is called by.
func itemName(item reflect.Type, name string) string {
	if item.Kind() == reflect.String {
		return "String"
	}
	return cmp.Or(schemaName(item), name)
}

// pageOf returns the type of the items of a page.
func pageOf(t reflect.Type) (reflect.Type, bool) {
	if t.Kind() == reflect.Struct && strings.HasPrefix(t.Name(), "Page[") && t.PkgPath() == reflect.TypeFor[amber.Memory]().PkgPath() {
		return t.Field(0).Type.Elem(), true
	}
	return nil, false
}

// fields describes the fields of a struct. Name is what the table of words calls it, shown the
// name in the document.
func (s *schemas) fields(t reflect.Type, name, shown string) object {
	properties, required := object{}, []string{}
	s.collect(t, []string{shown, name}, properties, &required)
	out := object{"type": "object", "properties": properties}
	if text := s.words(shown, name); text != "" {
		out["description"] = text
	}
	if s.asked {
		out["additionalProperties"] = false
		required = slices.Clone(needed[shown])
	}
	if len(required) > 0 {
		out["required"] = required
	}
	return out
}

// collect adds the fields of a struct as encoding/json names them. Names are those that the table
// of words may know the struct by, those of embedded ones last.
func (s *schemas) collect(t reflect.Type, names []string, properties object, required *[]string) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, rest, _ := strings.Cut(f.Tag.Get("json"), ",")
		left := strings.Contains(rest, "omit")
		switch {
		case name == "-" || !f.IsExported() && !f.Anonymous:
		case f.Anonymous && name == "":
			s.collect(f.Type, append(slices.Clone(names), f.Type.Name()), properties, required)
		default:
			name = cmp.Or(name, f.Name)
			properties[name] = s.property(f, name, names, left)
			if !left {
				*required = append(*required, name)
			}
		}
	}
}

// property describes one field.
func (s *schemas) property(f reflect.StructField, name string, names []string, left bool) object {
	p := s.of(f.Type, strings.TrimSuffix(names[0], askedSuffix)+camel(name))
	switch {
	case s.asked: // null in a request means that the field is left out
	case f.Type == reflect.TypeFor[amber.Time]() && (left || slices.ContainsFunc(names, func(n string) bool { return dated[n+"."+name] })):
		p["type"] = "string"
	case f.Type.Kind() == reflect.Pointer && !left:
		p = nullable(p)
	case blank[names[0]+"."+name]:
		p = object{"anyOf": []object{p, {"type": "string", "maxLength": 0}}}
	}
	var keys []string
	for _, n := range names {
		keys = append(keys, n+"."+name)
	}
	text := s.words(append(keys, "*."+name)...)
	if f.Type == reflect.TypeFor[time.Duration]() {
		text = strings.TrimSpace(text + " In nanoseconds.")
	}
	if text != "" {
		p["description"] = text
	}
	return p
}

// nullable is the schema of what may be null.
func nullable(p object) object {
	if t, ok := p["type"].(string); ok {
		p["type"] = []string{t, "null"}
		return p
	}
	return object{"anyOf": []object{p, {"type": "null"}}}
}

var notName = regexp.MustCompile(`[^A-Za-z0-9]+`)

// named are the packages whose structs have a name in the document: the nouns and
// what travels. No two of them have a struct of the same name.
var named = map[string]bool{
	reflect.TypeFor[amber.Memory]().PkgPath():         true,
	reflect.TypeFor[events.Event]().PkgPath():         true,
	reflect.TypeFor[sign.SignatureReport]().PkgPath(): true,
	reflect.TypeFor[wire.ErrorBody]().PkgPath():       true,
	reflect.TypeFor[op.Task]().PkgPath():              true,
}

// schemaName is the name of a type without its package, "" where it has none that
// others know.
func schemaName(t reflect.Type) string {
	if name, ok := local[t]; ok {
		return name
	}
	if !named[t.PkgPath()] {
		return ""
	}
	return t.Name()
}

// camel makes the name of a schema of words: memory.write_batch is MemoryWriteBatch.
func camel(s string) string {
	var b strings.Builder
	for word := range strings.SplitSeq(notName.ReplaceAllString(s, " "), " ") {
		if word != "" {
			b.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
	}
	return b.String()
}
