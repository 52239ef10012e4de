package drain

import (
	"strings"
	"unicode"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
)

// text makes what a host said fit to be stored: valid UTF-8, no NUL, bounded.
// A text that was cut ends with a note of that.
func text(s string) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "")
	if strings.TrimSpace(s) == "" {
		return ""
	}
	const note = "\n[cut]"
	if len(s) > amber.MaxContentBytes {
		s = clip.Bytes(s, amber.MaxContentBytes-len(note)) + note
	}
	return s
}

// plain is text for a memory: control characters that a memory may not hold
// are dropped.
func plain(s string) string {
	return text(strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return r
		}
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, s))
}

// name returns what an activity is called: the first line of s, or instead
// where there is none.
func name(s, instead string) string {
	for line := range strings.Lines(s) {
		if line = clip.Printed(line); line != "" {
			return clip.Bytes(line, amber.MaxActivityNameBytes)
		}
	}
	return instead
}
