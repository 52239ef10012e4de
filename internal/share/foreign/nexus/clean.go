package nexus

import (
	"encoding/json"

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

// json returns a JSON value without secrets, the same bytes where there are none.
func (c *cleaner) json(raw json.RawMessage) json.RawMessage {
	clean, found := c.redactor.JSON(string(raw), nil)
	c.report.Add(found)
	if json.Valid([]byte(clean)) {
		return json.RawMessage(clean)
	}
	quoted, _ := json.Marshal(clean) // a string always marshals
	return quoted
}
