package foreign

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
)

// Object is a JSON object whose members may have any type: one that is not as expected costs that member alone.
type Object map[string]any

// ParseObject reads a JSON object. Numbers keep their spelling.
func ParseObject(raw []byte) (Object, error) {
	v, err := ParseValue(raw)
	if err != nil {
		return nil, err
	}
	o, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("found JSON that is no object")
	}
	return o, nil
}

// ParseValue reads one JSON value. Numbers keep their spelling.
func ParseValue(raw []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, fmt.Errorf("is not valid JSON: %.100s", err.Error())
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("is not valid JSON: more follows the first value")
	}
	return v, nil
}

// Text returns a member as text; "" where it is absent, a list or an object.
func (o Object) Text(names ...string) string {
	for _, name := range names {
		if s := scalarText(o[name]); s != "" {
			return s
		}
	}
	return ""
}

func scalarText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	case bool:
		return strconv.FormatBool(v)
	}
	return ""
}

// Object returns a member that is an object; nil where it is none.
func (o Object) Object(name string) Object {
	sub, _ := o[name].(map[string]any)
	return sub
}

// List returns a member that is a list; nil where it is none.
func (o Object) List(name string) []any {
	list, _ := o[name].([]any)
	return list
}

// Texts returns the texts of a member that is a list; a text alone is a list of one.
func (o Object) Texts(name string) []string {
	if s, ok := o[name].(string); ok && s != "" {
		return []string{s}
	}
	var out []string
	for _, v := range o.List(name) {
		if s := scalarText(v); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// Number returns a member that is a number; ok is false where it is none.
func (o Object) Number(name string) (n float64, ok bool) {
	v, isNumber := o[name].(json.Number)
	if !isNumber {
		return 0, false
	}
	n, err := v.Float64()
	return n, err == nil
}

// Without returns the members that are not named and not null; nil where there are none.
func (o Object) Without(names ...string) Object {
	rest := Object{}
	for name, v := range o {
		if v != nil {
			rest[name] = v
		}
	}
	for _, name := range names {
		delete(rest, name)
	}
	if len(rest) == 0 {
		return nil
	}
	return rest
}
