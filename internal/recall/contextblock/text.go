package contextblock

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/internal/guard/shown"
)

// indented keeps the lines of a text inside its item of a list.
func indented(s string) string { return strings.ReplaceAll(s, "\n", "\n  ") }

// flat puts a text on one line.
func flat(s string) string { return strings.Join(strings.Fields(harmless(s)), " ") }

// beginning returns at most n bytes of a text on one line, up to the end of a sentence or a word.
func beginning(s string, n int) string {
	s = flat(s)
	if len(s) <= n {
		return s
	}
	return strings.TrimRight(cutAt(s, n-len(" …")), " ,;:") + " …"
}

// cutText returns the longest beginning of s of at most n bytes that ends
// with a sentence or a line. Where that would be less than half of what may be
// shown it ends with a word, and without words with a whole character.
// A fence of code that is open where it ends is closed.
func cutText(s string, n int) string {
	if n <= 0 {
		return ""
	}
	if len(s) <= n {
		return s
	}
	const fence = "```"
	shown := cutAt(s, n)
	if strings.Count(shown, fence)%2 == 1 {
		shown = cutAt(s, n-len("\n  "+fence))
		if strings.Count(shown, fence)%2 == 1 {
			shown += "\n  " + fence
		}
	}
	return shown
}

func cutAt(s string, n int) string {
	n = len(clip.Letters(s, n))
	if end := lastSentence(s, n); end >= n/2 && end > 0 {
		return s[:end]
	}
	s = s[:n]
	if end := strings.LastIndexFunc(s, unicode.IsSpace); end >= n/2 && end > 0 {
		return strings.TrimRightFunc(s[:end], unicode.IsSpace)
	}
	return s
}

// lastSentence returns where the last sentence or line that ends within the
// first n bytes of s does, 0 for none.
func lastSentence(s string, n int) int {
	end := 0
	for i, r := range s[:n] {
		after := i + utf8.RuneLen(r)
		switch {
		case r == '\n':
			end = i
		case strings.ContainsRune("。！？", r):
			end = after
		case strings.ContainsRune(".!?…", r) && (after == len(s) || s[after] == ' ' || s[after] == '\n'):
			end = after
		}
	}
	return len(strings.TrimRightFunc(s[:end], unicode.IsSpace))
}

// harmless makes stored text fit for a block: without what a person would not see, and without what a host
// would take for its own words or for the end of the block.
func harmless(s string) string { return shown.ForBlock(s) }
