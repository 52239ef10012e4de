package transfer_test

import (
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
)

// A dry run counts as the import does, and reports the same reasons, also where the store refuses.
func TestADryRunForeseesWhatTheStoreRefuses(t *testing.T) {
	t.Parallel()
	mine := "said here"
	for name, c := range map[string]struct {
		prepare func(b *bench)
		lines   func(b *bench) []toyLine
	}{
		"an end that was written here": {lines: func(b *bench) []toyLine {
			m := must.Get(b.store.LongTerm.Write(t.Context(), amber.WriteRequest{Content: "here"}))(t)
			return []toyLine{{Key: "a", Text: "here", Amber: string(m.ID)}, {Key: "b", Text: "there"}, {From: "a", To: "b"}}
		}},
		"an end that was changed here": {prepare: func(b *bench) {
			b.imported(sample[0], sample[1])
			must.Get(b.store.Editor.Edit(t.Context(), amber.EditRequest{ID: b.memory("a").ID, Content: &mine}))(t)
		}, lines: func(*bench) []toyLine { return sample[:3] }},
		"an end that was changed here and there": {prepare: func(b *bench) {
			b.imported(sample[0], sample[1])
			must.Get(b.store.Editor.Edit(t.Context(), amber.EditRequest{ID: b.memory("a").ID, Content: &mine}))(t)
		}, lines: func(*bench) []toyLine { return []toyLine{{Key: "a", Text: "newer"}, sample[1], sample[2]} }},
		"an end that the program deleted": {prepare: func(b *bench) {
			b.imported(sample[0], sample[1])
		}, lines: func(*bench) []toyLine {
			return []toyLine{{Key: "a", Text: "x", Deleted: 1_767_323_099_000}, sample[1], sample[2]}
		}},
		"an end that is one's own": {prepare: func(b *bench) {
			b.put(sample[0], sample[1])
			b.run(b.own())
		}, lines: func(*bench) []toyLine { return sample[:3] }},
		"ends that came by sync": {prepare: func(b *bench) {
			from := newBench(t)
			from.imported(sample[0], sample[1])
			var refs []amber.SyncRef
			for _, key := range []string{"a", "b"} {
				refs = append(refs, amber.SyncRef{Scope: amber.ChangeMemory, ID: string(from.memory(key).ID)})
			}
			rows := must.Get(from.store.Sync.SyncRecords(t.Context(), refs))(t)
			must.Get(b.store.Sync.Apply(t.Context(), amber.Incoming{Place: "folder", Chunk: "c", Device: "d", CreatedBy: "x", Trust: amber.TrustImported, Records: rows}))(t)
		}, lines: func(*bench) []toyLine { return []toyLine{{Key: "a", Text: "newer"}, sample[1], sample[2]} }},
		"a relation that was made here": {prepare: func(b *bench) {
			b.imported(sample[0], sample[1])
			must.Get(b.store.Relations.Relate(t.Context(), amber.Relation{From: b.memory("a").ID, To: b.memory("b").ID, Type: "depends_on", Strength: 1}))(t)
		}, lines: func(*bench) []toyLine { return sample[:3] }},
		"an end that is not there": {lines: func(*bench) []toyLine { return []toyLine{sample[0], sample[2]} }},
		"nothing":                  {lines: func(*bench) []toyLine { return sample[:3] }},
		"what changes": {prepare: func(b *bench) { b.imported(sample[0], sample[1]) }, lines: func(*bench) []toyLine {
			return []toyLine{{Key: "a", Text: "newer"}, sample[1], sample[2]}
		}},
	} {
		b := newBench(t)
		if c.prepare != nil {
			c.prepare(b)
		}
		b.put(c.lines(b)...)
		dry := b.o
		dry.DryRun = true
		look := b.run(dry)
		real := b.run(b.o)
		must.Equal(t, name+": relations", look.Relations, real.Relations)
		must.Equal(t, name+": memories", look.Memories, real.Memories)
		must.Equal(t, name+": conflicts", look.Conflicts, real.Conflicts)
		must.Equal(t, name+": skips", look.Skips, real.Skips)
	}
}
