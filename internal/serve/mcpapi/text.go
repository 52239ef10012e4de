package mcpapi

import (
	"strings"
	"unicode/utf8"

	"github.com/amber-memory/amber/internal/guard/shown"
)

// clip shortens s to n bytes of whole characters.
func clip(s string, n int) string {
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

// oneLine returns the beginning of s on one line, without characters that hide
// text or change its direction.
func oneLine(s string, n int) string {
	s = shown.ForAgent(clip(s, 4*n)) // whatever the fields are, the rest is not looked at
	return clip(strings.Join(strings.Fields(s), " "), n)
}

// page is a part of a long text.
type page struct {
	Content   string `json:"content"`
	Truncated bool   `json:"truncated,omitempty"`
	Next      int    `json:"next_offset,omitempty"` // where the rest begins
}

// pageBytes is how much of a text one answer holds.
const pageBytes = 8 << 10

// pageAt returns the part of s that begins at an offset, at most n bytes of
// whole characters. An offset inside a character begins at the one before.
func pageAt(s string, offset, n int) page {
	start := cutAt(s, min(max(offset, 0), len(s)))
	end := cutAt(s, min(start+n, len(s)))
	p := page{Content: s[start:end]}
	if end < len(s) {
		p.Truncated, p.Next = true, end
	}
	return p
}

// marked is the content of a page with a mark where something is missing.
func (p page) marked(how string) string {
	if !p.Truncated {
		return p.Content
	}
	return p.Content + "\n[cut: " + how + "]"
}
