package web

import (
	"html/template"
	"strconv"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/linediff"
	"github.com/amber-memory/amber/internal/base/words"
	"github.com/amber-memory/amber/wire"
)

// diffData is what the difference of two snapshots is shown from.
type diffData struct {
	A, B     diffEnd
	Diff     wire.SnapshotDiff
	Memories []wire.RowDiff // of this page
	From     int            // the first of them
	Next     string         // the address of the next page; "" at the end
	Unnamed  int64          // memories that differ and are not named
	Tables   []wire.TableDiff
	Equal    bool
}

// diffEnd is one of the two snapshots.
type diffEnd struct {
	ID    amber.SnapshotID
	Short string
}

// diffSnapshots compares two snapshots: those of a and b, or two marks of the list, where the newer is first.
func (v snapshotScreens) diffSnapshots() error {
	if marks := v.r.URL.Query()["s"]; marks != nil || v.query("a") == "" || v.query("b") == "" {
		if len(marks) != 2 {
			return v.listSnapshots(snapshotForm{Problem: "Mark two snapshots to compare them; " + words.Count(len(marks), "is marked.", "are marked.")})
		}
		return v.redirect(addQuery(v.path("snapshots", "diff"), "a", marks[1], "b", marks[0]))
	}
	a, b := amber.SnapshotID(v.query("a")), amber.SnapshotID(v.query("b"))
	d := diffData{A: diffEnd{a, shortID(a)}, B: diffEnd{b, shortID(b)}}
	if v.query("memory") != "" {
		return v.diffMemory(d)
	}
	diff, err := v.remote.Snapshots().DiffSnapshots(v.r.Context(), wire.DiffRequest{A: a, B: b, Rows: true})
	if err != nil {
		return err
	}
	d.Diff = diff
	d.fill(v.visit)
	s := screen{Title: "Compare " + d.A.Short + " with " + d.B.Short, Nav: "snapshots", Command: v.command("snapshot", "diff", string(a), string(b), "--rows")}
	return v.render("snapshot_diff", s, d)
}

// fill chooses what a page shows of the difference.
func (d *diffData) fill(v *visit) {
	var named []wire.RowDiff
	for _, r := range d.Diff.Store.Rows {
		if r.Table == "memories" {
			named = append(named, r)
		}
	}
	t := d.Diff.Store.Table("memories")
	d.Unnamed = max(0, t.Added+t.Changed+t.Removed-int64(len(named)))
	d.From, _ = strconv.Atoi(v.query("from"))
	d.From = min(max(d.From, 0), len(named))
	end := min(d.From+pageSize, len(named))
	d.Memories = named[d.From:end]
	if end < len(named) {
		d.Next = addQuery(v.r.URL.RequestURI(), "from", strconv.Itoa(end))
	}
	d.Equal = !filesDiffer(d.Diff.Notes) && !filesDiffer(d.Diff.State) && d.Diff.Git.From == d.Diff.Git.To && len(d.Diff.Missing) == 0
	for _, t := range d.Diff.Store.Tables {
		if t.Added+t.Changed+t.Removed > 0 {
			d.Tables, d.Equal = append(d.Tables, t), false
		}
	}
}

func filesDiffer(f wire.FilesDiff) bool { return f.Added+f.Changed+f.Removed > 0 }

// opWord is what became of a row, with a sign, so that colour is not alone.
func opWord(op amber.Op) string {
	switch op {
	case amber.OpInsert:
		return "+ added"
	case amber.OpDelete:
		return "− removed"
	}
	return "± changed"
}

// diffMemoryData is what one memory in two snapshots is shown from.
type diffMemoryData struct {
	A, B   diffEnd
	Memory amber.MemoryID
	InA    *amber.Memory
	InB    *amber.Memory
	Text   sides
	Facts  []factPair
}

// diffMemory shows one memory of two snapshots side by side.
func (v snapshotScreens) diffMemory(ends diffData) error {
	d := diffMemoryData{A: ends.A, B: ends.B, Memory: amber.MemoryID(v.query("memory"))}
	var err error
	if d.InA, err = v.memoryAt(d.A.ID, d.Memory); err != nil {
		return err
	}
	if d.InB, err = v.memoryAt(d.B.ID, d.Memory); err != nil {
		return err
	}
	var a, b amber.Memory
	if d.InA != nil {
		a = *d.InA
	}
	if d.InB != nil {
		b = *d.InB
	}
	d.Text, d.Facts = newSides(a.Content, b.Content), factPairs(a, b)
	s := screen{Title: "One memory in two snapshots", Nav: "snapshots", Command: v.command("snapshot", "diff", string(d.A.ID), string(d.B.ID), "--rows")}
	return v.render("snapshot_diff_memory", s, d)
}

