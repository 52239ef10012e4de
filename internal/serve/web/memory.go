package web

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/internal/base/linediff"
	"github.com/amber-memory/amber/wire"
)

// memoryData is one memory with all that is known about it.
type memoryData struct {
	amber.Memory
	Text      long
	Gone      bool // it was forgotten
	Meaning   string
	History   []revision // newest first, at most shownRevisions
	More      int        // revisions that are not listed
	A, B      int64      // the revisions that are compared
	Diff      []fieldDiff
	Concepts  []string
	Near      amber.Neighbourhood
	Around    []amber.Memory // in time
	Snapshots []wire.SnapshotMeta
	Meta      []pair
	Foreign   []pair
}

const (
	shownRevisions = 50
	shownNear      = 30
	diffBound      = 64 << 10 // bytes of a text that are compared
	diffLines      = 300      // lines of a comparison that are shown
	lineCost       = 64       // bytes of a page around each of them
)

// pair is a name and a value.
type pair struct{ Name, Value string }

// revision is one state of a memory, and what was changed to get there.
type revision struct {
	amber.Memory
	Changed []string
}

// fieldDiff is how a field differs between two revisions.
type fieldDiff struct {
	Field string
	Lines []linediff.Edit
	Cut   bool
}

// meanings say what the degrees of trust mean.
var meanings = map[amber.Trust]string{
	amber.TrustOwn:      "Written here. It may be put before an agent that did not ask.",
	amber.TrustSigned:   "Signed by a key that is trusted here. It may be put before an agent that did not ask.",
	amber.TrustAgent:    "Written by an agent. It is put before agents in its own project, and waits for you where it would hold elsewhere or always.",
	amber.TrustDerived:  "Found by rule in what an assistant said. Nobody confirmed it.",
	amber.TrustImported: "Came from elsewhere, not signed by a key that is trusted here. It is not put before an agent that did not ask.",
}

func (v memoryScreens) memory(ctx context.Context, store amber.Store) error {
	id := amber.MemoryID(v.r.PathValue("id"))
	live, err := store.Memories.Get(ctx, id)
	if amber.KindOf(err) == amber.KindNotFound {
		v.log.forget() // a forgotten memory has a history
	} else if err != nil {
		return err
	}
	past, err := readPast(ctx, store, id, v.query("a"), v.query("b"))
	if err != nil {
		return err
	}
	d := memoryData{}
	d.Memory, d.Gone = latest(past.ends, live)
	d.Text, d.Meaning, d.Meta, d.Foreign = fitted(d.Content, shownWhole), meanings[d.Trust], pairs(d.Metadata), foreignPairs(d.Memory)
	d.revisions(past)
	if !d.Gone {
		v.surroundings(ctx, store, &d)
	}
	d.Snapshots = v.snapshotChoice(ctx) // a forgotten memory can be brought back from one
	title := cmp.Or(clip.Line(d.Title), clip.Marked(clip.Line(d.Content), 80), "Memory "+string(id))
	return v.render("memory", screen{Title: visible(title), Nav: "memories", Command: v.command("get", string(id))}, d)
}

// latest is the latest state, and whether the memory is gone.
func latest(history []amber.Memory, live amber.Memory) (amber.Memory, bool) {
	if len(history) == 0 {
		return live, false
	}
	m := history[len(history)-1]
	if m.DeletedAt.IsZero() {
		return m, false
	}
	if len(history) > 1 && m.Content == "" { // a tombstone tells little
		before := history[len(history)-2]
		before.DeletedAt, before.Revision = m.DeletedAt, m.Revision
		return before, true
	}
	return m, true
}

// surroundings are what lies beside a memory. Each part is of use without the others.
func (v memoryScreens) surroundings(ctx context.Context, store amber.Store, d *memoryData) {
	d.Concepts, _ = store.Concepts.Concepts(ctx, d.ID)
	d.Near, _ = store.Relations.Neighbours(ctx, amber.NeighbourQuery{ID: d.ID, Depth: 1, Limit: shownNear, All: true})
	d.Around, _ = store.Memories.Timeline(ctx, d.ID, 3, 3)
}

