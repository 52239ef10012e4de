package storetest

import (
	"fmt"

	"github.com/amber-memory/amber"
)

func eventChecks() []check {
	needs := []part{control}
	return []check{
		{name: "event/append-assigns-sequence-and-time", needs: needs, run: eventAppended},
		{name: "event/refuses-invalid", needs: needs, run: eventRefusesInvalid},
		{name: "event/compaction-keeps-the-last", needs: needs, run: eventsCompacted},
		{name: "event/compaction-keeps-the-replay", needs: needs, run: eventsReplayAfterCompaction},
		{name: "event/replay-verdicts", needs: needs, run: replayVerdicts},
		{name: "event/replay-unknown-task", needs: needs, run: replayUnknown},
	}
}

// event appends an event.
func (w *world) event(e amber.TaskEvent) amber.TaskEvent {
	return must(w.Events.AppendEvent(w.ctx, e))
}

func (w *world) replay(task string) amber.ReplayReport { return must(w.Events.Replay(w.ctx, task)) }

func eventAppended(w *world) {
	equal(len(must(amber.All(w.ctx, w.Events.ListEvents, "t"))), 0, "events of an unknown task")
	var want []amber.TaskEvent
	for i := range 3 {
		w.tick()
		e := amber.TaskEvent{
			TaskID: "t", Seq: 99, At: amber.UnixMilli(5), From: amber.TaskQueued, To: amber.TaskExecuting, Kind: amber.EventNodeCompleted,
			Reason: "done\x1b", ErrorClass: amber.ErrorTimeout, NodeID: fmt.Sprint("n", i), NodeKind: "tool", Attempt: 2, ApprovalID: "a", Result: "r",
		}
		got := w.event(e)
		e.Seq, e.At = int64(i+1), w.now()
		equal(got, e, "appended event")
		want = append(want, e)
		w.event(amber.TaskEvent{TaskID: "other", From: amber.TaskQueued})
	}
	equal(must(amber.All(w.ctx, w.Events.ListEvents, "t")), want, "events read back")
	other := must(amber.All(w.ctx, w.Events.ListEvents, "other"))
	equal([]any{other[2].Seq, other[2].Kind, other[2].To}, []any{3, amber.EventStateTransition, amber.TaskQueued}, "defaults of an event")
	weird := w.event(amber.TaskEvent{TaskID: "t", From: amber.TaskSucceeded, To: amber.TaskQueued})
	equal(weird.Seq, 4, "sequence of a transition that the table does not have")
}

func eventRefusesInvalid(w *world) {
	for name, e := range map[string]amber.TaskEvent{
		"no task":                {From: amber.TaskQueued},
		"no state":               {TaskID: "t"},
		"an unknown state":       {TaskID: "t", From: amber.TaskQueued, To: "dreaming"},
		"an unknown kind":        {TaskID: "t", From: amber.TaskQueued, Kind: "gossip"},
		"an unknown error class": {TaskID: "t", From: amber.TaskQueued, ErrorClass: "bad luck"},
		"a negative attempt":     {TaskID: "t", From: amber.TaskQueued, Attempt: -1},
		"no node":                {TaskID: "t", From: amber.TaskQueued, Kind: amber.EventNodeCompleted},
	} {
		refused(only(w.Events.AppendEvent(w.ctx, e)), amber.KindInvalid, "event with %s", name)
	}
	equal(len(must(amber.All(w.ctx, w.Events.ListEvents, "t"))), 0, "events stored by refused calls")
	equal(w.event(amber.TaskEvent{TaskID: "t", From: amber.TaskQueued}).Seq, 1, "sequence after refused events")
}

// career appends a history that hangs together and leads a task along it.
func (w *world) career(id string) {
	t := w.task(id)
	step := func(to amber.TaskState, e amber.TaskEvent) {
		e.TaskID, e.From, e.To = id, t.State, to
		w.event(e)
		t.State = to
		switch e.Kind {
		case amber.EventNodeCompleted:
			t.CompletedNodes = append(t.CompletedNodes, e.NodeID)
		case amber.EventApprovalPending:
			t.PendingApprovalID = e.ApprovalID
		case amber.EventApprovalApproved:
			t.PendingApprovalID = ""
		}
		t = w.saveTask(t, t.Version)
		w.tick()
	}
	step(amber.TaskPlanning, amber.TaskEvent{})
	step(amber.TaskExecuting, amber.TaskEvent{NodeID: "n1"})
	step(amber.TaskExecuting, amber.TaskEvent{Kind: amber.EventNodeCompleted, NodeID: "n1", Result: "first"})
	step(amber.TaskWaitingApproval, amber.TaskEvent{Kind: amber.EventApprovalPending, ApprovalID: "ap"})
	step(amber.TaskExecuting, amber.TaskEvent{Kind: amber.EventApprovalApproved, ApprovalID: "ap"})
	step(amber.TaskExecuting, amber.TaskEvent{Kind: amber.EventNodeCompleted, NodeID: "n2", Result: "second"})
	step(amber.TaskExecuting, amber.TaskEvent{NodeID: "n3"})
}

