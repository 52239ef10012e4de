package storetest

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/amber-memory/amber"
)

// pageChecks are about what a page of large records has.
func pageChecks() []check {
	reader := []part{longTerm, memories}
	return []check{
		{name: "page/memories-end-at-bytes", needs: reader, run: pagesOfMemories},
		{name: "page/history-ends-at-bytes", needs: append(reader, edits), run: pagesOfHistory},
		{name: "page/timeline-ends-at-bytes", needs: reader, run: timelineOfLargeMemories},
		{name: "page/recall-ends-at-bytes", needs: reader, run: recallOfLargeMemories},
		{name: "page/turns-end-at-bytes", needs: []part{turns}, run: pagesOfTurns},
		{name: "page/compactions-end-at-bytes", needs: []part{compactions}, run: pagesOfCompactions},
		{name: "page/results-end-at-bytes", needs: []part{control}, run: pagesOfResults},
		{name: "page/approvals-end-at-bytes", needs: []part{control}, run: pagesOfApprovals},
		{name: "page/dead-entries-end-at-bytes", needs: []part{control}, run: pagesOfDeadEntries, queue: amber.QueueOptions{MaxAttempts: 1}},
		{name: "page/replay-ends-at-bytes", needs: []part{control}, run: replayOfLargeEvents},
		{name: "page/tasks-and-events-follow-cursors", needs: []part{control}, run: pagesOfTasks},
	}
}

const (
	largeBytes = 400 << 10 // of one record
	largeCount = 5         // of them are more than a page
)

// large is the text of a large record.
func large(i int) string {
	return fmt.Sprintf("large%d %s", i, strings.Repeat("text ", largeBytes/5))
}

// small holds that a listing of large records comes in pages that end at their bytes, with
// every record once.
func small[T any](what string, text func(T) int, read func(p amber.Paging) (amber.Page[T], error)) {
	all, pages := 0, 0
	for p := (amber.Paging{Limit: amber.MaxPageSize}); ; {
		page := must(read(p))
		bytes := 0
		for _, item := range page.Items {
			bytes += text(item)
		}
		hold(len(page.Items) > 0, "page %d of %s is empty", pages, what)
		hold(bytes < amber.MaxPageBytes+2*largeBytes, "page %d of %s has %d bytes, want about %d", pages, what, bytes, amber.MaxPageBytes)
		all, pages = all+len(page.Items), pages+1
		if p.Cursor = page.Next; p.Cursor == "" {
			break
		}
	}
	equal(all, largeCount, "number of %s", what)
	hold(pages > 1, "all %s are on one page", what)
}

func contentOf(m amber.Memory) int { return len(m.Content) }

func pagesOfMemories(w *world) {
	for i := range largeCount {
		w.write(amber.WriteRequest{Content: large(i), Kind: amber.UserPreference})
	}
	for what, q := range map[string]amber.ListQuery{"memories": {}, "memories of a kind": {Filter: amber.Filter{Kinds: []amber.MemoryKind{amber.UserPreference}}}} {
		small(what, contentOf, func(p amber.Paging) (amber.Page[amber.Memory], error) {
			q.Limit, q.Cursor = p.Limit, p.Cursor
			return w.Memories.List(w.ctx, q)
		})
	}
}

func pagesOfHistory(w *world) {
	id := w.fact(large(0))
	for i := 1; i < largeCount; i++ {
		text := large(i)
		must(w.Editor.Edit(w.ctx, amber.EditRequest{ID: id, Content: &text}))
	}
	small("revisions", contentOf, func(p amber.Paging) (amber.Page[amber.Memory], error) { return w.Memories.History(w.ctx, id, p) })
	for i, m := range w.history(id) {
		equal(m.Content, large(i), "revision %d", i+1)
	}
	one := must(w.Memories.History(w.ctx, id, amber.Paging{Limit: 1}))
	equal([]any{len(one.Items), one.Items[0].Revision}, []any{1, int64(1)}, "a page of one revision")
	refused(only(w.Memories.History(w.ctx, id, amber.Paging{Cursor: "none"})), amber.KindInvalid, "a cursor of nothing")
	refused(only(w.Memories.History(w.ctx, id, amber.Paging{Limit: -1})), amber.KindInvalid, "a negative limit")
}

func timelineOfLargeMemories(w *world) {
	var ids []amber.MemoryID
	for i := range 2*largeCount + 1 {
		ids = append(ids, w.fact(large(i)))
		w.tick()
	}
	line := must(w.Memories.Timeline(w.ctx, ids[largeCount], amber.MaxPageSize, amber.MaxPageSize))
	got := memoryIDs(line)
	hold(len(got) >= 3 && len(got) < len(ids), "a timeline of %d large memories has %d", len(ids), len(got))
	first := (len(ids) - len(got)) / 2
	equal(got, ids[first:first+len(got)], "what is next to the memory")
}

func recallOfLargeMemories(w *world) {
	for i := range largeCount {
		w.fact(large(i))
	}
	result := must(w.LongTerm.Recall(w.ctx, amber.Query{Limit: amber.MaxTopK}))
	bytes := 0
	for _, h := range result.Hits {
		bytes += len(h.Content)
	}
	hold(len(result.Hits) > 0 && bytes < amber.MaxPageBytes+2*largeBytes, "%d hits have %d bytes", len(result.Hits), bytes)
	equal(result.Clamped, []amber.Clamp{{Key: "limit", Requested: amber.MaxTopK, Effective: int64(len(result.Hits))}}, "what is said of the others")
}

