package redact

import (
	"encoding/json"
	"slices"
	"strings"
)

// document is what rules share about one text. It remembers where the text is
// JSON, so that asking for each of many places costs no more than asking once.
type document struct {
	exprs *exprs

	asked      bool
	whole      bool // the text is JSON
	start, end int  // the line last looked at
	line       bool // it is JSON

	strings   []int  // starts and ends of the strings of a document
	stringsOf [2]int // where that begins and ends

	hidden bool  // a reading of the text held a secret
	edges  []int // where the text was broken, in order: a key may begin there

	closing      int // where the last closing tag of a private block is, -1 without one
	closingKnown bool
}

// isEdge reports whether the text was broken at at.
func (d *document) isEdge(at int) bool {
	_, found := slices.BinarySearch(d.edges, at)
	return found
}

// lastClosing returns where the last closing tag of a private block is, -1
// when there is none.
func (d *document) lastClosing(text string) int {
	const name = "/private"
	if d.closingKnown {
		return d.closing
	}
	d.closingKnown = true
	for d.closing = len(text) - len(name); d.closing >= 0; d.closing-- {
		if text[d.closing] == '/' && strings.EqualFold(text[d.closing:d.closing+len(name)], name) {
			break
		}
	}
	d.closing = max(d.closing, -1)
	return d.closing
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
