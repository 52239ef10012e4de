package transfer

import (
	"encoding/json"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/internal/base/tagged"
)

// text returns s as it may be stored: without secrets, valid, without NUL.
func (c *carrier) text(s string) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "")
	if c.o.Redact == nil {
		return s
	}
	s, found := c.o.Redact.String(s)
	c.count(found.Counts)
	return s
}

func (c *carrier) count(counts map[string]int) {
	for rule, n := range counts {
		if c.report.Redacted == nil {
			c.report.Redacted = map[string]int{}
		}
		c.report.Redacted[rule] += n
	}
}

// clean takes the secrets out of every text of a memory.
func (c *carrier) clean(m *amber.Memory) {
	tagged.Change{Text: c.text, Pairs: c.pairs, Documents: c.documents}.Apply(m)
	m.Title = clip.Line(m.Title)
}

func (c *carrier) pairs(m map[string]string) map[string]string {
	if m == nil {
		return nil
	}
	out := make(map[string]string, len(m))
	for name, value := range m {
		out[c.text(name)] = c.named(name, value)
	}
	return out
}

func (c *carrier) documents(m map[string]json.RawMessage) map[string]json.RawMessage {
	if c.o.Redact == nil || m == nil {
		return m
	}
	out := make(map[string]json.RawMessage, len(m))
	for name, raw := range m {
		clean, found := c.o.Redact.JSON(string(raw), nil)
		c.count(found.Counts)
		out[name] = json.RawMessage(clean)
	}
	return out
}

// named cleans a value whose name may be that of a secret.
func (c *carrier) named(name, value string) string {
	value = c.text(value)
	if c.o.Redact == nil {
		return value
	}
	before := `"` + name + `": "`
	clean, found := c.o.Redact.String(before + value)
	rest, ok := strings.CutPrefix(clean, before)
	if !ok {
		return value
	}
	c.count(found.Counts)
	return rest
}
