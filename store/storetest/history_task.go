package storetest

import (
	"fmt"

	"github.com/amber-memory/amber"
)

func taskOperations() []operation {
	needs := []part{control}
	return []operation{
		{name: "save task", weight: 8, needs: needs, run: (*history).saveTask},
		{name: "list tasks", weight: 2, needs: needs, run: (*history).listTasks},
		{name: "append event", weight: 8, needs: needs, run: (*history).appendEvent},
		{name: "compact events", weight: 2, needs: needs, run: (*history).compactEvents},
		{name: "replay", weight: 3, needs: needs, run: (*history).replay},
		{name: "request approval", weight: 6, needs: needs, run: (*history).requestApproval},
		{name: "decide approval", weight: 7, needs: needs, run: (*history).decideApproval},
		{name: "list approvals", weight: 1, needs: needs, run: (*history).listApprovals},
		{name: "save result", weight: 5, needs: needs, run: (*history).saveResult},
	}
}

func (h *history) someTask() string { return oneOf(h, h.tasks...) }

// nextState returns a state, most often one the table leads to.
func (h *history) nextState(from amber.TaskState) amber.TaskState {
	if h.chance(0.2) {
		return oneOf(h, amber.TaskStates()...)
	}
	var next []amber.TaskState
	for _, s := range amber.TaskStates() {
		if s == from || from.CanBecome(s) {
			next = append(next, s)
		}
	}
	if len(next) == 0 {
		return amber.TaskQueued
	}
	return oneOf(h, next...)
}

func (h *history) saveTask() {
	id := h.someTask()
	t, err := h.model.Tasks.Task(h.model.ctx, id)
	if err != nil {
		t = amber.Task{ID: id, Goal: "win", SessionID: h.someSession()}
	}
	t.State = h.nextState(t.State)
	t.Attempts = h.rng.IntN(3)
	if h.chance(0.3) {
		t.CompletedNodes = append(t.CompletedNodes, oneOf(h, "n0", "n1"))
	}
	t.PendingApprovalID = oneOf(h, "", "", "approval-0")
	version := t.Version + oneOf[int64](h, 0, 0, 0, 0, -1, 1)
	h.note("%s %s over %d", id, t.State, version)
	compare(h, "saved task", func(w *world) (amber.Task, error) { return w.Tasks.SaveTask(w.ctx, t, version) })
	compare(h, "task", func(w *world) (amber.Task, error) { return w.Tasks.Task(w.ctx, id) })
}

func (h *history) listTasks() {
	q := amber.TaskQuery{State: oneOf(h, "", amber.TaskQueued, amber.TaskExecuting), SessionID: oneOf(h, "", h.sessions[0]), Limit: oneOf(h, 0, 1, 2)}
	h.note("%s", text(tree(q)))
	compare(h, "tasks", func(w *world) ([]amber.Task, error) {
		return pages(func(c amber.Cursor) (amber.Page[amber.Task], error) {
			q := q
			q.Cursor = c
			return w.Tasks.ListTasks(w.ctx, q)
		}), nil
	})
}

func (h *history) appendEvent() {
	e := amber.TaskEvent{
		TaskID: h.someTask(), From: oneOf(h, amber.TaskStates()...), Reason: oneOf(h, "", "because"), NodeID: oneOf(h, "", "n0", "n1"),
		Kind:       oneOf(h, "", amber.EventNodeCompleted, amber.EventApprovalPending, amber.EventApprovalApproved),
		ApprovalID: oneOf(h, "", "approval-0"), Result: oneOf(h, "", "fine"),
	}
	if t, err := h.model.Tasks.Task(h.model.ctx, e.TaskID); err == nil && h.chance(0.8) {
		e.From = t.State
	}
	e.To = h.nextState(e.From)
	h.note("%s", text(tree(e)))
	compare(h, "event", func(w *world) (amber.TaskEvent, error) { return w.Events.AppendEvent(w.ctx, e) })
}

