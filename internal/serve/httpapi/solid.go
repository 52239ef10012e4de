package httpapi

import (
	"encoding/json"
	"reflect"
	"strings"
)

// solid returns v with an empty list or object in the place of every one that is nil, however deep: in JSON a list
// is never null. It does not change values that v shares with others.
func solid(v any) any {
	if v == nil {
		return nil
	}
	return solidValue(reflect.ValueOf(v)).Interface()
}

// speaks is implemented by types that write their own JSON; those know.
var speaks = reflect.TypeFor[json.Marshaler]()

func solidValue(v reflect.Value) reflect.Value {
	t := v.Type()
	if t.Implements(speaks) {
		return v
	}
	switch t.Kind() {
	case reflect.Slice:
		return solidList(v)
	case reflect.Map:
		return solidMap(v)
	case reflect.Struct:
		return solidStruct(v)
	case reflect.Pointer:
		if v.IsNil() {
			return v
		}
		out := reflect.New(t.Elem())
		out.Elem().Set(solidValue(v.Elem()))
		return out
	case reflect.Interface:
		if v.IsNil() {
			return v
		}
		return solidValue(v.Elem())
	}
	return v
}

func solidList(v reflect.Value) reflect.Value {
	if v.IsNil() {
		return reflect.MakeSlice(v.Type(), 0, 0)
	}
	if plain(v.Type().Elem()) {
		return v
	}
	out := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
	for i := range v.Len() {
		out.Index(i).Set(solidValue(v.Index(i)))
	}
	return out
}

func solidMap(v reflect.Value) reflect.Value {
	if !v.IsNil() && plain(v.Type().Elem()) {
		return v
	}
	out := reflect.MakeMapWithSize(v.Type(), v.Len())
	for name, value := range v.Seq2() {
		out.SetMapIndex(name, solidValue(value))
	}
	return out
}

func solidStruct(v reflect.Value) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	for i := range out.NumField() {
		f := out.Field(i)
		if !f.CanSet() || plain(f.Type()) || f.IsZero() && strings.Contains(v.Type().Field(i).Tag.Get("json"), "omitzero") {
			continue
		}
		f.Set(solidValue(f))
	}
	return out
}

// plain reports whether a type holds no lists.
func plain(t reflect.Type) bool {
	k := t.Kind()
	return k <= reflect.Complex128 || k == reflect.String
}