// past is the history of a memory as a screen shows it: of all but a few revisions only what changed.
type past struct {
	ends   []amber.Memory // the last two
	chosen [2]amber.Memory
	rows   []revision // the last ones, oldest first
	more   int        // how many there were before them
}

// readPast reads the history of a memory, one revision after the other: together they may be very large. A and b are the
// revisions that the visitor has chosen.
func readPast(ctx context.Context, store amber.Store, id amber.MemoryID, a, b string) (past, error) {
	var p past
	err := amber.Each(ctx, store.Memories.History, id, func(m amber.Memory) error {
		row := revision{Memory: m}
		if n := len(p.ends); n > 0 {
			row.Changed = changes(p.ends[n-1], m)
		}
		row.Content, row.Summary = clip.Marked(m.Content, shownRow), clip.Marked(m.Summary, shownRow)
		p.rows, p.ends = append(p.rows, row), append(p.ends, m)
		if len(p.rows) > shownRevisions {
			p.rows, p.more = p.rows[1:], p.more+1
		}
		if len(p.ends) > 2 {
			p.ends = p.ends[1:]
		}
		for i, text := range []string{a, b} {
			if text == strconv.FormatInt(m.Revision, 10) {
				p.chosen[i] = m
			}
		}
		return nil
	})
	return p, err
}

func (d *memoryData) revisions(p past) {
	from, to := p.chosen[0], p.chosen[1]
	if n := len(p.ends); n > 1 {
		if from.ID == "" || to.ID == "" {
			from, to = p.ends[n-2], p.ends[n-1]
		}
		d.A, d.B, d.Diff = from.Revision, to.Revision, compare(from, to)
	}
	d.History, d.More = p.rows, p.more
	slices.Reverse(d.History)
}

// fields are what can differ between two revisions, as texts.
func fields(m amber.Memory) []pair {
	deleted := ""
	if !m.DeletedAt.IsZero() {
		deleted = m.DeletedAt.String()
	}
	return []pair{
		{"text", m.Content},
		{"title", m.Title},
		{"summary", m.Summary},
		{"kind", string(m.Kind)},
		{"tags", strings.Join(m.Tags, "\n")},
		{"metadata", metaText(m.Metadata)},
		{"scope", string(m.Scope)},
		{"trust", string(m.Trust)},
		{"forgotten", deleted},
	}
}

func changes(from, to amber.Memory) (names []string) {
	a, b := fields(from), fields(to)
	for i := range a {
		if a[i].Value != b[i].Value {
			names = append(names, a[i].Name)
		}
	}
	return names
}

// compare shows how each field differs.
func compare(from, to amber.Memory) (diffs []fieldDiff) {
	a, b := fields(from), fields(to)
	for i := range a {
		if a[i].Value != b[i].Value {
			diffs = append(diffs, diffOf(a[i].Name, a[i].Value, b[i].Value))
		}
	}
	return diffs
}

// diffOf compares two texts, as far as a page shows them.
func diffOf(name, from, to string) fieldDiff {
	a, b := shorten(from, diffBound), shorten(to, diffBound)
	d := fieldDiff{Field: name, Lines: linediff.Lines(a.Text, b.Text), Cut: a.Cut || b.Cut}
	if len(d.Lines) > diffLines {
		d.Lines, d.Cut = d.Lines[:diffLines], true
	}
	left := shownWhole
	for i := range d.Lines {
		if left <= 0 {
			d.Lines, d.Cut = d.Lines[:i], true
			break
		}
		if cut := fitted(d.Lines[i].Text, left); cut.Cut {
			d.Lines[i].Text, d.Cut = cut.Text, true
		}
		left -= lineCost + len(marked(d.Lines[i].Text))
	}
	return d
}

func metaText(m map[string]string) string {
	var b strings.Builder
	for _, p := range pairs(m) {
		fmt.Fprintf(&b, "%s=%s\n", p.Name, p.Value)
	}
	return b.String()
}

func pairs(m map[string]string) []pair {
	out := make([]pair, 0, len(m))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		out = append(out, pair{k, m[k]})
	}
	return out
}

// foreignPairs are the fields of another tool.
func foreignPairs(m amber.Memory) []pair {
	texts := map[string]string{}
	for k, raw := range m.Foreign {
		texts[k] = clip.Marked(string(raw), shownRow)
	}
	return pairs(texts)
}
