package transfer_test

import (
	"fmt"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
	"github.com/amber-memory/amber/internal/share/foreign/transfer"
	"github.com/amber-memory/amber/internal/test/must"
)

// synced brings version n of the memory of key k from the place git, which has seen others. It returns what came of it.
func (b *bench) synced(text string, n int, own, chunk amber.Trust, saw ...amber.Origin) amber.Applied {
	b.t.Helper()
	when := amber.UnixMilli(1_767_323_045_678)
	m := amber.SyncMemory{Memory: amber.Memory{
		ID: foreign.MemoryID("toy", foreign.Key{"k"}), Kind: amber.WorkspaceFact, Scope: amber.ScopeGlobal, Content: text, ContentDigest: amber.ContentDigest(text),
		Tags: []string{}, Metadata: map[string]string{}, SourceRefs: []amber.SourceRef{}, Trust: own, Revision: int64(n), CreatedAt: when, UpdatedAt: when,
		Origin: amber.Origin{Device: "laptop", Counter: uint64(n), Clock: amber.StampAt(b.now)},
	}, Saw: saw}
	must.Do(b.t, amber.SyncRecord{Memory: &m}.Check())
	return must.Get(b.store.Sync.Apply(b.t.Context(), amber.Incoming{
		Place: "git", Chunk: fmt.Sprint("chunk-", n), Device: "laptop", CreatedBy: "laptop", At: when, Trust: chunk, Records: []amber.SyncRecord{{Memory: &m}},
	}))(b.t)
}

// Files that only met a memory have no more say in it after the undo of an import that made it one's own.
func TestUndoOfAVouchGivesNobodyANewSay(t *testing.T) {
	t.Parallel()
	for _, vouched := range []bool{false, true} {
		b := newBench(t)
		b.synced("one", 1, amber.TrustOwn, amber.TrustImported)
		must.Equal(t, "met", b.imported(toyLine{Key: "k", Text: "one"}).Memories, counts(1, 0, 0, 1))
		if vouched {
			b.put(toyLine{Key: "k", Text: "two"})
			r := b.run(b.own())
			must.Equal(t, "made one's own", fmt.Sprint(r.Changed, b.memory("k").Content, b.memory("k").Trust), "1twoown")
			must.Equal(t, "restored", b.undo(r.ID).Restored, 1)
		}
		r := b.imported(toyLine{Key: "k", Text: "evil"})
		must.Equal(t, fmt.Sprint("changed and conflicts, vouched ", vouched), fmt.Sprint(r.Changed, r.Conflicts), "0 1")
		must.Equal(t, "content", b.memory("k").Content, "one")
	}
}

// Undo gives a memory the trust that it had, and never more.
func TestUndoGivesTheTrustBackThatAMemoryHad(t *testing.T) {
	t.Parallel()
	for _, trust := range []struct{ own, chunk, want amber.Trust }{
		{amber.TrustOwn, amber.TrustSigned, amber.TrustSigned},
		{amber.TrustDerived, amber.TrustSigned, amber.TrustDerived},
		{amber.TrustOwn, amber.TrustImported, amber.TrustImported},
		{amber.TrustOwn, amber.TrustOwn, amber.TrustOwn},
	} {
		b := newBench(t)
		b.synced("one", 1, trust.own, trust.chunk)
		must.Equal(t, "trust before", b.memory("k").Trust, trust.want)
		first := b.imported(toyLine{Key: "k", Text: "one"}, sample[0], sample[1])
		b.put(toyLine{Key: "k", Text: "two"}, sample[0], sample[1], toyLine{Key: "z", Text: "new"})
		r := b.run(b.own())
		must.Equal(t, "made one's own", fmt.Sprint(b.memory("k").Content, b.memory("k").Trust), "twoown")
		u := b.undo(r.ID)
		must.Equal(t, "restored, deleted and kept", fmt.Sprint(u.Restored, u.Deleted, len(u.Kept)), "3 1 0")
		must.Equal(t, "memory after the undo", fmt.Sprint(b.memory("k").Content, b.memory("k").Trust), "one"+string(trust.want))
		must.Equal(t, "trust of what files brought", fmt.Sprint(b.memory("a").Trust, b.memory("b").Trust), "importedimported")
		must.Equal(t, "deleted with the first", b.undo(first.ID).Deleted, 2)
		must.Equal(t, "trust of what the files only met", b.memory("k").Trust, trust.want)
	}
}

// Records that an undo restores go to the places that are synced, and later versions from these places are no
// conflict.
func TestAPlaceThatWasToldOfAnUndoHasItsSay(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.synced("one", 1, amber.TrustOwn, amber.TrustSigned)
	b.imported(toyLine{Key: "k", Text: "one"})
	b.put(toyLine{Key: "k", Text: "two"})
	b.undo(b.run(b.own()).ID)

	out := must.Get(b.store.Sync.Outgoing(t.Context(), amber.OutgoingRequest{Place: "git"}))(t)
	var marks []amber.SyncMark
	for _, r := range out.Records {
		marks = append(marks, r.Mark())
	}
	must.Do(t, b.store.Sync.Exported(t.Context(), amber.ExportNote{Place: "git", Chunk: "out", CreatedBy: "amber", Marks: marks}))
	now := b.memory("k").Origin
	done := b.synced("later", int(now.Counter)+1, amber.TrustOwn, amber.TrustSigned, now)
	must.Equal(t, "conflicts", done.Conflicts, 0)
	must.Equal(t, "memory", fmt.Sprint(b.memory("k").Content, b.memory("k").Trust), "latersigned")
}

// An undo that is stopped right after its transaction has let files of others bring back what it deleted.
func TestAnUndoThatStopsLetsFilesOfOthersIn(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.put(sample[0])
	r := b.run(b.own())
	_, err := transfer.Undo(t.Context(), b.fused(&fuse{left: 1, after: true}), r.ID, transfer.UndoOptions{Clock: b.o.Clock, NewID: b.o.NewID})
	if err == nil {
		t.Error("the undo was not stopped")
	}
	b.undo(r.ID)
	again := b.imported(sample[0])
	must.Equal(t, "new and conflicts", fmt.Sprint(again.New, again.Conflicts), "1 0")
}
