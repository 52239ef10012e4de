package transfer

import (
	"encoding/json"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
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
	m.Title, m.Content, m.Summary = clip.Line(c.text(m.Title)), c.text(m.Content), c.text(m.Summary)
	for i, tag := range m.Tags {
		m.Tags[i] = c.text(tag)
	}
	for name, value := range m.Metadata {
		clean := c.text(name)
		if clean != name {
			delete(m.Metadata, name)
		}
		m.Metadata[clean] = c.named(name, value)
	}
	for i, ref := range m.SourceRefs {
		m.SourceRefs[i].Value = c.text(ref.Value)
	}
	for name, raw := range m.Foreign {
		if c.o.Redact != nil {
			clean, found := c.o.Redact.JSON(string(raw), nil)
			c.count(found.Counts)
			m.Foreign[name] = json.RawMessage(clean)
		}
	}
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
