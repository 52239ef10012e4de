package term

import (
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// escape begins what styles text; it takes no room and ends with a letter.
const escape = '\x1b'

// Width returns how many columns a line takes. Styles take none.
func Width(s string) (n int) {
	styled := false
	for _, r := range s {
		switch {
		case r == escape:
			styled = true
		case styled:
			styled = !unicode.IsLetter(r)
		default:
			n += cells(r)
		}
	}
	return n
}

// cells is how many columns a character takes.
func cells(r rune) int {
	if r < 0x300 {
		return 1
	}
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0
	}
	if k := width.LookupRune(r).Kind(); k == width.EastAsianWide || k == width.EastAsianFullwidth {
		return 2
	}
	return 1
}

// Cut returns the beginning of a line without styles that takes at most n
// columns; where something is missing its last character is "…".
func Cut(s string, n int) string {
	if Width(s) <= n {
		return s
	}
	head, _ := split(s, max(n-1, 0))
	return head + "…"
}

// split returns as much of s as n columns hold, and the rest.
func split(s string, n int) (head, rest string) {
	used, styled := 0, false
	for i, r := range s {
		switch {
		case r == escape:
			styled = true
		case styled:
			styled = !unicode.IsLetter(r)
		default:
			if used += cells(r); used > n {
				return s[:i], s[i:]
			}
		}
	}
	return s, ""
}

// parts are the signs behind which names and ids have a part of their own.
const parts = "-/_"

// Wrap breaks a line into lines of at most n columns, at blanks where there are
// some, and a word that is too long behind a part of it, where that fills half
// of the line. Lines after the first begin with indent blanks. With n of 0 it
// stays one.
func Wrap(s string, n, indent int) []string {
	if n <= 0 || Width(s) <= n {
		return []string{s}
	}
	indent = min(indent, n/2)
	var lines []string
	room, before := n, ""
	for Width(s) > room {
		head, rest := split(s, room)
		if at := strings.LastIndexByte(head, ' '); rest[0] != ' ' && strings.TrimLeft(head[:max(at, 0)], " ") != "" {
			head, rest = head[:at], s[at:]
		} else if at := strings.LastIndexAny(head, parts) + 1; rest[0] != ' ' && Width(head[:at]) >= (room+1)/2 {
			head, rest = head[:at], s[at:]
		}
		if head == "" { // a character wider than the room
			return append(lines, before+s)
		}
		lines = append(lines, before+strings.TrimRight(head, " "))
		s, before, room = strings.TrimLeft(rest, " "), strings.Repeat(" ", indent), n-indent
	}
	if s != "" {
		lines = append(lines, before+s)
	}
	return lines
}
