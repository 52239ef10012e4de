package web

import (
	"html/template"
	"strings"

	"github.com/amber-memory/amber/internal/base/linediff"
)

// diffRow is a line of a comparison, with the words that differ marked.
type diffRow struct {
	Op   linediff.Op
	A, B int
	Text template.HTML
}

// maxWords bounds a line that is compared by words, in bytes.
const maxWords = 2000

// diffRows marks the words that differ where as many lines were removed as were added in their place.
func diffRows(edits []linediff.Edit) []diffRow {
	rows := make([]diffRow, 0, len(edits))
	for i := 0; i < len(edits); {
		removed := run(edits[i:], linediff.Removed)
		added := run(edits[i+removed:], linediff.Added)
		if removed == 0 || removed != added {
			n := max(removed+added, 1)
			for _, e := range edits[i : i+n] {
				rows = append(rows, diffRow{e.Op, e.A, e.B, marked(e.Text)})
			}
			i += n
			continue
		}
		before := make([]diffRow, removed)
		after := make([]diffRow, added)
		for j := range removed {
			from, to := edits[i+j], edits[i+removed+j]
			before[j], after[j] = diffRow{from.Op, from.A, from.B, ""}, diffRow{to.Op, to.A, to.B, ""}
			before[j].Text, after[j].Text = markWords(from.Text, to.Text)
		}
		rows = append(append(rows, before...), after...)
		i += removed + added
	}
	return rows
}

// run counts the edits of an op that edits begins with.
func run(edits []linediff.Edit, op linediff.Op) int {
	n := 0
	for n < len(edits) && edits[n].Op == op {
		n++
	}
	return n
}

// markWords shows two lines, each with the words that the other has not. Lines that have
// little in common are shown as they are.
func markWords(from, to string) (before, after template.HTML) {
	if len(from) > maxWords || len(to) > maxWords {
		return marked(from), marked(to)
	}
	words := linediff.Words(from, to)
	shared := 0
	for _, w := range words {
		if w.Op == linediff.Same {
			shared += len(strings.TrimSpace(w.Text))
		}
	}
	if 3*shared < min(len(from), len(to)) {
		return marked(from), marked(to)
	}
	for _, w := range words {
		text := marked(w.Text)
		switch w.Op {
		case linediff.Same:
			before, after = before+text, after+text
		case linediff.Removed:
			before += "<del>" + text + "</del>"
		case linediff.Added:
			after += "<ins>" + text + "</ins>"
		}
	}
	return joined(before), joined(after)
}

// joined puts marks of words that follow each other together.
func joined(s template.HTML) template.HTML {
	return template.HTML(strings.NewReplacer("</del><del>", "", "</ins><ins>", "").Replace(string(s))) //nolint:gosec // everything was escaped by marked
}
