package redact

import (
	"encoding/json"
	"strings"
)

// document remembers where a text is JSON, so that asking for each of many
// places costs no more than asking once. The zero document knows nothing yet.
type document struct {
	asked      bool
	whole      bool // the text is JSON
	start, end int  // the line last looked at
	line       bool // it is JSON
}

// isJSON reports whether the text, or else the line at at, is a JSON document.
func (d *document) isJSON(text string, at int) bool {
	if !d.asked {
		d.asked = true
		d.whole = json.Valid([]byte(text))
	}
	if d.whole {
		return true
	}
	if at < d.start || at >= d.end {
		d.start = strings.LastIndexByte(text[:at], '\n') + 1
		d.end = len(text)
		if n := strings.IndexByte(text[at:], '\n'); n >= 0 {
			d.end = at + n
		}
		d.line = isContainer(text[d.start:d.end])
	}
	return d.line
}

// isContainer reports whether s is a JSON object or array.
func isContainer(s string) bool {
	s = strings.TrimSpace(s)
	if s == "" || s[0] != '{' && s[0] != '[' {
		return false
	}
	return json.Valid([]byte(s))
}