func (h *history) compactEvents() {
	id, keep := h.someTask(), h.rng.IntN(5)-h.rng.IntN(2)
	h.note("%s keeping %d", id, keep)
	before, hadTask := ask(h, func(w *world) (amber.ReplayReport, error) { return w.Events.Replay(w.ctx, id) })
	compare(h, "snapshot", func(w *world) (amber.ReplaySnapshot, error) { return w.Events.CompactEvents(w.ctx, id, keep) })
	compare(h, "events", func(w *world) ([]amber.TaskEvent, error) { return amber.All(w.ctx, w.Events.ListEvents, id) })
	if !hadTask {
		return
	}
	for _, w := range []*world{h.model, h.subject} {
		equal(verdict(w.replay(id)), verdict(before[w]), "replay of %s before and after compaction", w.backend.Name)
	}
}

// verdict is a report without what compaction folds away.
func verdict(r amber.ReplayReport) amber.ReplayReport {
	r.Events = nil
	return r
}

func (h *history) replay() {
	id := h.someTask()
	h.note("%s", id)
	compare(h, "replay", func(w *world) (amber.ReplayReport, error) { return w.Events.Replay(w.ctx, id) })
}

func (h *history) requestApproval() {
	r := amber.ApprovalRequest{ID: fmt.Sprint("approval-", h.rng.IntN(10)), TaskID: h.someTask(), NodeID: "n0", Summary: "may I?", Payload: h.document(), RequestedBy: oneOf(h, "", "asker")}
	if h.chance(0.1) {
		r.ID = ""
	}
	h.note("%s", r.ID)
	got, ok := ask(h, func(w *world) (amber.Approval, error) { return w.Approvals.RequestApproval(w.ctx, r) })
	if ok {
		h.bind(got[h.model].ID, got[h.subject].ID)
		same(h, got, "approval")
	}
}

func (h *history) decideApproval() {
	d := amber.ApprovalDecision{
		ID: fmt.Sprint("approval-", h.rng.IntN(10)), Actor: oneOf(h, "ada", "ada", "bob", ""), Comment: oneOf(h, "", "fine"),
		Outcome: oneOf(h, amber.ApprovalApproved, amber.ApprovalRejected, amber.ApprovalCancelled, amber.ApprovalPending),
		Digest:  oneOf(h, "", amber.ContentDigest(string(h.document()))),
	}
	h.note("%s", text(tree(d)))
	compare(h, "decided approval", func(w *world) (amber.Approval, error) { return w.Approvals.DecideApproval(w.ctx, d) })
	compare(h, "approval", func(w *world) (amber.Approval, error) { return w.Approvals.Approval(w.ctx, d.ID) })
}

func (h *history) listApprovals() {
	id := oneOf(h, append(h.tasks, "")...)
	h.note("%s", id)
	compare(h, "approvals", func(w *world) ([]amber.Approval, error) { return amber.All(w.ctx, w.Approvals.ListApprovals, id) })
}

func (h *history) saveResult() {
	r := amber.Result{
		TaskID: h.someTask(), NodeID: oneOf(h, "n0", "n1"), Producer: "worker", Status: oneOf(h, amber.ResultOK, amber.ResultError, ""),
		Payload: oneOf(h, "one", "two"), Confidence: oneOf(h, 0, 0.5, 2),
	}
	fence := pair[int64]{h.model: 0, h.subject: 0}
	switch {
	case len(h.leases) > 0 && h.chance(0.7):
		l := h.someLease()
		for w := range fence {
			fence[w] = l[w].Fence
		}
	case h.chance(0.1):
		fence[h.model], fence[h.subject] = 1<<40, 1<<40
	}
	h.note("%s %s under %d", r.TaskID, r.NodeID, fence[h.model])
	compare(h, "saved result", func(w *world) (amber.Result, error) {
		r := r
		r.Fence = fence[w]
		return w.Results.SaveResult(w.ctx, r)
	})
	compare(h, "results", func(w *world) ([]amber.Result, error) { return amber.All(w.ctx, w.Results.ListResults, r.TaskID) })
}
