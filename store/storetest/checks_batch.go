package storetest

import (
	"fmt"

	"github.com/amber-memory/amber"
)

func batchChecks() []check {
	return []check{
		{name: "batch/answers-in-order", needs: []part{batches, memories}, run: batchInOrder},
		{name: "batch/all-or-nothing", needs: []part{batches, memories}, run: batchAllOrNothing},
		{name: "batch/conflict-stores-nothing", needs: []part{batches, longTerm, memories}, run: batchConflict},
		{name: "batch/duplicates-inside", needs: []part{batches, memories}, run: batchDuplicates},
		{name: "batch/topics-inside", needs: []part{batches, memories}, run: batchTopics},
		{name: "batch/size-is-bounded", needs: []part{batches, memories}, run: batchBounded},
		{name: "batch/logs-every-record", needs: []part{batches, changes}, run: batchLogs},
	}
}

func batchOf(n int) []amber.WriteRequest {
	rs := make([]amber.WriteRequest, n)
	for i := range rs {
		rs[i] = amber.WriteRequest{Content: fmt.Sprint("batched ", i), Metadata: map[string]string{"n": fmt.Sprint(i)}}
	}
	return rs
}

func batchInOrder(w *world) {
	rs := batchOf(amber.MaxBatchSize)
	acks := must(w.Batch.WriteBatch(w.ctx, rs))
	equal(len(acks), len(rs), "number of answers")
	var last amber.Stamp
	for i, ack := range acks {
		equal(ack.Content, rs[i].Content, "content of answer %d", i)
		equal(w.get(ack.ID), ack.Memory, "memory %d read back", i)
		hold(ack.Origin.Clock > last, "stamp of answer %d does not grow", i)
		last = ack.Origin.Clock
	}
	equal(len(w.everything()), len(rs), "number of memories")
}

func batchAllOrNothing(w *world) {
	for _, at := range []int{0, 2, 4} {
		rs := batchOf(5)
		rs[at].Kind = "rumour"
		refused(only(w.Batch.WriteBatch(w.ctx, rs)), amber.KindInvalid, "batch with an invalid request at %d", at)
	}
	equal(len(w.everything()), 0, "memories stored by refused batches")
}

func batchConflict(w *world) {
	w.write(amber.WriteRequest{Content: "first", IdempotencyKey: "k"})
	before := w.everything()
	rs := batchOf(3)
	rs[1] = amber.WriteRequest{Content: "first"}
	rs[2] = amber.WriteRequest{Content: "second", IdempotencyKey: "k"}
	refused(only(w.Batch.WriteBatch(w.ctx, rs)), amber.KindConflict, "batch with a used key and other bytes")
	equal(w.everything(), before, "memories after a refused batch")
}

func batchDuplicates(w *world) {
	acks := must(w.Batch.WriteBatch(w.ctx, []amber.WriteRequest{
		{Content: "same", IdempotencyKey: "k"}, {Content: "other"}, {Content: "same"}, {Content: "same", IdempotencyKey: "k"},
	}))
	equal(acks[3], acks[0], "second answer to a key in one batch")
	equal([]bool{acks[0].Deduplicated, acks[1].Deduplicated, acks[2].Deduplicated}, []bool{false, false, true}, "which are duplicates")
	equal(acks[2].ID, acks[0].ID, "id of the duplicate")
	equal(acks[2].DuplicateCount, 1, "duplicate count")
	equal(len(w.everything()), 2, "number of memories")
}

func batchTopics(w *world) {
	acks := must(w.Batch.WriteBatch(w.ctx, []amber.WriteRequest{{Topic: "t", Content: "one"}, {Topic: "t", Content: "two"}}))
	equal(acks[1].ID, acks[0].ID, "id of the topic")
	equal([]int64{acks[0].Revision, acks[1].Revision}, []int64{1, 2}, "revisions")
	equal(w.get(acks[0].ID).Content, "two", "content")
	equal(len(w.history(acks[0].ID)), 2, "number of revisions stored")
}

func batchBounded(w *world) {
	refused(only(w.Batch.WriteBatch(w.ctx, batchOf(amber.MaxBatchSize+1))), amber.KindInvalid, "batch of %d", amber.MaxBatchSize+1)
	equal(len(w.everything()), 0, "memories stored by a batch that is too large")
}

func batchLogs(w *world) {
	var acks []amber.WriteAck
	got := w.changed(func() { acks = must(w.Batch.WriteBatch(w.ctx, batchOf(3))) })
	equal(len(got), 3, "entries of a batch of three")
	for i, c := range got {
		equal(entryOf(c), amber.Change{
			At: w.now(), Op: amber.OpInsert, Scope: amber.ChangeMemory,
			Key: string(acks[i].ID), NewDigest: acks[i].ContentDigest,
		}, "entry %d", i)
	}
}
