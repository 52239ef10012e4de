package foreign

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/amber-memory/amber"
)

// Record is a JSON object whose members may have any type: one that is not as expected costs that member alone.
type Record map[string]any

// maxRecordValues bounds the values of one record: each takes more memory than the text of it.
const maxRecordValues = 2 << 20

// ParseRecord reads a JSON object. Numbers keep their spelling.
func ParseRecord(raw []byte) (Record, error) {
	if n := bytes.Count(raw, []byte{','}); n > maxRecordValues {
		return nil, fmt.Errorf("record has %d commas, the limit is %d", n, maxRecordValues)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, fmt.Errorf("record is not valid JSON: %.100s", err.Error())
	}
	r, ok := v.(map[string]any)
	switch {
	case !ok:
		return nil, fmt.Errorf("found %.20s, want an object", bytes.TrimSpace(raw))
	case d.More():
		return nil, fmt.Errorf("record is not valid JSON: more follows the object")
	}
	return r, nil
}

// Text returns a member as text; "" where it is absent, a list or an object.
func (r Record) Text(name string) string { return scalar(r[name]) }

func scalar(v any) string {
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
func (r Record) Sub(name string) Record {
	sub, _ := r[name].(map[string]any)
	return sub
}

// List returns a member that is a list; nil where it is none.
func (r Record) List(name string) []any {
	list, _ := r[name].([]any)
	return list
}

// Texts returns the texts of a member that is a list; a text alone is a list of one.
func (r Record) Texts(name string) (out []string) {
	if s, ok := r[name].(string); ok && s != "" {
		return []string{s}
	}
	for _, v := range r.List(name) {
		if s := scalar(v); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// Number returns a member that is a number; ok is false where it is none.
func (r Record) Number(name string) (n float64, ok bool) {
	v, isNumber := r[name].(json.Number)
	if !isNumber {
		return 0, false
	}
	n, err := v.Float64()
	return n, err == nil
}

// Time reads a member that is a time in text; zero where there is none.
func (r Record) Time(name string) (amber.Time, error) {
	if s := r.Text(name); s != "" {
		return Text(s)
	}
	return amber.Time{}, nil
}

// Without returns the members that are neither named nor null; nil where there are none.
func (r Record) Without(names ...string) Record {
	rest := Record{}
	for name, v := range r {
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
