package shown

import "github.com/amber-memory/amber/internal/base/clip"

// OneLine returns the beginning of s on one line, without characters that hide text or change its direction.
func OneLine(s string, n int) string {
	s = ForAgent(clip.Marked(s, 4*n)) // whatever the fields are, the rest is not read
	return clip.Marked(clip.Line(s), n)
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
	start := len(clip.Bytes(s, offset))
	p := Page{Content: clip.Bytes(s[start:], n)}
	if end := start + len(p.Content); end < len(s) {
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