func pagesOfTurns(w *world) {
	for i := range largeCount {
		must(w.Turns.AppendTurn(w.ctx, amber.Turn{SessionID: "s", Role: amber.RoleUser, Content: large(i)}))
	}
	for _, oldest := range []bool{false, true} {
		small("turns", func(t amber.ListedTurn) int { return len(t.Content) }, func(p amber.Paging) (amber.Page[amber.ListedTurn], error) {
			return w.Turns.ListTurns(w.ctx, amber.TurnQuery{SessionID: "s", Oldest: oldest, Limit: p.Limit, Cursor: p.Cursor})
		})
	}
	last := must(amber.LastTurns(w.ctx, w.Turns, "s", 4))
	equal([]any{len(last), last[0].Content, last[3].Content}, []any{4, large(1), large(4)}, "the last turns")
}

func pagesOfCompactions(w *world) {
	for i := range largeCount {
		must(w.Compactions.AddCompaction(w.ctx, amber.Compaction{SessionID: "s", Summary: large(i), Turns: 1}))
	}
	small("compactions", func(c amber.Compaction) int { return len(c.Summary) }, func(p amber.Paging) (amber.Page[amber.Compaction], error) {
		return w.Compactions.Compactions(w.ctx, "s", p)
	})
}

func pagesOfResults(w *world) {
	for i := range largeCount {
		must(w.Results.SaveResult(w.ctx, amber.Result{TaskID: "t", NodeID: fmt.Sprint("n", i), Producer: "p", Status: amber.ResultOK, Payload: large(i)}))
	}
	small("results", func(r amber.Result) int { return len(r.Payload) }, func(p amber.Paging) (amber.Page[amber.Result], error) {
		return w.Results.ListResults(w.ctx, "t", p)
	})
}

func pagesOfApprovals(w *world) {
	for i := range largeCount {
		payload := must(json.Marshal(large(i)))
		must(w.Approvals.RequestApproval(w.ctx, amber.ApprovalRequest{TaskID: "t", NodeID: fmt.Sprint("n", i), Summary: "s", Payload: payload}))
	}
	for _, task := range []string{"t", ""} {
		small("approvals", func(a amber.Approval) int { return len(a.Payload) }, func(p amber.Paging) (amber.Page[amber.Approval], error) {
			return w.Approvals.ListApprovals(w.ctx, task, p)
		})
	}
}

func pagesOfDeadEntries(w *world) {
	for i := range largeCount {
		w.publish(amber.Envelope{EntryID: fmt.Sprint("e", i), TaskID: "t", NodeID: "n", Payload: large(i)})
		must0(w.Queue.Nack(w.ctx, amber.Nack{Lease: w.claim("c").Lease, Reason: "no"}))
	}
	small("dead entries", func(d amber.DeadEntry) int { return len(d.Envelope.Payload) }, func(p amber.Paging) (amber.Page[amber.DeadEntry], error) {
		return w.QueueKeeper.DeadEntries(w.ctx, p)
	})
}

// replayOfLargeEvents folds all events of a task and lists those that a page holds.
func replayOfLargeEvents(w *world) {
	must(w.Tasks.SaveTask(w.ctx, amber.Task{ID: "t", SessionID: "s", Goal: "g"}, 0))
	for i := range largeCount {
		must(w.Events.AppendEvent(w.ctx, amber.TaskEvent{TaskID: "t", From: amber.TaskQueued, NodeID: fmt.Sprint("n", i), Result: large(i)}))
	}
	r, bytes := must(w.Events.Replay(w.ctx, "t")), 0
	for i, e := range r.Events {
		if bytes >= amber.MaxPageBytes || e.Seq != int64(i+1) {
			fail(fmt.Errorf("replay has event %d behind %d bytes, want it to end at %d", e.Seq, bytes, amber.MaxPageBytes))
		}
		bytes += len(e.Result)
	}
	if len(r.Events) == 0 || r.EventsLeft == 0 || int64(len(r.Events))+r.EventsLeft != largeCount || r.EventCount != largeCount || len(r.ResumeCandidates) != largeCount {
		fail(fmt.Errorf("replay lists %d events and leaves %d, counts %d, and has %d open nodes, want all of %d", len(r.Events), r.EventsLeft, r.EventCount, len(r.ResumeCandidates), largeCount))
	}
}

func pagesOfTasks(w *world) {
	for i := range largeCount {
		must(w.Tasks.SaveTask(w.ctx, amber.Task{ID: fmt.Sprint("t", i), SessionID: "s", Goal: "g", Extra: must(json.Marshal(large(i)))}, 0))
		must(w.Events.AppendEvent(w.ctx, amber.TaskEvent{TaskID: "t", From: amber.TaskQueued, To: amber.TaskExecuting, Reason: fmt.Sprint("step ", i)}))
	}
	small("tasks", func(t amber.Task) int { return len(t.Extra) }, func(p amber.Paging) (amber.Page[amber.Task], error) {
		return w.Tasks.ListTasks(w.ctx, amber.TaskQuery{Limit: p.Limit, Cursor: p.Cursor})
	})
	var seqs []int64
	for p := (amber.Paging{Limit: 2}); ; {
		page := must(w.Events.ListEvents(w.ctx, "t", p))
		for _, e := range page.Items {
			seqs = append(seqs, e.Seq)
		}
		if p.Cursor = page.Next; p.Cursor == "" {
			break
		}
	}
	equal(seqs, []int64{1, 2, 3, 4, 5}, "events by pages of two")
}
