package storetest

import (
	"time"

	"github.com/amber-memory/amber"
)

func idempotencyChecks() []check {
	return []check{
		{name: "idempotency/returns-the-first-answer", needs: []part{longTerm, memories, edits}, run: keyReturnsFirstAnswer},
		{name: "idempotency/other-bytes-conflict", needs: []part{longTerm, memories}, run: keyConflicts},
		{name: "idempotency/remembers-a-deduplicated-answer", needs: []part{longTerm, memories}, run: keyRemembersDuplicate},
		{name: "idempotency/a-key-adds-to-a-memory-once", needs: []part{longTerm, memories}, run: keyAddsOnce},
		{name: "idempotency/a-refused-write-uses-no-key", needs: []part{longTerm, memories}, run: keyAfterRefusal},
		{name: "idempotency/logs-nothing-new", needs: []part{longTerm, changes}, run: keyLogsNothing},
		{name: "idempotency/forgotten-after-seven-days", needs: []part{longTerm, memories}, run: keyForgotten},
	}
}

func keyed(content string) amber.WriteRequest {
	return amber.WriteRequest{Content: content, IdempotencyKey: "key-1", Metadata: map[string]string{"b": "2", "a": "1"}}
}

func keyReturnsFirstAnswer(w *world) {
	first := w.write(keyed("original"))
	w.tick()
	must(w.Editor.Edit(w.ctx, amber.EditRequest{ID: first.ID, Content: new("edited")}))
	equal(w.write(keyed("original")), first, "answer after an edit")
	must0(w.LongTerm.Delete(w.ctx, first.ID))
	equal(w.write(keyed("original")), first, "answer after a delete")
	equal(len(w.everything()), 1, "number of memories")
	equal(len(w.history(first.ID)), 3, "number of revisions")
}

func keyConflicts(w *world) {
	w.write(keyed("original"))
	for name, r := range map[string]amber.WriteRequest{
		"content":  keyed("other"),
		"title":    {Content: "original", Title: "t", IdempotencyKey: "key-1", Metadata: keyed("").Metadata},
		"metadata": {Content: "original", IdempotencyKey: "key-1"},
	} {
		refused(only(w.LongTerm.Write(w.ctx, r)), amber.KindConflict, "used key with other %s", name)
	}
	equal(len(w.everything()), 1, "number of memories")
	other := keyed("original")
	other.IdempotencyKey = "key-2"
	hold(w.write(other).Deduplicated, "an equal memory under another key is not deduplicated")
}

func keyRemembersDuplicate(w *world) {
	id := w.fact("twice")
	first := w.write(amber.WriteRequest{Content: "twice", IdempotencyKey: "k"})
	hold(first.Deduplicated && first.ID == id, "an equal memory with a key is not deduplicated")
	equal(w.write(amber.WriteRequest{Content: "twice", IdempotencyKey: "k"}), first, "second answer")
	equal(w.get(id).DuplicateCount, 1, "duplicate count")
}

func keyAddsOnce(w *world) {
	id := w.fact("twice")
	r := amber.WriteRequest{Content: "twice", Tags: []string{"t"}, Metadata: map[string]string{"k": "v"}, IdempotencyKey: "k"}
	first := w.write(r)
	equal(first.Added, []string{"tags", "metadata.k"}, "what the first write has added")
	for range 3 {
		w.tick()
		equal(w.write(r), first, "answer to the same key")
	}
	equal(w.get(id).DuplicateCount, 1, "count of duplicates")
	equal(len(w.history(id)), 2, "number of revisions")
}

func keyAfterRefusal(w *world) {
	_, err := w.LongTerm.Write(w.ctx, amber.WriteRequest{Content: "x", Kind: "rumour", IdempotencyKey: "k"})
	refused(err, amber.KindInvalid, "write with an unknown kind")
	ack := w.write(amber.WriteRequest{Content: "valid", IdempotencyKey: "k"})
	equal(ack.Content, "valid", "content written under the key of a refused write")
}

func keyLogsNothing(w *world) {
	w.write(keyed("original"))
	equal(w.changed(func() { w.write(keyed("original")) }), nil, "entries of a repeated write")
}

func keyForgotten(w *world) {
	first := w.write(keyed("original"))
	w.clock.Advance(7*24*time.Hour - time.Millisecond)
	equal(w.write(keyed("original")), first, "answer before seven days are over")
	w.clock.Advance(time.Millisecond)
	ack := w.write(keyed("something else"))
	hold(ack.ID != first.ID, "a forgotten key returns the old memory")
	equal(ack.Content, "something else", "content under a forgotten key")
	equal(w.write(keyed("something else")), ack, "answer of the key used anew")
}
