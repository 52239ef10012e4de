package storetest

import (
	"github.com/amber-memory/amber"
)

func controlLogChecks() []check {
	needs := []part{control, controlLog}
	return []check{
		{name: "control/log-of-every-mutation", needs: needs, run: controlLogged},
		{name: "control/log-of-refused-calls", needs: needs, run: controlRefusals},
		{name: "control/log-is-apart", needs: append(needs, changes, longTerm), run: controlLogApart},
	}
}

func controlLogged(w *world) {
	var task amber.Task
	var lease amber.Lease
	steps := []struct {
		name string
		op   amber.Op
		key  string
		do   func()
	}{
		{"new task", amber.OpInsert, "task/t", func() { task = w.task("t") }},
		{"saved task", amber.OpUpdate, "task/t", func() { w.saveTask(task, task.Version) }},
		{"event", amber.OpInsert, "event/t/1", func() { w.event(amber.TaskEvent{TaskID: "t", From: amber.TaskQueued}) }},
		{"second event", amber.OpInsert, "event/t/2", func() { w.event(amber.TaskEvent{TaskID: "t", From: amber.TaskQueued}) }},
		{"compaction", amber.OpUpdate, "event/t/1", func() { must(w.Events.CompactEvents(w.ctx, "t", 1)) }},
		{"approval", amber.OpInsert, "approval/a", func() { w.request(approvalRequest("a")) }},
		{"decision", amber.OpUpdate, "approval/a", func() {
			must(w.Approvals.DecideApproval(w.ctx, amber.ApprovalDecision{ID: "a", Outcome: amber.ApprovalApproved, Actor: "ada"}))
		}},
		{"result", amber.OpInsert, "result/t/n", func() { w.save(resultOf("n", 0, "x")) }},
		{"publish", amber.OpInsert, "queue/e", func() { w.entry("e") }},
		{"claim", amber.OpUpdate, "queue/e", func() { lease = w.claim("c").Lease }},
		{"renew", amber.OpUpdate, "queue/e", func() { w.tick(); lease = must(w.QueueKeeper.Renew(w.ctx, lease)) }},
		{"nack", amber.OpUpdate, "queue/e", func() { must0(w.Queue.Nack(w.ctx, amber.Nack{Lease: lease, Reason: "r", NotBefore: w.now()})) }},
		{"second claim", amber.OpUpdate, "queue/e", func() { lease = w.claim("c").Lease }},
		{"ack", amber.OpUpdate, "queue/e", func() { must0(w.Queue.Ack(w.ctx, lease)) }},
	}
	for _, s := range steps {
		equal(onlyEntry(s.name, w.controlled(s.do)), amber.Change{At: w.now(), Op: s.op, Scope: amber.ChangeControl, Key: s.key}, "entry of %s", s.name)
	}
	equal(w.controlled(func() {
		must0(w.Queue.Ack(w.ctx, lease))
		w.entry("e")
		w.request(approvalRequest("a"))
		must(w.Events.CompactEvents(w.ctx, "t", 1))
	}), nil, "entries of calls that change nothing")
}

func controlRefusals(w *world) {
	w.task("t")
	equal(w.controlled(func() {
		refused(only(w.Tasks.SaveTask(w.ctx, amber.Task{ID: "t", Goal: "g"}, 9)), amber.KindConflict, "save over a wrong version")
		refused(only(w.Results.SaveResult(w.ctx, resultOf("n", 9, "x"))), amber.KindConflict, "result under a fence from nowhere")
		w.nothingDue("in an empty queue")
		w.lost(amber.Lease{EntryID: "e", ConsumerID: "c", Token: "x"}, "a lease of no entry")
	}), nil, "entries of refused calls")
}

func controlLogApart(w *world) {
	w.fact("a memory")
	equal(entries(w.ctx, w.ControlChanges, ""), nil, "control log after a write of a memory")
	equal(w.changed(func() { w.task("t") }), nil, "change log after a new task")
	refused(only(w.ControlChanges.Changes(w.ctx, amber.PositionAt("another-history", 1), 10)), amber.KindConflict, "position of another history")
	refused(only(w.ControlChanges.Changes(w.ctx, "garbage", 10)), amber.KindInvalid, "garbage position")
}
