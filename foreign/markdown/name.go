package markdown

import (
	"path"
	"strings"
	"unicode"

	"github.com/amber-memory/amber/foreign"
)

// noteName returns the name of the note that a file becomes: characters that names of notes lack are "-".
func noteName(file string) string {
	for _, ext := range []string{".md", ".markdown"} {
		if strings.EqualFold(path.Ext(file), ext) {
			file = file[:len(file)-len(ext)]
		}
	}
	parts := strings.Split(file, "/")
	for i, part := range parts {
		parts[i] = noteElement(part)
	}
	return strings.Join(parts, "/")
}

func noteElement(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r) || strings.ContainsRune(" ._-@+,", r) {
			return r
		}
		return '-'
	}, strings.ToValidUTF8(s, "-"))
	s = strings.TrimRight(strings.TrimLeft(s, ". -"), ". ")
	if s == "" {
		return "note"
	}
	return s
}

// names gives out names of notes, each once.
type names map[string]string

// take tells the sink where two files would be one note.
func (n names) take(name string, at foreign.Place, to foreign.Sink) bool {
	folded := strings.ToLower(name)
	if before, taken := n[folded]; taken {
		to.Skip(at, "file would be the note %q, which is %s already", name, before)
		return false
	}
	n[folded] = at.File
	return true
}
