package foreign

import (
	"bytes"
	"encoding/json"
	"maps"
	"strconv"
	"strings"
)

// Fields are the members of a JSON object as they are spelled, for rows whose rest is kept byte for byte. Each may be of any
// type: one that is not as expected costs itself and not the others. Programs that write such rows also put numbers and
// objects in quotes, which [Object] does not look into.
type Fields map[string]json.RawMessage

// ParseFields reads an object; ok is false for anything else.
func ParseFields(raw []byte) (m Fields, ok bool) {
	if json.Unmarshal(raw, &m) != nil || m == nil {
		return nil, false
	}
	return m, true
}

// Null reports whether a member is absent or null.
func (m Fields) Null(name string) bool { return len(m[name]) == 0 || string(m[name]) == "null" }

// Text returns the first of these members that has a text: a string, or a number or truth value as it is written.
func (m Fields) Text(names ...string) string {
	for _, name := range names {
		if s := fieldText(m[name]); s != "" {
			return s
		}
	}
	return ""
}

func fieldText(raw json.RawMessage) string {
	if len(raw) == 0 || raw[0] == '{' || raw[0] == '[' || string(raw) == "null" {
		return ""
	}
	if raw[0] != '"' {
		return string(raw)
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// Number returns a number, also one in quotes; ok is false where there is none.
func (m Fields) Number(name string) (n float64, ok bool) {
	n, err := strconv.ParseFloat(strings.TrimSpace(m.Text(name)), 64)
	return n, err == nil
}

// Texts returns the texts of a list; one text is a list of one.
func (m Fields) Texts(name string) []string {
	var list []json.RawMessage
	if json.Unmarshal(m[name], &list) != nil {
		list = []json.RawMessage{m[name]}
	}
	var out []string
	for _, raw := range list {
		if s := strings.TrimSpace(fieldText(raw)); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// Sub returns an object, also one in quotes; nil where there is none.
func (m Fields) Sub(name string) Fields {
	if sub, ok := ParseFields(m[name]); ok {
		return sub
	}
	sub, _ := ParseFields([]byte(m.Text(name)))
	return sub
}

// Split parts the members that are texts, numbers or truth values, as texts, from those that are objects or lists.
// Members that are null or empty are in neither.
func (m Fields) Split() (texts map[string]string, rest Fields) {
	texts, rest = map[string]string{}, Fields{}
	for name, raw := range maps.All(m) {
		if s := fieldText(raw); s != "" {
			texts[name] = s
		} else if len(raw) > 2 && raw[0] != '"' && string(raw) != "null" {
			rest[name] = raw
		}
	}
	return texts, rest
}

// maxOutline bounds how deep an outline looks.
const maxOutline = 16

// Outline returns the outline of the head of a file.
func (f File) Outline() map[string]bool { return Outline(f.Head(headBytes)) }

// Outline returns the names in the first bytes of a JSON text, as far as they reach: "results", "results[].id" for a
// member of an element of a list, "[].id" where the text itself is a list.
func Outline(head []byte) map[string]bool {
	d := json.NewDecoder(bytes.NewReader(TrimMark(head)))
	d.UseNumber()
	names := map[string]bool{}
	outlineInto(d, "", names, 0)
	return names
}

// outlineInto reads one value and reports whether there may be more.
func outlineInto(d *json.Decoder, at string, names map[string]bool, depth int) bool {
	token, err := d.Token()
	if err != nil || depth > maxOutline {
		return false
	}
	switch token {
	case json.Delim('['):
		for at += "[]"; d.More(); {
			if !outlineInto(d, at, names, depth+1) {
				return false
			}
		}
	case json.Delim('{'):
		if at != "" {
			at += "."
		}
		for d.More() {
			name, err := d.Token()
			s, ok := name.(string)
			if err != nil || !ok {
				return false
			}
			names[at+s] = true
			if !outlineInto(d, at+s, names, depth+1) {
				return false
			}
		}
	default:
		return true
	}
	_, err = d.Token()
	return err == nil
}
