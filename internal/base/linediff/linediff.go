// Package linediff compares two texts by lines, and two lines by words.
package linediff

import (
	"strings"
	"unicode"
)

// maxEdits bounds the search for the fewest edits: time and space go by its square.
const maxEdits = 1000

// Op says what became of a line, or of a word.
type Op byte

// The ops.
const (
	Same    Op = ' '
	Added   Op = '+'
	Removed Op = '-'
)

// Edit is one line, word or other part.
type Edit struct {
	Op   Op
	Text string
	A, B int // the number of the line in each text, from 1; 0 where it has none
}

// Lines makes b of a with as few lines added and removed as possible. Where that would be too
// many, everything between what both begin and end with is removed and added.
func Lines(a, b string) []Edit {
	old, new := split(a), split(b)
	if a != "" && b != "" && strings.HasSuffix(a, "\n") != strings.HasSuffix(b, "\n") {
		if strings.HasSuffix(a, "\n") {
			new = append(new, NoBreak)
		} else {
			old = append(old, NoBreak)
		}
	}
	return Parts(old, new)
}

// NoBreak is the text for the missing break at the end of the last line, where only one of two texts has it.
const NoBreak = `\ no line break at the end`

// Words compares two lines by their words and what is between them.
func Words(a, b string) []Edit { return Parts(words(a), words(b)) }

// Differ reports whether something was added or removed.
func Differ(edits []Edit) bool {
	for _, e := range edits {
		if e.Op != Same {
			return true
		}
	}
	return false
}

func split(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(s, "\n"), "\n")
}

// words cuts behind every run of letters and digits, and behind every other rune.
func words(s string) []string {
	var parts []string
	begin, inWord := 0, false
	for i, r := range s {
		word := unicode.IsLetter(r) || unicode.IsDigit(r)
		if i > 0 && (!word || !inWord) {
			parts = append(parts, s[begin:i])
			begin = i
		}
		inWord = word
	}
	if begin < len(s) {
		parts = append(parts, s[begin:])
	}
	return parts
}

// Parts compares two texts by parts that the caller has cut: it finds what both begin and end with, and the fewest edits between.
func Parts(a, b []string) []Edit {
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	out := make([]Edit, 0, max(len(a), len(b)))
	for i := range head {
		out = append(out, Edit{Same, a[i], i + 1, i + 1})
	}
	out = append(out, between(a[head:len(a)-tail], b[head:len(b)-tail], head)...)
	for i := range tail {
		x, y := len(a)-tail+i, len(b)-tail+i
		out = append(out, Edit{Same, a[x], x + 1, y + 1})
	}
	return out
}

// between finds the fewest edits, as Myers did: for every number of edits, how far along a each
// diagonal can be followed. The way back through these is the answer.
func between(a, b []string, offset int) []Edit {
	most := min(len(a)+len(b), maxEdits)
	far := make([]int, 2*most+3)
	mid := most + 1
	var steps [][]int
	for d := 0; d <= most; d++ {
		steps = append(steps, append([]int(nil), far[mid-d-1:mid+d+2]...))
		for k := -d; k <= d; k += 2 {
			x := far[mid+k-1] + 1
			if k == -d || k != d && far[mid+k-1] < far[mid+k+1] {
				x = far[mid+k+1]
			}
			y := x - k
			for x < len(a) && y < len(b) && a[x] == b[y] {
				x, y = x+1, y+1
			}
			far[mid+k] = x
			if x >= len(a) && y >= len(b) {
				return wayBack(a, b, steps, offset)
			}
		}
	}
	return everything(a, b, offset)
}

// wayBack follows the steps from the ends of both texts to their beginnings.
func wayBack(a, b []string, steps [][]int, offset int) []Edit {
	x, y := len(a), len(b)
	var reversed []Edit
	for d := len(steps) - 1; d >= 0; d-- {
		far := func(k int) int { return steps[d][k+d+1] }
		k := x - y
		before := k - 1
		if k == -d || k != d && far(k-1) < far(k+1) {
			before = k + 1
		}
		px := far(before)
		py := px - before
		for x > px && y > py && x > 0 && y > 0 && a[x-1] == b[y-1] {
			x, y = x-1, y-1
			reversed = append(reversed, Edit{Same, a[x], offset + x + 1, offset + y + 1})
		}
		if d == 0 {
			break
		}
		if before == k+1 {
			y--
			reversed = append(reversed, Edit{Op: Added, Text: b[y], B: offset + y + 1})
		} else {
			x--
			reversed = append(reversed, Edit{Op: Removed, Text: a[x], A: offset + x + 1})
		}
	}
	out := make([]Edit, len(reversed))
	for i, e := range reversed {
		out[len(out)-1-i] = e
	}
	return out
}

// everything removes one text and adds the other.
func everything(a, b []string, offset int) []Edit {
	out := make([]Edit, 0, len(a)+len(b))
	for i, line := range a {
		out = append(out, Edit{Op: Removed, Text: line, A: offset + i + 1})
	}
	for i, line := range b {
		out = append(out, Edit{Op: Added, Text: line, B: offset + i + 1})
	}
	return out
}
