package setup

import (
	"fmt"
	"strings"

	"github.com/amber-memory/amber/internal/base/linediff"
)

// diffContext is how many lines stand around a change.
const diffContext = 3

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
	for _, h := range hunks(linediff.Parts(cutLines(before), cutLines(after))) {
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

// hunk is a run of changes with the lines around it.
type hunk struct {
	before, after int // lines above it
	changes       []linediff.Edit
}

// hunks cuts a comparison into hunks.
func hunks(all []linediff.Edit) (out []hunk) {
	before, after, end := 0, 0, 0 // end: where the last hunk ends
	for i, c := range all {
		if c.Op != linediff.Same {
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
		if c.Op != linediff.Added {
			before++
		}
		if c.Op != linediff.Removed {
			after++
		}
	}
	return out
}

func (h hunk) write(b *strings.Builder) {
	count := func(but linediff.Op) (n int) {
		for _, c := range h.changes {
			if c.Op != but {
				n++
			}
		}
		return n
	}
	fmt.Fprintf(b, "@@ -%s +%s @@\n", lineRange(h.before, count(linediff.Added)), lineRange(h.after, count(linediff.Removed)))
	for _, c := range h.changes {
		line, whole := strings.CutSuffix(c.Text, "\n")
		fmt.Fprintf(b, "%c%s\n", c.Op, line)
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
