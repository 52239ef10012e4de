package storetest

import (
	"errors"
	"fmt"
	"sync"

	"github.com/amber-memory/amber"
)

// workers is how many goroutines the checks of concurrency start.
const workers = 8

func concurrencyChecks() []check {
	return []check{
		{name: "concurrent/distinct-memories", needs: []part{longTerm, memories}, run: concurrentDistinct},
		{name: "concurrent/equal-memories-are-stored-once", needs: []part{longTerm, memories}, run: concurrentEqual},
		{name: "concurrent/one-topic-keeps-every-revision", needs: []part{longTerm, memories}, run: concurrentTopic},
		{name: "concurrent/one-idempotency-key-one-answer", needs: []part{longTerm, memories}, run: concurrentKey},
		{name: "concurrent/edits-of-one-revision", needs: []part{longTerm, memories, edits}, run: concurrentEdits},
		{name: "concurrent/batches-are-whole", needs: []part{batches, memories, changes}, run: concurrentBatches},
		{name: "concurrent/turns", needs: []part{turns}, run: concurrentTurns},
		{name: "concurrent/states", needs: []part{states}, run: concurrentStates},
		{name: "concurrent/loops", needs: []part{loops}, run: concurrentLoops},
		{name: "concurrent/ingesters-of-one-journal", needs: []part{ingest, sessions, turns}, run: concurrentIngesters},
		{name: "concurrent/tasks", needs: []part{control}, run: concurrentTasks},
		{name: "concurrent/events", needs: []part{control}, run: concurrentEvents},
		{name: "concurrent/claims-hand-out-each-entry-once", needs: []part{control}, run: concurrentClaims},
		{name: "concurrent/readers-and-writers", needs: []part{longTerm, memories, changes}, run: concurrentReaders},
	}
}

func concurrentDistinct(w *world) {
	const each = 10
	together(workers, func(i int) {
		for n := range each {
			ack := w.write(amber.WriteRequest{Content: fmt.Sprintf("worker %d fact %d", i, n)})
			equal(w.get(ack.ID), ack.Memory, "memory read back at once")
		}
	})
	all := w.everything()
	equal(len(all), workers*each, "number of memories")
	stamps := map[amber.Stamp]bool{}
	for _, m := range all {
		hold(!stamps[m.Origin.Clock], "two memories have the stamp %s", m.Origin.Clock)
		stamps[m.Origin.Clock] = true
	}
}

func concurrentEqual(w *world) {
	const distinct = 5
	var mu sync.Mutex
	stored := map[string]int{}
	together(workers, func(int) {
		for n := range distinct {
			ack := w.write(amber.WriteRequest{Content: fmt.Sprint("shared fact ", n)})
			if !ack.Deduplicated {
				mu.Lock()
				stored[ack.Content]++
				mu.Unlock()
			}
		}
	})
	all := w.everything()
	equal(len(all), distinct, "number of memories")
	for _, m := range all {
		equal(stored[m.Content], 1, "writes that stored %q", m.Content)
		equal(m.DuplicateCount, workers-1, "duplicates counted of %q", m.Content)
	}
}

func concurrentTopic(w *world) {
	const each = 4
	together(workers, func(i int) {
		for n := range each {
			w.write(amber.WriteRequest{Topic: "t", Content: fmt.Sprintf("worker %d says %d", i, n)})
		}
	})
	all := w.everything()
	equal(len(all), 1, "number of memories")
	revs := w.history(all[0].ID)
	equal(len(revs), workers*each, "number of revisions")
	said := map[string]bool{}
	for i, m := range revs {
		equal([]any{m.Revision, m.Origin.Counter}, []any{i + 1, i + 1}, "revision and counter")
		hold(!said[m.Content], "content %q is in two revisions", m.Content)
		said[m.Content] = true
	}
}

func concurrentKey(w *world) {
	acks := make([]amber.WriteAck, workers)
	together(workers, func(i int) {
		acks[i] = w.write(amber.WriteRequest{Content: "told once", IdempotencyKey: "k"})
	})
	for _, ack := range acks {
		equal(ack, acks[0], "answer to one key")
	}
	equal(w.get(acks[0].ID).DuplicateCount, 0, "duplicates counted")
}

// winners runs rounds in which every worker tries the same compare-and-swap
// and checks that exactly one of them wins each.
func winners(rounds int, try func(round, worker int) error) {
	for round := range rounds {
		var mu sync.Mutex
		won := 0
		together(workers, func(i int) {
			if err := try(round, i); err != nil {
				refused(err, amber.KindConflict, "round %d: a save that lost", round)
				return
			}
			mu.Lock()
			won++
			mu.Unlock()
		})
		equal(won, 1, "saves that won round %d", round)
	}
}

func concurrentEdits(w *world) {
	id := w.fact("start")
	winners(5, func(round, i int) error {
		return only(w.Editor.Edit(w.ctx, amber.EditRequest{ID: id, IfRevision: int64(round + 1), Content: new(fmt.Sprintf("round %d by %d", round, i))}))
	})
	equal(len(w.history(id)), 6, "number of revisions")
}

