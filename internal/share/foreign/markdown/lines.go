package markdown

import (
	"strings"

	"github.com/amber-memory/amber/internal/base/pattern"
)

// indentOf returns how many columns a line is indented, and the rest of it.
func indentOf(s string) (columns int, rest string) {
	for i := range len(s) {
		switch s[i] {
		case ' ':
			columns++
		case '\t':
			columns += 4 - columns%4
		default:
			return columns, s[i:]
		}
	}
	return columns, ""
}

// dropIndent takes up to so many columns of space off a line.
func dropIndent(s string, columns int) string {
	at := 0
	for i := range len(s) {
		width := 1
		if s[i] == '\t' {
			width = 4 - at%4
		} else if s[i] != ' ' {
			return s[i:]
		}
		if at+width > columns {
			return strings.Repeat(" ", at+width-columns) + s[i+1:]
		}
		if at += width; at == columns {
			return s[i+1:]
		}
	}
	return ""
}

func isHeading(indent int, rest string) bool {
	n := len(rest) - len(strings.TrimLeft(rest, "#"))
	return indent < 4 && n >= 1 && n <= 6 && (len(rest) == n || rest[n] == ' ' || rest[n] == '\t')
}

// underline reports whether a line makes the paragraph above it a heading.
func underline(indent int, rest string) bool {
	rest = strings.TrimRight(rest, " \t")
	return indent < 4 && rest != "" && (strings.Trim(rest, "=") == "" || strings.Trim(rest, "-") == "")
}

// isRule reports whether a line is a horizontal rule.
func isRule(indent int, rest string) bool {
	if indent >= 4 || rest == "" || !strings.ContainsRune("-*_", rune(rest[0])) {
		return false
	}
	marks := strings.NewReplacer(" ", "", "\t", "").Replace(rest)
	return len(marks) >= 3 && strings.Trim(marks, rest[:1]) == ""
}

// fence returns the mark that begins a piece of code; "" if none does.
func fence(rest string) string {
	for _, mark := range []string{"`", "~"} {
		n := len(rest) - len(strings.TrimLeft(rest, mark))
		if n >= 3 && (mark == "~" || !strings.Contains(rest[n:], mark)) {
			return rest[:n]
		}
	}
	return ""
}

// marker returns the length of the mark that begins an item; 0 if none does.
func marker(rest string) int {
	n := 0
	for n < len(rest) && n < 9 && rest[n] >= '0' && rest[n] <= '9' {
		n++
	}
	if n == len(rest) {
		return 0
	}
	if n > 0 && rest[n] != '.' && rest[n] != ')' || n == 0 && !strings.ContainsRune("-+*", rune(rest[0])) {
		return 0
	}
	if n++; n < len(rest) && rest[n] != ' ' && rest[n] != '\t' {
		return 0
	}
	return n
}

// interrupts reports whether an item may follow a paragraph without an empty line between.
func interrupts(rest string, width int) bool {
	number := rest[:width-1]
	return strings.TrimSpace(rest[width:]) != "" && (number == "" || number == "1")
}

var (
	htmlBlock = pattern.Of(`(?i)^</?(address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|` +
		`dialog|dir|div|dl|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|` +
		`menu|menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|title|tr|track|ul)` +
		`([ \t/>]|/>|$)`)
	htmlRaw = pattern.Of(`(?i)^<(script|pre|style|textarea)([ \t>]|$)`)
	htmlEnd = pattern.Of(`(?i)</(script|pre|style|textarea)>`)
	htmlTag = pattern.Of(`^</?[A-Za-z][A-Za-z0-9-]*(\s+[A-Za-z_:][\w.:-]*(\s*=\s*("[^"]*"|'[^']*'|[^\s"'=<>` + "`" + `]+))?)*\s*/?>\s*$`)
)

// html returns what tells the last line of a piece of HTML that begins with a line; nil if none does. A tag of no
// special name begins one only between paragraphs.
func html(rest string, inParagraph bool) func(line string) bool {
	if !strings.HasPrefix(rest, "<") {
		return nil
	}
	until := func(mark string) func(string) bool {
		return func(l string) bool { return strings.Contains(l, mark) }
	}
	switch {
	case htmlRaw().MatchString(rest):
		return htmlEnd().MatchString
	case strings.HasPrefix(rest, "<!--"):
		return until("-->")
	case strings.HasPrefix(rest, "<?"):
		return until("?>")
	case strings.HasPrefix(rest, "<![CDATA["):
		return until("]]>")
	case len(rest) > 2 && rest[1] == '!' && (rest[2]|0x20) >= 'a' && (rest[2]|0x20) <= 'z':
		return until(">")
	case htmlBlock().MatchString(rest), !inParagraph && htmlTag().MatchString(rest):
		return func(l string) bool { return strings.TrimSpace(l) == "" }
	}
	return nil
}
