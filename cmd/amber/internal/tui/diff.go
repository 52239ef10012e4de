package tui

import (
	"fmt"
	"strings"

	"github.com/amber-memory/amber/cmd/amber/internal/cli"
)

// maxCells bounds the table of a diff; larger parts are shown as removed and added.
const maxCells = 4 << 20

// equalShown is how many equal lines are shown around a change.
const equalShown = 3

// change is a line and what became of it: ' ' equal, '-' removed, '+' added.
type change struct {
	sign byte
	text string
}

// diff shows what changed from one text to another, line by line.
func diff(from, to string) document {
	return folded(compare(strings.Split(from, "\n"), strings.Split(to, "\n")))
}

// compare finds the lines that two texts share, in order.
func compare(a, b []string) (out []change) {
	var tail []change
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		out, a, b = append(out, change{' ', a[0]}), a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		tail = append(tail, change{' ', a[len(a)-1]})
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	out = append(out, middle(a, b)...)
	for i := len(tail) - 1; i >= 0; i-- {
		out = append(out, tail[i])
	}
	return out
}

// middle compares by the longest common subsequence, where that is small enough.
func middle(a, b []string) (out []change) {
	n, m := len(a), len(b)
	if (n+1)*(m+1) > maxCells {
		n = 0
	}
	common := make([][]int, 0, n+1)
	for range n + 1 {
		common = append(common, make([]int, m+1))
	}
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			if a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	i, j := 0, 0
	for i < n && j < m {
		switch {
		case a[i] == b[j]:
			out, i, j = append(out, change{' ', a[i]}), i+1, j+1
		case common[i+1][j] >= common[i][j+1]:
			out, i = append(out, change{'-', a[i]}), i+1
		default:
			out, j = append(out, change{'+', b[j]}), j+1
		}
	}
	for ; i < len(a); i++ {
		out = append(out, change{'-', a[i]})
	}
	for ; j < m; j++ {
		out = append(out, change{'+', b[j]})
	}
	return out
}

// folded leaves out equal lines that are far from every change.
func folded(list []change) (d document) {
	near := make([]bool, len(list))
	for i, c := range list {
		if c.sign == ' ' {
			continue
		}
		for k := max(i-equalShown, 0); k <= min(i+equalShown, len(list)-1); k++ {
			near[k] = true
		}
	}
	left := 0
	flush := func() {
		if left > 0 {
			d = d.dim(fmt.Sprintf("  … %s equal", cli.Count(int64(left), "line", "lines")))
		}
		left = 0
	}
	for i, c := range list {
		if !near[i] {
			left++
			continue
		}
		flush()
		style := map[byte]string{'-': cli.Amb, '+': cli.Bold}[c.sign]
		d = append(d, paragraph{style, string(c.sign) + " " + c.text})
	}
	flush()
	if len(d) == 0 {
		d = d.dim("no difference")
	}
	return d
}
