package storetest

import (
	"slices"
	"strings"
	"time"

	"github.com/amber-memory/amber"
)

func deleteChecks() []check {
	needs := []part{longTerm, memories}
	return []check{
		{name: "delete/hides-the-memory", needs: needs, run: deleteHides},
		{name: "delete/leaves-a-tombstone", needs: needs, run: deleteLeavesTombstone},
		{name: "delete/twice-does-nothing", needs: append(needs, changes), run: deleteTwice},
		{name: "delete/unknown-is-not-found", needs: needs, run: deleteUnknown},
		{name: "delete/logs-the-old-digest", needs: append(needs, changes), run: deleteLogs},
	}
}

func eraseChecks() []check {
	needs := []part{longTerm, memories, erasure}
	return []check{
		{name: "erase/removes-the-memory-from-every-read", needs: needs, run: eraseRemoves},
		{name: "erase/removes-what-hangs-on-it", needs: append(needs, relations, concepts), run: eraseRemovesBeside},
		{name: "erase/removes-what-quotes-it", needs: append(needs, ingest, turns), run: eraseRemovesQuotes},
		{name: "erase/twice-removes-nothing", needs: append(needs, changes), run: eraseTwice},
		{name: "erase/works-on-deleted-memories", needs: needs, run: eraseDeleted},
		{name: "erase/unknown-is-not-found", needs: needs, run: eraseUnknown},
		{name: "erase/leaves-no-digest-in-the-log", needs: append(needs, changes, edits), run: eraseDigests},
		{name: "erase/a-retry-stores-nothing-anew", needs: needs, run: eraseForgetsKey},
		{name: "erase/a-retry-of-a-batch-stores-nothing-anew", needs: append(needs, batches), run: eraseStopsBatch},
		{name: "erase/a-journal-stores-nothing-anew", needs: append(needs, ingest, sessions), run: eraseStopsIngest},
		{name: "erase/equal-memory-may-be-written-again", needs: needs, run: eraseThenWrite},
	}
}

func deleteHides(w *world) {
	id, other := w.fact("ephemeral thought"), w.fact("lasting thought")
	must0(w.LongTerm.Delete(w.ctx, id))
	refused(only(w.Memories.Get(w.ctx, id)), amber.KindNotFound, "get a deleted memory")
	refused(only(w.Memories.Timeline(w.ctx, id, 1, 1)), amber.KindNotFound, "timeline of a deleted memory")
	equal(memoryIDs(w.list(amber.ListQuery{})), []amber.MemoryID{other}, "list")
	equal(memoryIDs(must(w.Memories.Timeline(w.ctx, other, 5, 5))), []amber.MemoryID{other}, "timeline")
	equal(w.found("thought"), []amber.MemoryID{other}, "recall")
	equal(w.found(""), []amber.MemoryID{other}, "recall of everything")
}

func deleteLeavesTombstone(w *world) {
	first := w.write(fullRequest()).Memory
	w.tick()
	must0(w.LongTerm.Delete(w.ctx, first.ID))
	revs := w.history(first.ID)
	equal(len(revs), 2, "number of revisions")
	tombstone := first
	tombstone.Revision, tombstone.DeletedAt, tombstone.UpdatedAt = 2, w.now(), w.now()
	tombstone.Origin.Counter, tombstone.Origin.Clock = 2, revs[1].Origin.Clock
	equal(revs, []amber.Memory{first, tombstone}, "history of a deleted memory")
	listed := w.list(amber.ListQuery{Deleted: true, All: true})
	equal(memoryIDs(listed), []amber.MemoryID{first.ID}, "list with deleted memories")
	equal(listed[0].DeletedAt, w.now(), "deletion time in the list")
}

func deleteTwice(w *world) {
	id := w.fact("once")
	must0(w.LongTerm.Delete(w.ctx, id))
	before := w.history(id)
	w.tick()
	equal(w.changed(func() { must0(w.LongTerm.Delete(w.ctx, id)) }), nil, "entries of a second delete")
	equal(w.history(id), before, "history after a second delete")
}

func deleteUnknown(w *world) {
	refused(w.LongTerm.Delete(w.ctx, unknownID), amber.KindNotFound, "delete an unknown memory")
}

