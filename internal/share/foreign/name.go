package foreign

import (
	"cmp"
	"strings"
	"unicode"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/names"
)

// NoteName makes the name of a note of that of a file: characters that names of notes lack are "-".
func NoteName(file string) string {
	parts := strings.Split(strings.TrimSuffix(strings.TrimSuffix(file, ".md"), ".markdown"), "/")
	for i, part := range parts {
		part = strings.Map(func(r rune) rune {
			if unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r) || strings.ContainsRune(" ._-@+,", r) {
				return r
			}
			return '-'
		}, strings.ToValidUTF8(part, "-"))
		parts[i] = cmp.Or(strings.TrimRight(strings.TrimLeft(part, ". -"), ". "), "unnamed")
	}
	return strings.Join(parts, "/")
}

// NoteKey is the same for names of notes that differ in case, or in how letters are made up.
func NoteKey(name string) string { return strings.ToLower(names.Canonical(name)) }

// TitleOf returns the title of a memory, else the first words of its text, else its id.
func TitleOf(m amber.Memory) string {
	if m.Title != "" {
		return m.Title
	}
	first, _, _ := strings.Cut(strings.TrimSpace(m.Content), "\n")
	words := strings.Fields(first)
	return cmp.Or(strings.Join(words[:min(len(words), 8)], " "), string(m.ID))
}

// ShortSlug is [Slug] of at most 60 bytes.
func ShortSlug(s string) string {
	slug := Slug(s)
	return strings.Trim(slug[:min(len(slug), 60)], "-")
}
