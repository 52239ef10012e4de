package setup

import (
	"fmt"
	"strings"
)

// diffContext is how many lines stand around a change.
const diffContext = 3

// maxCells bounds the table of a comparison; beyond it everything between the
// first and the last difference counts as changed.
const maxCells = 4 << 20

// diff returns what has to be done to a text as a unified diff, "" when
// nothing has. A text that is not there is nil.
func diff(path string, before, after []byte) string {
	if string(before) == string(after) && (before == nil) == (after == nil) {
		return ""
	}
	names := [2]string{path, path}
	if before == nil {
		names[0] = "/dev/null"
	}
	if after == nil {
		names[1] = "/dev/null"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "--- %s\n+++ %s\n", names[0], names[1])
	for _, h := range hunks(compare(cutLines(before), cutLines(after))) {
		h.write(&b)
	}
	return b.String()
}

// cutLines cuts a text into lines with their line breaks.
func cutLines(text []byte) []string {
	lines := strings.SplitAfter(string(text), "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// change is a line and what happens to it: ' ', '-' or '+'.
type change struct {
	sign byte
	line string
}

// compare returns the lines of both texts in order.
func compare(a, b []string) (out []change) {
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	keep := func(lines []string) {
		for _, l := range lines {
			out = append(out, change{' ', l})
		}
	}
	keep(a[:head])
	out = append(out, middle(a[head:len(a)-tail], b[head:len(b)-tail])...)
	keep(a[len(a)-tail:])
	return out
}

// middle compares by the longest common subsequence.
func middle(a, b []string) (out []change) {
	width := len(b) + 1
	common := make([]int, 0)
	if (len(a)+1)*width <= maxCells {
		common = make([]int, (len(a)+1)*width)
		for i := len(a) - 1; i >= 0; i-- {
			for k := len(b) - 1; k >= 0; k-- {
				if a[i] == b[k] {
					common[i*width+k] = common[(i+1)*width+k+1] + 1
				} else {
					common[i*width+k] = max(common[(i+1)*width+k], common[i*width+k+1])
				}
			}
		}
	}
	i, k := 0, 0
	for i < len(a) && k < len(b) && len(common) > 0 {
		switch {
		case a[i] == b[k]:
			out = append(out, change{' ', a[i]})
			i, k = i+1, k+1
		case common[(i+1)*width+k] >= common[i*width+k+1]:
			out = append(out, change{'-', a[i]})
			i++
		default:
			out = append(out, change{'+', b[k]})
			k++
		}
	}
	for ; i < len(a); i++ {
		out = append(out, change{'-', a[i]})
	}
	for ; k < len(b); k++ {
		out = append(out, change{'+', b[k]})
	}
	return out
}

// hunk is a run of changes with the lines around it.
type hunk struct {
	before, after int // lines above it
	changes       []change
}

// hunks cuts a comparison into hunks.
func hunks(all []change) (out []hunk) {
	before, after, end := 0, 0, 0 // end: where the last hunk ends
	for i, c := range all {
		if c.sign != ' ' {
			from := max(i-diffContext, 0)
			if len(out) == 0 || from > end {
				out = append(out, hunk{before - (i - from), after - (i - from), nil})
				end = from
			}
			h := &out[len(out)-1]
			to := min(i+1+diffContext, len(all))
			h.changes = append(h.changes, all[end:to]...)
			end = to
		}
		if c.sign != '+' {
			before++
		}
		if c.sign != '-' {
			after++
		}
	}
	return out
}

func (h hunk) write(b *strings.Builder) {
	count := func(but byte) (n int) {
		for _, c := range h.changes {
			if c.sign != but {
				n++
			}
		}
		return n
	}
	fmt.Fprintf(b, "@@ -%s +%s @@\n", lineRange(h.before, count('+')), lineRange(h.after, count('-')))
	for _, c := range h.changes {
		line, whole := strings.CutSuffix(c.line, "\n")
		fmt.Fprintf(b, "%c%s\n", c.sign, line)
		if !whole {
			b.WriteString("\\ No newline at end of file\n")
		}
	}
}

// lineRange writes where lines stand; of none, the line above them.
func lineRange(above, lines int) string {
	if lines > 0 {
		above++
	}
	if lines == 1 {
		return fmt.Sprint(above)
	}
	return fmt.Sprintf("%d,%d", above, lines)
}
