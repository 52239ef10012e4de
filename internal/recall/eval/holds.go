package eval

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Holds reports whether a text has a string as whole words, whatever the case, line
// breaks and the marks of Markdown for code and emphasis.
func Holds(text, must string) bool {
	text, must = plain(text), plain(must)
	if must == "" {
		return false
	}
	for from := 0; ; {
		i := strings.Index(text[from:], must)
		if i < 0 {
			return false
		}
		begin := from + i
		before, _ := utf8.DecodeLastRuneInString(text[:begin])
		after, _ := utf8.DecodeRuneInString(text[begin+len(must):])
		if !isWord(before) && !isWord(after) {
			return true
		}
		_, size := utf8.DecodeRuneInString(text[begin:])
		from = begin + size
	}
}

// holdsAny reports whether a text has one of several strings.
func holdsAny(text string, must []string) bool {
	for _, m := range must {
		if Holds(text, m) {
			return true
		}
	}
	return false
}

// plain is a text in lower case with single spaces and without marks.
func plain(text string) string {
	text = strings.ToLower(strings.NewReplacer("`", "", "*", "").Replace(text))
	return strings.Join(strings.FieldsFunc(text, isSpace), " ")
}

// isSpace is white space as Python has it: also the separators of ASCII.
func isSpace(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f }