func concurrentBatches(w *world) {
	together(workers, func(i int) {
		rs := batchOf(10)
		for j := range rs {
			rs[j].Title = fmt.Sprint("batch of ", i)
		}
		must(w.Batch.WriteBatch(w.ctx, rs))
	})
	equal(len(w.everything()), workers*10, "number of memories")
	titles := map[string]string{}
	for _, m := range w.everything() {
		titles[string(m.ID)] = m.Title
	}
	log := entries(w.ctx, w.Changes, "")
	equal(len(log), workers*10, "number of entries")
	for i, c := range log {
		equal(titles[c.Key], titles[log[i-i%10].Key], "batch of entry %d, whose transaction is not alone in its place of the log", i)
	}
}

func concurrentTurns(w *world) {
	const each = 5
	together(workers, func(i int) {
		for n := range each {
			w.say("shared", fmt.Sprintf("%d %d", i, n))
			same := amber.Turn{ID: amber.TurnID(fmt.Sprint("same ", n)), SessionID: "same", Role: amber.RoleUser, Content: fmt.Sprint("by ", i)}
			must(w.Turns.AppendTurn(w.ctx, same))
		}
	})
	equal(len(w.said("same")), each, "turns with ids that all workers used")
	next := map[int]int{}
	for _, s := range w.said("shared") {
		var i, n int
		must(fmt.Sscanf(s, "%d %d", &i, &n))
		equal(n, next[i], "turn of worker %d", i)
		next[i]++
	}
	equal(len(w.said("shared")), workers*each, "turns of all workers")
}

func concurrentStates(w *world) {
	winners(5, func(round, i int) error {
		return only(w.States.SaveState(w.ctx, "s", fmt.Appendf(nil, `{"round":%d,"by":%d}`, round, i), int64(round)))
	})
	equal(must(w.States.LoadState(w.ctx, "s")).Version, 5, "version")
}

func concurrentLoops(w *world) {
	winners(5, func(round, i int) error {
		return only(w.Loops.SaveLoop(w.ctx, amber.LoopSave{SessionID: "s", RunID: "r", State: fmt.Appendf(nil, `%d`, i), IfRevision: int64(round)}))
	})
	equal(must(w.Loops.LoadLoop(w.ctx, "s")).Revision, 5, "revision")
}

// concurrentIngesters lets every worker drain the same journal. One wins each
// stretch, and what it holds is applied once.
func concurrentIngesters(w *world) {
	const rounds = 5
	winners(rounds, func(round, i int) error {
		s := w.saying("s", amber.EventRef{}, fmt.Sprintf("round %d by %d", round, i))
		s.Activity = []amber.Activity{{SessionID: "s", Kind: amber.ActivityTool, Name: "Bash"}}
		return only(w.Ingest.Ingest(w.ctx, ingestion("s", int64(round), int64(round+1), s)))
	})
	equal(w.cursor("s").Seq, rounds, "cursor")
	equal(len(w.said("s")), rounds, "number of turns")
	equal(w.did("s", "")[0].Count, rounds, "times the tool was used")
}

func concurrentTasks(w *world) {
	winners(5, func(round, i int) error {
		return only(w.Tasks.SaveTask(w.ctx, amber.Task{ID: "t", Goal: fmt.Sprint("by ", i)}, int64(round)))
	})
	equal(must(w.Tasks.Task(w.ctx, "t")).Version, 5, "version")
}

func concurrentEvents(w *world) {
	const each = 5
	together(workers, func(i int) {
		for range each {
			w.event(amber.TaskEvent{TaskID: "t", From: amber.TaskQueued, Reason: fmt.Sprint(i)})
		}
	})
	for i, e := range must(amber.All(w.ctx, w.Events.ListEvents, "t")) {
		equal(e.Seq, i+1, "sequence")
	}
	equal(len(must(amber.All(w.ctx, w.Events.ListEvents, "t"))), workers*each, "number of events")
}

func concurrentClaims(w *world) {
	const total = 40
	for i := range total {
		w.publish(amber.Envelope{EntryID: fmt.Sprint("e", i), TaskID: "t", NodeID: "n"})
	}
	var mu sync.Mutex
	given := map[string]int{}
	fences := map[int64]bool{}
	together(workers, func(i int) {
		for {
			c, err := w.Queue.Claim(w.ctx, fmt.Sprint("c", i))
			if errors.Is(err, amber.ErrQueueEmpty) {
				return
			}
			must0(err)
			mu.Lock()
			given[c.Envelope.EntryID]++
			repeated := fences[c.Lease.Fence]
			fences[c.Lease.Fence] = true
			mu.Unlock()
			hold(!repeated, "fence %d was given out twice", c.Lease.Fence)
			must0(w.Queue.Ack(w.ctx, c.Lease))
		}
	})
	equal(len(given), total, "entries handed out")
	for id, n := range given {
		equal(n, 1, "times entry %s was handed out", id)
	}
}

func concurrentReaders(w *world) {
	w.fact("reading material")
	together(workers, func(i int) {
		for n := range 6 {
			if i%2 == 0 {
				w.write(amber.WriteRequest{Content: fmt.Sprintf("reading material %d %d", i, n)})
				continue
			}
			hold(len(w.found("material")) > 0, "a reader finds nothing")
			all := w.everything()
			seen := map[amber.MemoryID]bool{}
			for _, m := range all {
				hold(!seen[m.ID], "memory %s is listed twice", m.ID)
				seen[m.ID] = true
			}
			log := entries(w.ctx, w.Changes, "")
			hold(len(log) >= len(all), "the list has %d memories, the log only %d entries", len(all), len(log))
		}
	})
	equal(len(w.everything()), 1+workers/2*6, "number of memories")
}
