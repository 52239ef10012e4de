package markdown

import "strings"

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

func isHeading(indent int, rest string) bool {
	n := len(rest) - len(strings.TrimLeft(rest, "#"))
	return indent < 4 && n >= 1 && n <= 6 && (len(rest) == n || rest[n] == ' ' || rest[n] == '\t')
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
