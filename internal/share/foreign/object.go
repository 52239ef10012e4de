package foreign

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"github.com/amber-memory/amber"
)

// Object is a JSON object whose members may have any type: one that is not as expected costs that member alone. [Fields]
// is for objects whose members are kept as they are spelled.
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
	v, d, err := firstValue(raw)
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("is not valid JSON: more follows the first value")
	}
	return v, nil
}

// ParseRecord reads an object that is held with others. The number of its values is bounded, and errors name the record.
func ParseRecord(raw []byte) (Object, error) {
	v, d, err := firstValue(raw)
	if err != nil {
		return nil, fmt.Errorf("record %w", err)
	}
	o, ok := v.(map[string]any)
	switch {
	case !ok:
		return nil, fmt.Errorf("found %.20s, want an object", bytes.TrimSpace(raw))
	case d.More():
		return nil, fmt.Errorf("record is not valid JSON: more follows the object")
	}
	return o, nil
}

// firstValue reads the value that raw begins with, and returns what reads the rest.
func firstValue(raw []byte) (v any, rest *json.Decoder, err error) {
	if err := checkValues(raw); err != nil {
		return nil, nil, err
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil, nil, fmt.Errorf("is not valid JSON: %.100s", err.Error())
	}
	return v, d, nil
}

// Has reports whether an object has all of these members.
func (o Object) Has(names ...string) bool {
	for _, name := range names {
		if _, ok := o[name]; !ok {
			return false
		}
	}
	return true
}

// Text returns the first of these members that has a text: a string, or a number or truth value as it is written.
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

// Sub returns a member that is an object; nil where it is none.
func (o Object) Sub(name string) Object {
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

// Time reads a member that is a time in text; zero where there is none.
func (o Object) Time(name string) (amber.Time, error) {
	if s := o.Text(name); s != "" {
		return Text(s)
	}
	return amber.Time{}, nil
}

// Without returns the members that are neither named nor null; nil where there are none.
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

// With adds a member that is an object, and returns o, or a new object where o is nil. No object adds nothing.
func (o Object) With(name string, sub Object) Object {
	if sub == nil {
		return o
	}
	if o == nil {
		o = Object{}
	}
	o[name] = sub
	return o
}

// Keep keeps what else a row says, unless that is nothing.
func (m *Memory) Keep(rest Object) {
	if len(rest) > 0 {
		m.Foreign = rest
	}
}
