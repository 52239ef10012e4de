package storetest

import (
	"fmt"
	"time"

	"github.com/amber-memory/amber"
)

func durabilityChecks() []check {
	return []check{
		{name: "durable/reopening-keeps-everything", needs: []part{durable}, run: reopenKeeps},
		{name: "durable/recall-after-reopening", needs: []part{durable, longTerm}, run: reopenRecalls},
		{name: "durable/stamps-grow-after-reopening", needs: []part{durable, longTerm}, run: reopenStamps},
		{name: "durable/fences-grow-after-reopening", needs: []part{durable, control}, run: reopenFences},
		{name: "durable/idempotency-after-reopening", needs: []part{durable, longTerm}, run: reopenKeys},
		{name: "durable/erased-stays-erased", needs: []part{durable, longTerm, memories, erasure}, run: reopenErased},
		{name: "durable/events-stay-known", needs: []part{durable, ingest, sessions, turns}, run: reopenEvents},
		{name: "durable/positions-go-on", needs: []part{durable, longTerm, changes}, run: reopenPositions},
	}
}

func reopenKeeps(w *world) {
	w.populate()
	before := tree(w.dump())
	for range 2 {
		w.reopen()
		equal(w.dump(), before, "store after reopening")
	}
}

func reopenRecalls(w *world) {
	id := w.fact("The lantern hangs by the door.")
	for _, text := range []string{"lanterns", "lanter", "door"} {
		w.reopen()
		equal(w.found(text), []amber.MemoryID{id}, "hits of %q after reopening", text)
	}
}

func reopenStamps(w *world) {
	last := w.write(amber.WriteRequest{Content: "first"}).Origin
	for i := range 3 {
		w.clock.Advance(-24 * time.Hour)
		w.reopen()
		o := w.write(amber.WriteRequest{Content: fmt.Sprint("after ", i)}).Origin
		hold(o.Clock > last.Clock, "stamp %s after reopening is not after %s", o.Clock, last.Clock)
		equal(o.Device, last.Device, "device after reopening")
		last = o
	}
}

func reopenFences(w *world) {
	w.publish(amber.Envelope{EntryID: "e", TaskID: "t", NodeID: "n"})
	old := w.claim("c").Lease
	w.reopen()
	must0(w.Queue.Ack(w.ctx, must(w.QueueKeeper.Renew(w.ctx, old))))
	w.publish(amber.Envelope{EntryID: "f", TaskID: "t", NodeID: "n"})
	w.reopen()
	next := w.claim("c").Lease
	hold(next.Fence > old.Fence, "fence %d after reopening is not after %d", next.Fence, old.Fence)
	refused(only(w.Results.SaveResult(w.ctx, resultOf("n", old.Fence, "late"))), amber.KindConflict, "result under an old fence after reopening")
}

func reopenKeys(w *world) {
	first := w.write(keyed("original"))
	w.reopen()
	equal(w.write(keyed("original")), first, "answer of a key after reopening")
	refused(only(w.LongTerm.Write(w.ctx, keyed("other"))), amber.KindConflict, "used key with other bytes after reopening")
}

func reopenErased(w *world) {
	r := amber.WriteRequest{Topic: "t", Content: "to be erased"}
	id := w.write(r).ID
	must(w.Eraser.Erase(w.ctx, id))
	w.reopen()
	w.gone(id)
	equal(w.write(r).ID, amber.TopicID("", amber.ScopeGlobal, "", "t", 1), "id of the topic after reopening")
}

func reopenEvents(w *world) {
	steps := func() []amber.IngestStep {
		return []amber.IngestStep{w.everyPart("s", native("a")), w.saying("s", observed("b", 0), "b")}
	}
	equal(w.ingest("s", steps()...).Applied, 2, "steps applied")
	before := tree(w.dumpOf("s"))
	w.reopen()
	equal(w.dumpOf("s"), before, "store after reopening")
	refused(only(w.Ingest.Ingest(w.ctx, ingestion("s", 0, 1, steps()...))), amber.KindConflict, "the same ingestion after reopening")
	late := w.saying("s", observed("b", amber.SameEventWindow), "c")
	equal(w.ingest("s", append(steps(), late)...), amber.IngestResult{Duplicates: 3}, "answer to the same events after reopening")
}

func reopenPositions(w *world) {
	w.fact("before")
	head := must(w.Changes.Head(w.ctx))
	w.reopen()
	equal(must(w.Changes.Head(w.ctx)), head, "head after reopening")
	id := w.fact("after")
	got := must(w.Changes.Changes(w.ctx, head, 10))
	equal(len(got), 1, "entries after the old head")
	equal(got[0].Key, id, "key of the entry after the old head")
}
