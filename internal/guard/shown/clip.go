package shown

import (
	"strings"
	"unicode/utf8"
)

// Clip shortens s to n bytes of whole characters.
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:cutAt(s, n)] + "…"
}

// cutAt returns the last place at or before n where a character of s begins.
func cutAt(s string, n int) int {
	if n >= len(s) {
		return len(s)
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return n
}

// OneLine returns the beginning of s on one line, without characters that hide text or change its direction.
func OneLine(s string, n int) string {
	s = ForAgent(Clip(s, 4*n)) // whatever the fields are, the rest is not read
	return Clip(strings.Join(strings.Fields(s), " "), n)
}

// Page is a part of a long text.
type Page struct {
	Content   string `json:"content"`
	Truncated bool   `json:"truncated,omitempty"`
	Next      int    `json:"next_offset,omitempty"` // where the rest begins
}

// PageBytes is how much of a text one answer holds.
const PageBytes = 8 << 10

// PageAt returns the part of s that begins at an offset, at most n bytes of whole characters. An offset inside a character
// begins at the one before.
func PageAt(s string, offset, n int) Page {
	start := cutAt(s, min(max(offset, 0), len(s)))
	end := cutAt(s, min(start+n, len(s)))
	p := Page{Content: s[start:end]}
	if end < len(s) {
		p.Truncated, p.Next = true, end
	}
	return p
}

// Marked is the content of a page with a mark where something is missing.
func (p Page) Marked(how string) string {
	if !p.Truncated {
		return p.Content
	}
	return p.Content + "\n[cut: " + how + "]"
}
