package web

import (
	"html/template"
	"strings"
	"unicode/utf8"
)

// markCost is about what the mark in place of a character costs in a page.
const markCost = 56

// brief cuts a text so that it takes about most bytes of a page, marks and escapes
// included, and says that it did.
func brief(s string, most int) string {
	if n := fits(s, most); n < len(s) {
		return s[:n] + "…"
	}
	return s
}

// fitted is shorten by what the text takes in a page.
func fitted(s string, most int) long {
	n := fits(s, most)
	return long{Text: s[:n], Bytes: len(s), Cut: n < len(s)}
}

// fits is how many bytes of a text take at most so many bytes of a page.
func fits(s string, most int) int {
	cost := 0
	for i, r := range s {
		n := utf8.RuneLen(r)
		if r == utf8.RuneError {
			_, n = utf8.DecodeRuneInString(s[i:])
		}
		switch {
		case deceives(r, n):
			cost += markCost
		case strings.ContainsRune(`<>&"'`, r):
			cost += len("&quot;")
		default:
			cost += n
		}
		if cost > most {
			return i
		}
	}
	return len(s)
}

// drawn is Markdown as far as it fits a page.
func drawn(s string) (html template.HTML, cut bool) {
	short := fitted(s, shownWhole)
	return markdown(short.Text), short.Cut
}
