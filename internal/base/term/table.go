package term

import (
	"io"
	"strings"
)

// The bounds of a column that must give room.
const (
	gap       = 2 // columns between two
	leastCell = 8
	mostLines = 3 // of one cell
)

// Table is rows under a heading. Cells are lines without styles.
type Table struct {
	Heading []string
	Rows    [][]string
}

// Write prints the table. In a terminal of so many columns each line fits:
// columns of prose give room first, the widest one first. Names and ids are
// wrapped, so that they are whole; prose is cut, in the last column after some
// lines. With 0 columns there is no limit.
func (t Table) Write(w io.Writer, columns int) error {
	all := append([][]string{t.Heading}, t.Rows...)
	widths, prose := t.measure(all)
	fit(widths, prose, t.Heading, columns)
	var b strings.Builder
	for _, row := range all {
		t.row(&b, row, widths, prose, columns)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// measure returns how wide each column is, and which hold more than one word.
func (t Table) measure(rows [][]string) (widths []int, prose []bool) {
	widths, prose = make([]int, len(t.Heading)), make([]bool, len(t.Heading))
	for i, row := range rows {
		for j, cell := range row {
			widths[j] = max(widths[j], Width(cell))
			prose[j] = prose[j] || i > 0 && strings.Contains(cell, " ")
		}
	}
	return widths, prose
}

// fit makes columns narrower until the table is as wide as may be, or nothing
// can give room any more.
func fit(widths []int, prose []bool, heading []string, columns int) {
	if columns <= 0 {
		return
	}
	total := gap * (len(widths) - 1)
	for _, n := range widths {
		total += n
	}
	for _, words := range []bool{true, false} {
		for ; total > columns; total-- {
			widest := -1
			for i, n := range widths {
				if prose[i] == words && n > max(Width(heading[i]), leastCell) && (widest < 0 || n > widths[widest]) {
					widest = i
				}
			}
			if widest < 0 {
				break
			}
			widths[widest]--
		}
	}
}

// row writes one row, which may take several lines.
func (t Table) row(b *strings.Builder, row []string, widths []int, prose []bool, columns int) {
	cells, most := make([][]string, len(row)), 1
	for i, cell := range row {
		last := i == len(widths)-1
		switch {
		case columns <= 0:
			cells[i] = []string{cell}
		case prose[i] && !last:
			cells[i] = []string{Cut(cell, widths[i])}
		default:
			cells[i] = Wrap(cell, widths[i], 0)
			if prose[i] && len(cells[i]) > mostLines {
				cut := cells[i][:mostLines]
				cut[mostLines-1] = Cut(cut[mostLines-1]+" …", widths[i])
				cells[i] = cut
			}
		}
		most = max(most, len(cells[i]))
	}
	for n := range most {
		var line strings.Builder
		for i := range row {
			text := ""
			if n < len(cells[i]) {
				text = cells[i][n]
			}
			line.WriteString(text + strings.Repeat(" ", max(widths[i]-Width(text), 0)+gap))
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
}
