package intake

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/tagged"
	"github.com/amber-memory/amber/internal/guard/redact"
)

// cleaner cleans one request, counts what it took, and notes the first id that
// holds a secret.
type cleaner struct {
	rules  *redact.Redactor
	report redact.Report
	err    error
}

// text returns s without secrets.
func (c *cleaner) text(s string) string {
	s, found := c.rules.String(s)
	c.report.Add(found)
	return s
}

// request cleans what v points to by the tags of its fields.
func (c *cleaner) request(v any) {
	tagged.Change{
		Text: c.text, Pairs: c.pairs, Document: c.document, Documents: c.fields, ID: func(name, id string) { c.ids(name, id) },
	}.Apply(v)
}

// named returns s, which a name stands before, without secrets: the name may give
// one away.
func (c *cleaner) named(name, s string) string {
	before := `"` + name + `": "`
	out, found := c.rules.String(before + s)
	rest, ok := strings.CutPrefix(out, before)
	if !ok { // the name is a secret, and says nothing about the value
		return c.text(s)
	}
	c.report.Add(found)
	return rest
}

// pairs returns metadata without secrets; nil stays nil. Names that become the
// same are told apart.
func (c *cleaner) pairs(m map[string]string) map[string]string {
	if m == nil {
		return nil
	}
	out := make(map[string]string, len(m))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		name := c.text(k)
		for _, taken := out[name]; taken; _, taken = out[name] {
			name += "'"
		}
		out[name] = c.named(k, m[k])
	}
	return out
}

// document returns a JSON document, or a text that may be one, without secrets.
func (c *cleaner) document(doc string) string {
	doc, found := c.rules.JSON(doc, nil)
	c.report.Add(found)
	return doc
}

// fields returns the fields of another tool without secrets. They are read as one
// document: the name of a field may give its value away.
func (c *cleaner) fields(m map[string]json.RawMessage) map[string]json.RawMessage {
	if len(m) == 0 {
		return m
	}
	whole, err := json.Marshal(m)
	if err != nil {
		return m // no JSON, and no store takes it
	}
	clean := c.document(string(whole))
	if clean == string(whole) {
		return m
	}
	var out map[string]json.RawMessage
	if err := json.Unmarshal([]byte(clean), &out); err != nil && c.err == nil {
		c.err = amber.Errorf(amber.KindInvalid, "redact memory", "", "foreign fields cannot be redacted: %v", err)
	}
	return out
}

// ids refuses ids that hold a secret: a name and a value each.
func (c *cleaner) ids(pairs ...string) {
	if c.err == nil {
		c.err = checkNames(c.rules, pairs)
	}
}

// done counts what was taken for the caller and returns why the request is
// refused, if it is.
func (c *cleaner) done(ctx context.Context) error {
	if c.err != nil {
		return c.err
	}
	r, _ := ctx.Value(reportKey{}).(*Report)
	r.add(c.report)
	return nil
}
