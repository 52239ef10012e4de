package drain

import (
	"strings"
	"unicode"

	"github.com/amber-memory/amber"
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
		s = clip(s, amber.MaxContentBytes-len(note)) + note
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

// clip cuts s to at most n bytes of whole characters.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "")
}

// oneLine makes one line of s, without characters that do not print.
func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, "\uFFFD"), func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsPrint(r)
	}), " ")
}

// name returns what an activity is called: the first line of s, or instead
// where there is none.
func name(s, instead string) string {
	for line := range strings.Lines(s) {
		if line = oneLine(line); line != "" {
			return clip(line, amber.MaxActivityNameBytes)
		}
	}
	return instead
}
