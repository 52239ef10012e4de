package window

import (
	"fmt"

	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/base/linediff"
	"github.com/amber-memory/amber/internal/base/words"
)

// equalShown is how many equal lines are shown around a change.
const equalShown = 3

// Diff shows what changed from one text to another, line by line.
func Diff(from, to string) Document { return folded(linediff.Lines(from, to)) }

// folded leaves out equal lines that are far from every change.
func folded(list []linediff.Edit) (d Document) {
	near := make([]bool, len(list))
	for i, c := range list {
		if c.Op == linediff.Same {
			continue
		}
		for k := max(i-equalShown, 0); k <= min(i+equalShown, len(list)-1); k++ {
			near[k] = true
		}
	}
	left := 0
	flush := func() {
		if left > 0 {
			d = d.Dim(fmt.Sprintf("  … %s equal", words.Count(int64(left), "line", "lines")))
		}
		left = 0
	}
	for i, c := range list {
		if !near[i] {
			left++
			continue
		}
		flush()
		style := map[linediff.Op]string{linediff.Removed: cli.Amb, linediff.Added: cli.Bold}[c.Op]
		d = append(d, paragraph{style, string(c.Op) + " " + c.Text})
	}
	flush()
	if len(d) == 0 {
		d = d.Dim("no difference")
	}
	return d
}
