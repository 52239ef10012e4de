package window

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/internal/guard/shown"
)

// maxMarks is how many combining marks one letter keeps. More of them cover the lines above.
const maxMarks = 3

// tabStop is how many columns a tab takes.
const tabStop = 4

// Clean makes stored text fit for a frame: lines stay lines, and what could move the cursor,
// turn the direction of text or be invisible becomes a mark.
func Clean(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	marks := 0
	for _, r := range shown.Marked(s) {
		if r >= 0x300 && unicode.In(r, unicode.Mn, unicode.Me) {
			marks++
		} else {
			marks = 0
		}
		switch {
		case r >= 0x20 && r < 0x7f:
			b.WriteByte(byte(r))
		case r == '\n':
			b.WriteByte('\n')
		case r == '\t':
			b.WriteString(strings.Repeat(" ", tabStop))
		case joins(r), marks > maxMarks:
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// joins reports whether r only says how its neighbours are drawn. Terminals do not agree on
// the width of what it makes, so it is left out.
func joins(r rune) bool {
	return r == 0x200c || r == 0x200d || unicode.Is(unicode.Variation_Selector, r) || r >= 0x1f3fb && r <= 0x1f3ff
}

// OneLine is clean on one line of at most n columns, white space folded.
func OneLine(s string, n int) string {
	return Cut(clip.Line(Clean(beginning(s, n))), n)
}

// oneLineKept is clean on one line of at most n columns, blanks kept.
func oneLineKept(s string, n int) string {
	return Cut(strings.ReplaceAll(Clean(beginning(s, n)), "\n", " "), n)
}

// beginning is more of a text than n columns hold, so that a long one is not read whole for each frame.
func beginning(s string, n int) string {
	return clip.Bytes(s, 16*max(n, 0)+256)
}

// width is how many columns a clean line takes.
func width(s string) (n int) {
	for _, r := range s {
		n += cells(r)
	}
	return n
}

func cells(r rune) int {
	switch {
	case r < 0x20:
		return 0
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	}
	return max(ansi.StringWidthWc(string(r)), 1)
}

// split returns as much of a clean line as n columns hold, and the rest.
func split(s string, n int) (head, rest string) {
	used := 0
	for i, r := range s {
		if used += cells(r); used > n {
			return s[:i], s[i:]
		}
	}
	return s, ""
}

// Cut returns the beginning of a clean line, at most n columns; where something is missing it
// ends with an ellipsis.
func Cut(s string, n int) string {
	head, rest := split(s, n)
	if rest == "" || n < 1 {
		return head
	}
	head, _ = split(s, n-1)
	return head + "…"
}

// pad cuts or fills a clean line to exactly n columns.
func pad(s string, n int) string {
	s = Cut(s, n)
	return s + strings.Repeat(" ", max(n-width(s), 0))
}

// wrap breaks a clean line into lines of at most n columns, at blanks where there are some.
func wrap(s string, n int) (lines []string) {
	if n < 1 {
		return nil
	}
	for {
		head, rest := split(s, n)
		if rest == "" {
			return append(lines, head)
		}
		if at := strings.LastIndexByte(head, ' '); rest[0] != ' ' && at > n/3 {
			head, rest = head[:at], s[at:]
		}
		if head == "" { // a character that is wider than the room
			_, size := utf8.DecodeRuneInString(s)
			head, rest = "…"[:min(n, 1)*len("…")], s[size:]
		}
		lines = append(lines, strings.TrimRight(head, " "))
		if s = strings.TrimLeft(rest, " "); s == "" {
			return lines
		}
	}
}