// memoryAt is a memory of a snapshot; nil where the snapshot does not hold it.
func (v snapshotScreens) memoryAt(snapshot amber.SnapshotID, id amber.MemoryID) (*amber.Memory, error) {
	past, err := v.remote.Snapshots().At(v.r.Context(), wire.SnapshotRef{ID: snapshot})
	if err != nil {
		return nil, err
	}
	m, err := past.Get(v.r.Context(), id)
	if amber.KindOf(err) == amber.KindNotFound {
		_, serr := v.remote.Snapshots().ShowSnapshot(v.r.Context(), wire.SnapshotRef{ID: snapshot})
		return nil, serr // without the snapshot nothing is known of the memory
	}
	if err != nil {
		return nil, err
	}
	return &m, nil
}

// Bounds of two texts side by side: rows, and bytes of HTML of each text and of both.
const (
	maxSideRows = 250
	maxSide     = 20 << 10
	maxSides    = 56 << 10
)

// sides are two texts beside each other.
type sides struct {
	Rows   []sideRow
	Differ bool
	Cut    bool // more differs, or there is more of one of the texts
}

// sideRow is a line of each; a sign of " " is a line that both have.
type sideRow struct {
	A, B         template.HTML
	LineA, LineB int // 0: there is no such line
	Sign         bool
}

// newSides puts two texts beside each other, line by line. Where a line took the place of another, the words
// that differ are marked.
func newSides(a, b string) sides {
	x, y := fitting(a), fitting(b)
	edits := linediff.Lines(x.Text, y.Text)
	s := putBeside(edits, markWords)
	if s.weight() > maxSides {
		s = putBeside(edits, func(a, b string) (template.HTML, template.HTML) { return marked(a), marked(b) })
	}
	s.Differ, s.Cut = a != b, s.Cut || x.Cut || y.Cut
	return s
}

// fitting cuts a text by what is drawn of it: a mark takes more room than the character that it replaces.
func fitting(s string) long {
	l := shorten(s, maxSide)
	for len(marked(l.Text)) > maxSide {
		l = shorten(s, len(l.Text)/2)
	}
	return l
}

func (s sides) weight() (n int) {
	for _, r := range s.Rows {
		n += len(r.A) + len(r.B)
	}
	return n
}

// putBeside makes rows of edits. Pair draws a line and the one that took its place.
func putBeside(edits []linediff.Edit, pair func(a, b string) (template.HTML, template.HTML)) sides {
	var s sides
	for i := 0; i < len(edits) && len(s.Rows) < maxSideRows; {
		if e := edits[i]; e.Op == linediff.Same {
			t := marked(e.Text)
			s.Rows = append(s.Rows, sideRow{A: t, B: t, LineA: e.A, LineB: e.B})
			i++
			continue
		}
		end := i
		for end < len(edits) && edits[end].Op != linediff.Same {
			end++
		}
		s.Rows = append(s.Rows, pairUp(edits[i:end], pair)...)
		i = end
	}
	if s.Cut = len(s.Rows) >= maxSideRows; s.Cut {
		s.Rows = s.Rows[:maxSideRows]
	}
	return s
}

// pairUp puts removed lines beside added ones.
func pairUp(edits []linediff.Edit, pair func(a, b string) (template.HTML, template.HTML)) []sideRow {
	var gone, come []linediff.Edit
	for _, e := range edits {
		if e.Op == linediff.Removed {
			gone = append(gone, e)
		} else {
			come = append(come, e)
		}
	}
	rows := make([]sideRow, max(len(gone), len(come)))
	for i := range rows {
		rows[i].Sign = true
		switch {
		case i < len(gone) && i < len(come):
			rows[i].A, rows[i].B = pair(gone[i].Text, come[i].Text)
			rows[i].LineA, rows[i].LineB = gone[i].A, come[i].B
		case i < len(gone):
			rows[i].A, rows[i].LineA = marked(gone[i].Text), gone[i].A
		default:
			rows[i].B, rows[i].LineB = marked(come[i].Text), come[i].B
		}
	}
	return rows
}