func deleteLogs(w *world) {
	id := w.fact("old")
	got := w.logs("a delete", func() { must0(w.LongTerm.Delete(w.ctx, id)) })
	equal([]any{got.Op, got.Scope, got.Key, got.OldDigest},
		[]any{amber.OpDelete, amber.ChangeMemory, id, amber.ContentDigest("old")}, "entry of a delete")
}

func eraseRemoves(w *world) {
	r := fullRequest()
	r.Topic, r.Content = "secret", "the password is xyzzy"
	id := w.write(r).ID
	other := w.fact("the password rule is public")
	report := must(w.Eraser.Erase(w.ctx, id))
	equal(report.ID, id, "id in the report")
	hold(len(report.Removed) > 0, "the report says that nothing was removed")
	w.gone(id)
	equal(memoryIDs(w.everything()), []amber.MemoryID{other}, "list")
	q := amber.Query{Filter: amber.Filter{Identities: ids()}, Limit: amber.MaxTopK}
	for _, text := range []string{"", "password", "xyzzy", "xyzz", "secret", "deploy window"} {
		q.Text = text
		hold(!slices.Contains(hitIDs(w.recall(q)), id), "recall of %q finds the erased memory", text)
	}
}

// gone checks that no call finds a memory.
func (w *world) gone(id amber.MemoryID) {
	refused(only(w.Memories.Get(w.ctx, id)), amber.KindNotFound, "get an erased memory")
	refused(only(amber.All(w.ctx, w.Memories.History, id)), amber.KindNotFound, "history of an erased memory")
	refused(only(w.Memories.Timeline(w.ctx, id, 1, 1)), amber.KindNotFound, "timeline of an erased memory")
	refused(w.LongTerm.Delete(w.ctx, id), amber.KindNotFound, "delete an erased memory")
	if w.Capabilities().Edit {
		refused(only(w.Editor.Edit(w.ctx, amber.EditRequest{ID: id, Content: new("back")})), amber.KindNotFound, "edit an erased memory")
	}
}

func eraseRemovesBeside(w *world) {
	a, b := w.fact("alpha"), w.fact("beta")
	must(w.Relations.Relate(w.ctx, amber.Relation{From: a, To: b, Type: "related", Strength: 1}))
	must(w.Relations.Relate(w.ctx, amber.Relation{From: b, To: a, Type: "supersedes", Strength: 1}))
	must0(w.Concepts.SetConcepts(w.ctx, a, []string{"letters"}))
	must(w.Eraser.Erase(w.ctx, a))
	equal(must(w.Relations.Related(w.ctx, b)), nil, "relations to an erased memory")
	refused(only(w.Relations.Related(w.ctx, a)), amber.KindNotFound, "relations of an erased memory")
	refused(only(w.Concepts.Concepts(w.ctx, a)), amber.KindNotFound, "concepts of an erased memory")
}

// isOfEngine reports whether what remains is no record but something a database keeps for a
// while, such as its log: an engine may name it.
func isOfEngine(remains string) bool {
	return !slices.ContainsFunc([]string{"memory ", "history of memory ", "summary of session ", "state of session ", "suspended loop of session ", "compaction summary of session ", "chunks in "},
		func(record string) bool { return strings.HasPrefix(remains, record) })
}

// eraseRemovesQuotes erases a memory that turns, activity and digests of
// sessions quote. A memory of the user that quotes it is left, and named.
func eraseRemovesQuotes(w *world) {
	w.say("s", "please remember: the password is xyzzy")
	w.say("s", "what is for lunch?")
	done := w.saying("s", amber.EventRef{}, "nothing")
	done.Activity = []amber.Activity{{SessionID: "s", Kind: amber.ActivityTool, Name: "Bash", Detail: "echo the password is xyzzy > file"}}
	w.ingest("s", done)
	id := w.fact("the password is xyzzy")
	digest := w.write(amber.WriteRequest{
		Content: "Asked:\n- the password is xyzzy\n", Kind: amber.SessionSummary, Trust: amber.TrustDerived, Topic: "session 1",
	}).ID
	own := w.write(amber.WriteRequest{Content: "I know that the password is xyzzy", Kind: amber.SessionSummary}).ID
	report := must(w.Eraser.Erase(w.ctx, id))
	report.Remaining = slices.DeleteFunc(report.Remaining, isOfEngine)
	equal(report, amber.EraseReport{
		ID: id, Removed: []string{"1 revisions", "1 turns", "1 activities", "1 session digests"}, Remaining: []string{"memory " + string(own)},
	}, "report")
	equal(w.said("s"), []string{"what is for lunch?", "nothing"}, "turns that are left")
	equal(w.did("s", ""), nil, "activity that is left")
	w.gone(digest)
}

