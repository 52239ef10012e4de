package nexus

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/amber-memory/amber/internal/guard/redact"
)

// cleaner removes secrets, and counts them.
type cleaner struct {
	redactor *redact.Redactor
	report   redact.Report
}

func (c *cleaner) text(s string) string {
	s, found := c.redactor.String(s)
	c.report.Add(found)
	return s
}

// json returns a JSON value without secrets, the same bytes where there are
// none. It looks at strings without their escapes: "\nghp_" is no word.
func (c *cleaner) json(raw json.RawMessage) json.RawMessage {
	if v, changed := c.decoded(raw); changed {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if enc.Encode(v) == nil {
			raw = bytes.TrimSpace(b.Bytes())
		}
	}
	raw, found := c.redactor.Bytes(raw) // what only shows in its surroundings
	c.report.Add(found)
	if json.Valid(raw) {
		return raw
	}
	quoted, _ := json.Marshal(string(raw)) // a string always marshals
	return quoted
}

// decoded returns the value without secrets and whether it had any.
func (c *cleaner) decoded(raw json.RawMessage) (v any, changed bool) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if dec.Decode(&v) != nil {
		return nil, false
	}
	return c.member("", v)
}

// member cleans a value that key names.
func (c *cleaner) member(key string, v any) (any, bool) {
	changed := false
	clean := func(key string, v any) any {
		v, touched := c.member(key, v)
		changed = changed || touched
		return v
	}
	switch v := v.(type) {
	case string:
		s := c.named(key, v)
		return s, s != v
	case []any:
		for i := range v {
			v[i] = clean(key, v[i])
		}
		return v, changed
	case map[string]any:
		out := make(map[string]any, len(v))
		for _, k := range slices.Sorted(maps.Keys(v)) {
			name := c.text(k)
			changed = changed || name != k
			for _, taken := out[name]; taken; _, taken = out[name] {
				name += "'" // without their secrets two may be the same
			}
			out[name] = clean(k, v[k])
		}
		return out, changed
	}
	return v, false
}

// named cleans a text that key names.
func (c *cleaner) named(key, s string) string {
	if key == "" {
		return c.text(s)
	}
	before := `"` + key + `": "`
	out, found := c.redactor.String(before + s)
	rest, ok := strings.CutPrefix(out, before)
	if !ok { // the name is a secret, and says nothing about the value
		return c.text(s)
	}
	c.report.Add(found)
	return rest
}