func eventsCompacted(w *world) {
	w.career("t")
	all := must(amber.All(w.ctx, w.Events.ListEvents, "t"))
	for _, keep := range []int{len(all) + 5, len(all), 4, 4, 2, 0} {
		want := amber.EmptyReplay("t").FoldAll(all[:max(0, len(all)-keep)])
		equal(must(w.Events.CompactEvents(w.ctx, "t", keep)), want, "snapshot after keeping %d", keep)
		equal(must(amber.All(w.ctx, w.Events.ListEvents, "t")), all[max(0, len(all)-keep):], "events after keeping %d", keep)
	}
	equal(w.event(amber.TaskEvent{TaskID: "t", From: amber.TaskExecuting}).Seq, len(all)+1, "sequence after compacting everything")
	refused(only(w.Events.CompactEvents(w.ctx, "t", -1)), amber.KindInvalid, "compaction that keeps a negative number")
	refused(only(w.Events.CompactEvents(w.ctx, "unknown", 1)), amber.KindNotFound, "compaction of a task without events")
}

func eventsReplayAfterCompaction(w *world) {
	w.career("t")
	want := w.replay("t")
	equal(want.ConsistencyStatus, amber.ReplayConsistent, "verdict on a history that hangs together")
	equal([]any{want.EventCount, want.ReplayedState, want.Replay.CompletedNodes, want.Replay.LastResult, want.ResumeCandidates},
		[]any{7, amber.TaskExecuting, []string{"n1", "n2"}, "second", []string{"n3"}}, "replay")
	all := must(amber.All(w.ctx, w.Events.ListEvents, "t"))
	for keep := len(all); keep >= 0; keep-- {
		must(w.Events.CompactEvents(w.ctx, "t", keep))
		got := w.replay("t")
		want.Events = all[len(all)-keep:]
		equal(got, want, "report after keeping %d events", keep)
	}
}

func replayVerdicts(w *world) {
	event := func(task string, from, to amber.TaskState) {
		w.event(amber.TaskEvent{TaskID: task, From: from, To: to})
	}
	verdict := func(task string, want amber.ReplayConsistency) {
		for _, keep := range []int{5, 1, 0} {
			got := w.replay(task)
			equal(got.ConsistencyStatus, want, "verdict on task %s", task)
			equal(got.PersistedState, must(w.Tasks.Task(w.ctx, task)).State, "stored state of task %s", task)
			if got.EventCount > 0 {
				must(w.Events.CompactEvents(w.ctx, task, keep))
			}
		}
	}
	w.task("fresh")
	verdict("fresh", amber.ReplayConsistent)

	w.taskIn("good", amber.TaskExecuting, pathTo())
	event("good", amber.TaskQueued, amber.TaskExecuting)
	verdict("good", amber.ReplayConsistent)

	w.task("leap")
	event("leap", amber.TaskQueued, amber.TaskSucceeded)
	event("leap", amber.TaskSucceeded, amber.TaskQueued)
	verdict("leap", amber.ReplayInvalidTransitions)

	w.taskIn("gap", amber.TaskExecuting, pathTo())
	event("gap", amber.TaskQueued, amber.TaskPlanning)
	event("gap", amber.TaskDelegating, amber.TaskExecuting)
	verdict("gap", amber.ReplayBrokenChain)

	w.task("behind")
	event("behind", amber.TaskQueued, amber.TaskPlanning)
	verdict("behind", amber.ReplaySnapshotMismatch)
}

func replayUnknown(w *world) {
	refused(only(w.Events.Replay(w.ctx, "unknown")), amber.KindNotFound, "replay of an unknown task")
	w.event(amber.TaskEvent{TaskID: "t", From: amber.TaskQueued})
	refused(only(w.Events.Replay(w.ctx, "t")), amber.KindNotFound, "replay of events without a task")
}