func eraseTwice(w *world) {
	id := w.fact("once")
	must(w.Eraser.Erase(w.ctx, id))
	w.tick()
	got := w.changed(func() {
		equal(must(w.Eraser.Erase(w.ctx, id)).Removed, nil, "what a second erase removed")
	})
	equal(got, nil, "entries of a second erase")
}

func eraseDeleted(w *world) {
	id := w.fact("deleted first")
	must0(w.LongTerm.Delete(w.ctx, id))
	hold(len(must(w.Eraser.Erase(w.ctx, id)).Removed) > 0, "erasing a deleted memory removed nothing")
	w.gone(id)
	equal(len(w.everything()), 0, "memories left")
}

func eraseUnknown(w *world) {
	refused(only(w.Eraser.Erase(w.ctx, unknownID)), amber.KindNotFound, "erase an unknown memory")
}

func eraseDigests(w *world) {
	id := w.fact("first text")
	w.edit(amber.EditRequest{ID: id, Content: new("second text")})
	w.fact("second text")
	must(w.Eraser.Erase(w.ctx, id))
	digests := []string{amber.ContentDigest("first text"), amber.ContentDigest("second text")}
	var last amber.Change
	for _, c := range entries(w.ctx, w.Changes, "") {
		for _, d := range digests {
			hold(!strings.Contains(c.OldDigest+c.NewDigest+c.Key, d), "entry %v still has the digest of erased text", c)
		}
		last = c
	}
	equal([]any{last.Op, last.Scope, last.Key}, []any{amber.OpDelete, amber.ChangeMemory, id}, "entry of an erase")
}

func eraseForgetsKey(w *world) {
	r := amber.WriteRequest{Content: "told once", IdempotencyKey: "k"}
	id := w.write(r).ID
	must(w.Eraser.Erase(w.ctx, id))
	other := amber.WriteRequest{Content: "told otherwise", IdempotencyKey: "k"}
	for range 2 {
		for _, r := range []amber.WriteRequest{r, other} {
			refused(only(w.LongTerm.Write(w.ctx, r)), amber.KindConflict, "write with the key of an erased memory")
		}
	}
	equal(len(w.everything()), 0, "memories that a retry has stored")
	w.gone(id)
	w.clock.Advance(8 * 24 * time.Hour)
	hold(w.write(other).ID != id, "the key of an erased memory does not expire")
}

// eraseStopsBatch retries a batch one of whose memories was erased.
func eraseStopsBatch(w *world) {
	rs := []amber.WriteRequest{{Content: "kept", IdempotencyKey: "a"}, {Content: "erased", IdempotencyKey: "b"}}
	acks := must(w.Batch.WriteBatch(w.ctx, rs))
	must(w.Eraser.Erase(w.ctx, acks[1].ID))
	refused(only(w.Batch.WriteBatch(w.ctx, rs)), amber.KindConflict, "retry of a batch with an erased memory")
	equal(len(w.everything()), 1, "memories after the retry")
}

// eraseStopsIngest takes over a step with an erased memory: the rest of the step
// is taken.
func eraseStopsIngest(w *world) {
	r := amber.WriteRequest{Content: "told once", IdempotencyKey: "k"}
	must(w.Eraser.Erase(w.ctx, w.write(r).ID))
	w.ingest("s", amber.IngestStep{Memories: []amber.WriteRequest{r, {Content: "told later"}}})
	equal(w.found("told"), []amber.MemoryID{w.everything()[0].ID}, "recall after the step")
	equal(w.everything()[0].Content, "told later", "what the step has stored")
}

func eraseThenWrite(w *world) {
	id := w.fact("again")
	must(w.Eraser.Erase(w.ctx, id))
	ack := w.write(amber.WriteRequest{Content: "again"})
	hold(!ack.Deduplicated && ack.ID != id, "an erased memory counts as a duplicate")
	equal(w.found("again"), []amber.MemoryID{ack.ID}, "recall of the new memory")
}
