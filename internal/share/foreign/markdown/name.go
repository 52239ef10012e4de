package markdown

import (
	"path"
	"strings"
	"unicode"

	"github.com/amber-memory/amber/internal/base/names"
	"github.com/amber-memory/amber/internal/share/foreign"
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

// notes gives out names of notes, each once.
type notes map[string]string

// take reports to the sink where two files would be one note.
func (n notes) take(name string, at foreign.Place, to foreign.Sink) bool {
	one := names.Canonical(name) // names of notes that differ in how letters are made up are one
	if before, taken := n[one]; taken {
		to.Skip(at, "file would be the note %q, which is %s already", name, before)
		return false
	}
	n[one] = at.File
	return true
}
