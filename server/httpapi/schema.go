package httpapi

import (
	"cmp"
	"encoding/json"
	"reflect"
	"regexp"
	"strings"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/events"
	"github.com/amber-memory/amber/sign"
	"github.com/amber-memory/amber/wire"
)

// schemas makes JSON schemas of Go types. Structs with a name are described
// once and referred to.
type schemas struct {
	known object
	// asked says that they are of what is asked: nothing unknown may be in it,
	// and what may be left out is left to the operation.
	asked bool
}

func ref(name string) object { return object{"$ref": "#/components/schemas/" + name} }

// words are the types that are one of a few words.
var words = map[reflect.Type]any{
	reflect.TypeFor[amber.MemoryKind]():     amber.MemoryKinds(),
	reflect.TypeFor[amber.Scope]():          amber.Scopes(),
	reflect.TypeFor[amber.Kind]():           amber.Kinds(),
	reflect.TypeFor[amber.TaskState]():      amber.TaskStates(),
	reflect.TypeFor[wire.TokenScope]():      wire.TokenScopes(),
	reflect.TypeFor[amber.Role]():           []amber.Role{amber.RoleUser, amber.RoleAssistant, amber.RoleSystem, amber.RoleTool},
	reflect.TypeFor[amber.Trust]():          []amber.Trust{amber.TrustOwn, amber.TrustSigned, amber.TrustImported, amber.TrustDerived},
	reflect.TypeFor[amber.ApprovalStatus](): []amber.ApprovalStatus{amber.ApprovalPending, amber.ApprovalApproved, amber.ApprovalRejected, amber.ApprovalCancelled},
}

// of returns the schema of a type.
func (s *schemas) of(t reflect.Type) any {
	if list, ok := words[t]; ok {
		return object{"type": "string", "enum": list}
	}
	switch t {
	case reflect.TypeFor[amber.Time]():
		return object{"type": []string{"string", "null"}, "format": "date-time"}
	case reflect.TypeFor[amber.Stamp]():
		return object{"type": "string"}
	case reflect.TypeFor[json.RawMessage]():
		return object{} // any JSON
	case reflect.TypeFor[time.Duration]():
		return object{"type": "integer", "description": "nanoseconds"}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return s.of(t.Elem())
	case reflect.String:
		return object{"type": "string"}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Int, reflect.Int64, reflect.Int32, reflect.Uint64, reflect.Uint32:
		return object{"type": "integer"}
	case reflect.Float64, reflect.Float32:
		return object{"type": "number"}
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return object{"type": "string", "contentEncoding": "base64"}
		}
		return object{"type": "array", "items": s.of(t.Elem())}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": s.of(t.Elem())}
	case reflect.Interface:
		return object{}
	case reflect.Struct:
		return s.structure(t)
	}
	panic("httpapi: no schema for " + t.String())
}

// structure describes a struct, by reference where it has a name.
func (s *schemas) structure(t reflect.Type) any {
	name := schemaName(t)
	if name == "" {
		return s.fields(t)
	}
	if s.asked {
		name += "Asked"
	}
	if _, ok := s.known[name]; !ok {
		s.known[name] = object{} // it may hold itself
		s.known[name] = s.fields(t)
	}
	return ref(name)
}

func (s *schemas) fields(t reflect.Type) object {
	properties, required := object{}, []string{}
	s.collect(t, properties, &required)
	out := object{"type": "object", "properties": properties}
	switch {
	case s.asked:
		out["additionalProperties"] = false
	case len(required) > 0:
		out["required"] = required
	}
	return out
}

// collect adds the fields of a struct as encoding/json names them.
func (s *schemas) collect(t reflect.Type, properties object, required *[]string) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, rest, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-" || !f.IsExported() && !f.Anonymous:
		case f.Anonymous && name == "":
			s.collect(f.Type, properties, required)
		default:
			name = cmp.Or(name, f.Name)
			properties[name] = s.of(f.Type)
			if !strings.Contains(rest, "omit") {
				*required = append(*required, name)
			}
		}
	}
}

var notName = regexp.MustCompile(`[^A-Za-z0-9]+`)

// named are the packages whose structs have a name in the document: the nouns and
// what travels. No two of them have a struct of the same name.
var named = map[string]bool{
	reflect.TypeFor[amber.Memory]().PkgPath():         true,
	reflect.TypeFor[events.Event]().PkgPath():         true,
	reflect.TypeFor[sign.SignatureReport]().PkgPath(): true,
	reflect.TypeFor[wire.ErrorBody]().PkgPath():       true,
}

// schemaName is the name of a type without its package; of a generic one with
// the names of what it is made of.
func schemaName(t reflect.Type) string {
	name := t.Name()
	if head, args, ok := strings.Cut(name, "["); ok {
		args = strings.TrimSuffix(args, "]")
		if i := strings.LastIndexAny(args, "./"); i >= 0 {
			args = args[i+1:]
		}
		name = head + args
	}
	if !named[t.PkgPath()] {
		return ""
	}
	return notName.ReplaceAllString(name, "")
}
