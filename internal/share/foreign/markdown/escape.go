package markdown

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/amber-memory/amber/internal/base/pattern"
)

// relationsHeading begins the part of an exported memory that is not its text, and textHeading the text where that part
// stands before it.
const (
	relationsHeading = "## Relations"
	textHeading      = "## Text"
)

// escape returns the text of a memory such that no reader finds an observation or a link in it. A backslash goes before
// a "#" that begins a word and before a bracket that could be read as one of a category or a link; backslashes before
// either are doubled. Headings stay, but for the one that ends the text.
func escape(text string) string {
	var b strings.Builder
	links := mayLink(text)
	for len(text) > 0 {
		end := strings.IndexAny(text, "\r\n")
		if end < 0 {
			end = len(text) - 1
		}
		escapeLine(&b, text[:end+1], links)
		text = text[end+1:]
	}
	return b.String()
}

var elsewhere = pattern.Of(`\]\(https?://`)

// mayLink reports whether a text could hold a Markdown link to a file.
func mayLink(text string) bool {
	return strings.Contains(text, "][") || strings.Contains(text, "]:") ||
		strings.Count(text, "](") != len(elsewhere().FindAllString(text, -1))
}

// markers are what may stand before the text of a paragraph: of quotes, items and emphasis.
const markers = ">-+*0123456789.)\\"

func escapeLine(b *strings.Builder, line string, links bool) {
	done := 0
	if indent, rest := indentOf(line); isHeading(indent, rest) && strings.TrimSpace(line) != relationsHeading && strings.Trim(rest, "# \t\r\n") != "" {
		done = len(line) - len(strings.TrimLeft(rest, "#"))
		b.WriteString(line[:done])
	}
	slashes := 0
	for i := done; i < len(line); i++ {
		c := line[i]
		if c == '[' && (links || isBracket(line, i)) || c == '#' && beginsWord(line, i) || (c == '[' || c == '#') && slashes > 0 {
			b.WriteString(strings.Repeat("\\", slashes+1))
		}
		if b.WriteByte(c); c == '\\' {
			slashes++
		} else {
			slashes = 0
		}
	}
}

// isBracket reports whether a bracket is one of two, or could begin a paragraph.
func isBracket(line string, i int) bool {
	double := i+1 < len(line) && line[i+1] == '[' || i > 0 && line[i-1] == '['
	return double || strings.TrimLeftFunc(line[:i], func(r rune) bool { return isSpace(r) || strings.ContainsRune(markers, r) }) == ""
}

// beginsWord reports whether what is at i is not within a word.
func beginsWord(line string, i int) bool {
	r, size := utf8.DecodeLastRuneInString(line[:i])
	return size == 0 || r != '#' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
}

// unescape is the inverse of escape. Other backslashes stay.
func unescape(text string) string {
	var b strings.Builder
	slashes := 0
	for i := range len(text) {
		c := text[i]
		if c == '\\' {
			slashes++
			continue
		}
		if (c == '[' || c == '#') && slashes%2 == 1 {
			slashes /= 2
		}
		for ; slashes > 0; slashes-- {
			b.WriteByte('\\')
		}
		b.WriteByte(c)
	}
	b.WriteString(strings.Repeat("\\", slashes))
	return b.String()
}
