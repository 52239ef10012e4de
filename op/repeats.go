package op

import (
	"reflect"
	"strings"
)

// repeat is a field of a body that repeats a variable of the path: repeats:"session_id=id" beside body:"json" says that session_id is the
// variable id, and repeats:"tenant agent" that both have the name of theirs.
type repeat struct {
	field, variable string
	noun            string // what the field names, for errors
}

// repeatsOf reads the tag of the body of an input.
func repeatsOf(in reflect.Type, id string) (list []repeat) {
	if in.Kind() != reflect.Struct {
		return nil
	}
	body, _ := in.FieldByName("Body")
	for word := range strings.FieldsSeq(body.Tag.Get("repeats")) {
		field, variable, ok := strings.Cut(word, "=")
		if !ok {
			variable = field
		}
		noun := strings.TrimSuffix(field, "_id")
		if noun == "id" {
			noun, _, _ = strings.Cut(id, ".")
		}
		list = append(list, repeat{field, variable, noun})
	}
	return list
}

// Agreed returns an input whose body repeats the variables of the path. Path has those that the input leaves out. The error is of kind
// invalid, when the body names others.
func (r *Row) Agreed(in any, path map[string]string) (any, error) {
	if len(r.repeats) == 0 {
		return in, nil
	}
	v := reflect.New(r.In).Elem()
	v.Set(reflect.ValueOf(in))
	variables := map[string]string{}
	_ = Fields(v, func(f Field, v reflect.Value) error { // which fails as its function does
		if f.In == "path" {
			variables[f.Name] = v.String()
		}
		return nil
	})
	body := named(v.FieldByName("Body"))
	for _, p := range r.repeats {
		value := variables[p.variable]
		if value == "" {
			value = path[p.variable]
		}
		f := body[p.field]
		if f.String() != "" && f.String() != value {
			return nil, Invalid("the body names another %s than the path", p.noun)
		}
		f.SetString(value)
	}
	return v.Interface(), nil
}

// named returns the fields of a struct by their names in JSON.
func named(v reflect.Value) map[string]reflect.Value {
	fields := map[string]reflect.Value{}
	for _, f := range reflect.VisibleFields(v.Type()) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && f.IsExported() {
			fields[name] = v.FieldByIndex(f.Index)
		}
	}
	return fields
}
