package snapshot_test

import (
	"maps"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

func diffChecks() []check {
	return []check{
		{"diff/counts", diffCounts},
		{"diff/each-part-alone", diffAlone},
		{"diff/equal-is-nothing", diffEqual},
		{"diff/there-and-back-is-nothing", diffThereAndBack},
		{"diff/rows", diffRows},
		{"diff/unknown-is-not-found", diffUnknown},
	}
}

func (a *resident) diff(x, y taken, rows bool) wire.SnapshotDiff {
	d := get(a.w.engine.DiffSnapshots(a.w.ctx, wire.DiffRequest{Tenant: a.tenant, Agent: a.id, A: x.ID, B: y.ID, Rows: rows}))
	hold(d.A == x.ID && d.B == y.ID, "diff of %s and %s tells of %s and %s", x.ID, y.ID, d.A, d.B)
	return d
}

// differ ends the check unless two snapshots differ by what their models do,
// in both directions.
func (a *resident) differ(x, y taken) deltas {
	want := x.model.to(y.model)
	d, back := a.diff(x, y, false), a.diff(y, x, false)
	same(counted(d.Store, d.Notes, d.State), want, "added, changed, removed from %s to %s", x.Label, y.Label)
	same(counted(back.Store, back.Notes, back.State), want.mirrored(), "added, changed, removed from %s to %s", y.Label, x.Label)
	return want
}

func diffCounts(w *site) {
	a := w.lived(tenant, "scout")
	first := a.snapshot("first")
	a.live()
	second := a.snapshot("second")
	same(a.differ(first, second), deltas{delta{3, 1, 2}, delta{2, 1, 1}, delta{1, 1, 0}}, "what the suite itself did")
	a.live()
	a.clearState(amber.StateExtractCursor)
	third := a.snapshot("third")
	a.differ(second, third)
	a.differ(first, third)
	safety := a.returns(first)
	a.differ(safety, first)
}

func diffAlone(w *site) {
	a := w.lived(tenant, "scout")
	last := a.snapshot("first")
	for _, step := range []struct {
		name string
		do   func()
		want deltas
	}{
		{"memory added", func() { a.remember() }, deltas{memories: delta{added: 1}}},
		{"memory changed", func() { a.edit(a.memories()[0]) }, deltas{memories: delta{changed: 1}}},
		{"memory removed", func() { a.forget(a.memories()[1]) }, deltas{memories: delta{removed: 1}}},
		{"note added", func() { a.note("new") }, deltas{notes: delta{added: 1}}},
		{"note changed", func() { a.note("plan") }, deltas{notes: delta{changed: 1}}},
		{"note removed", func() { a.dropNote("new") }, deltas{notes: delta{removed: 1}}},
		{"state added", func() { a.state(amber.StateLastConsolidation) }, deltas{state: delta{added: 1}}},
		{"state changed", func() { a.state(amber.StateLastConsolidation) }, deltas{state: delta{changed: 1}}},
		{"state removed", func() { a.clearState(amber.StateLastConsolidation) }, deltas{state: delta{removed: 1}}},
	} {
		step.do()
		next := a.snapshot(step.name)
		same(a.differ(last, next), step.want, "what the suite itself did")
		last = next
	}
}

func diffEqual(w *site) {
	a := w.lived(tenant, "scout")
	one, two := a.snapshot("one"), a.snapshot("two")
	same(a.differ(one, two), deltas{}, "what the suite itself did")
	same(a.differ(one, one), deltas{}, "what a snapshot is to itself")
}

// diffThereAndBack restores between the two: that records were written anew
// is no difference.
func diffThereAndBack(w *site) {
	a := w.lived(tenant, "scout")
	one := a.snapshot("one")
	a.live()
	a.returns(one)
	same(a.differ(one, a.snapshot("two")), deltas{}, "what the suite itself did")
}

func diffRows(w *site) {
	a := w.lived(tenant, "scout")
	one := a.snapshot("one")
	a.live()
	two := a.snapshot("two")
	d := a.diff(one, two, false)
	same(len(d.Store.Rows)+len(d.Notes.Files)+len(d.State.Files), 0, "rows that nobody asked for")
	d = a.diff(one, two, true)
	got := map[amber.MemoryID]amber.Op{}
	for _, r := range d.Store.Rows {
		if r.Table == "memories" {
			got[amber.MemoryID(r.Key)] = r.Op
		}
	}
	want := changes(one.model.Memories, two.model.Memories)
	hold(maps.Equal(got, want), "memories that differ: got %v, want %v", got, want)
	counts := one.model.to(two.model)
	same(countFiles(d.Notes.Files), counts.notes, "notes that differ")
	same(countFiles(d.State.Files), counts.state, "state that differs")
}

func countFiles(rows []wire.RowDiff) delta {
	ops := map[string]amber.Op{}
	for _, r := range rows {
		ops[r.Key] = r.Op
	}
	return countOps(ops)
}

func diffUnknown(w *site) {
	a, b := w.lived(tenant, "scout"), w.lived(tenant, "pilot")
	s, other := a.snapshot(""), b.snapshot("")
	for _, pair := range [][2]amber.SnapshotID{{s.ID, unknown}, {unknown, s.ID}, {s.ID, other.ID}, {other.ID, s.ID}} {
		_, err := w.engine.DiffSnapshots(w.ctx, wire.DiffRequest{Tenant: tenant, Agent: a.id, A: pair[0], B: pair[1]})
		refused(err, amber.KindNotFound, "diff of %v", pair)
	}
}
